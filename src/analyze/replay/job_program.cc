#include "analyze/replay/job_program.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "analyze/replay/absent_ranks.h"
#include "analyze/replay/apart_ranks.h"
#include "analyze/replay/exchanges.h"
#include "analyze/replay/host_names.h"
#include "analyze/replay/job_calls.h"
#include "analyze/replay/job_clocks.h"
#include "analyze/replay/job_steps.h"
#include "analyze/replay/missed_calls.h"
#include "analyze/replay/recorded_part.h"
#include "analyze/replay/skeleton_table.h"
#include "analyze/replay/unnamed_calls.h"
#include "base/system/file.h"

namespace spotter::analyze {
namespace {

RankProgram read_rank(RankTable& table) {
  RankProgram rank;
  rank.rank = table.rank;
  rank.path = std::move(table.path);
  rank.skeleton = skeleton_of(table.table);
  rank.tells_silences = tells_silences(table.table.notes);
  rank.launchers = table.table.notes.count(kManyLaunchers);
  table.table = Table();
  for (u32 i = 0; i < rank.rows().size(); ++i) {
    const SkeletonRow& row = rank.rows()[i];
    if (row.stream != kNone) rank.streams = std::max(rank.streams, row.stream + 1);
    if (row.op == SkeletonOp::recorded) rank.recorded_until = row.at;
    if (row.op != SkeletonOp::step && row.op != SkeletonOp::end) continue;
    rank.step_rows.push_back(i);
    if (row.op == SkeletonOp::end) {
      rank.device = row.number;
      continue;
    }
    rank.step_numbers.push_back(row.number);
    rank.are_iterations |= row.count > 0;
    rank.are_by_optimizer |= rank.skeleton.strings[row.name] == kByOptimizer;
    rank.host = rank.skeleton.strings[row.group];
  }
  return rank;
}

void number_rows(JobProgram& job) {
  for (RankProgram& rank : job.ranks) {
    rank.first_row = std::exchange(job.rows, job.rows + static_cast<u32>(rank.rows().size()));
    rank.first_step = std::exchange(job.steps, job.steps + rank.steps());
    rank.call.assign(rank.rows().size(), kNone);
  }
}

}  // namespace

JobProgram make_program(std::vector<RankTable> tables) {
  JobProgram job;
  for (RankTable& table : tables) {
    if (table.table.rows() == 0) continue;
    RankProgram rank = read_rank(table);
    job.notes.merge(rank.skeleton.notes, base_name(rank.path));
    job.ranks.push_back(std::move(rank));
  }
  // The tables lay in the heaps of the threads that made them, where nothing that follows is put.
  malloc_trim(0);
  tell_hosts_apart(job);
  leave_out_apart(job);
  number_rows(job);
  align_steps(job);
  match_calls(job);
  set_clocks(job);
  match_unnamed_calls(job);
  match_exchanges(job);
  set_transfers(job);
  set_absent(job);
  set_missed(job);
  return job;
}

}  // namespace spotter::analyze
