// Pauses of one kind by rank, and who stands out by them.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "diagnose/model/job_model.h"

namespace spotter::diagnose {

// How long pauses would last in a job without trouble: their ideal, or what operators cover of them.
using PauseLeft = Ns PauseAt::*;

struct RankPauses {
  u32 rank = 0;
  PauseLeft left = &PauseAt::ideal;
  Ns excess = 0;                            // over that, in all its steps
  std::vector<u32> steps = {};              // in which there is any, ascending
  std::vector<const PauseAt*> pauses = {};  // by time
};

// Of the pauses that `counts` takes: a row for each rank that has any.
std::vector<RankPauses> pauses_by_rank(const JobModel& model,
                                       const std::function<bool(const PauseAt&)>& counts,
                                       PauseLeft left = &PauseAt::ideal);

// The ranks with over 3 times the median of all ranks and 0.3 % of the step more; where none does, all: the
// second is then what the job is like.
std::vector<RankPauses> standing_out(const JobModel& model, std::vector<RankPauses> ranks);

// What covers the most of these pauses' excess by name, what the next, and how long the longest and their
// median are.
struct PauseFacts {
  struct Name {
    std::string name;
    double share = 0;  // of the excess
  };
  Name first, second;
  Ns excess = 0, longest = 0, median = 0, covered = 0, host = 0;
  size_t count = 0;
};
PauseFacts facts_of(const JobModel& model, const std::vector<RankPauses>& ranks);

// In the scenario these pauses last as long as they should.
void end_pauses(const JobModel& model, const std::vector<RankPauses>& ranks, analyze::Scenario& scenario);

std::vector<u32> ranks_of(const std::vector<RankPauses>& ranks);
// The numbers of the steps that have them, where that is under half of all; else empty. Steps with less than
// a tenth of the excess of the one with most are as usual beside it.
std::vector<i64> few_steps(const JobModel& model, const std::vector<RankPauses>& ranks);
// Those of them that are in these steps; all where no steps are named.
std::vector<RankPauses> in_steps(const JobModel& model, std::vector<RankPauses> ranks,
                                 const std::vector<i64>& numbers);

}  // namespace spotter::diagnose
