// Report: what a host tells the one that leads a job, and what that one answers.
//
// The host of global rank 0 leads, and all know it without an election (agent/jobs/job_leaders.h): where it
// does not answer, the next in the list is asked, and where none does, each host goes on by itself. Keys and
// numbers of incidents are derived alike everywhere, so what two leaders tell is one thing to who receives
// it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "respond/incidents/incident.h"

namespace spotter::respond {

// A job, as far as it is on one host.
struct JobHere {
  std::string id = {}, user = {};
  std::vector<i64> ranks = {};
  i64 world_size = 0;                // 0: not known
  Ns age = 0;                        // since a step was seen first; 0: none was
  i64 steps = 0;                     // that the rank with the most has made
  Ns step = 0;                       // median; 0: not known
  std::optional<Ns> wrote_ago = {};  // more than 50 MB/s
};

// An incident as its leader has it: who has to go on with it goes on under its number.
struct LedIncident {
  std::string key = {};
  i64 n = 0, sequence = 0;
  bool is_open = false;
  IncidentState state = IncidentState::verdict;
  Ns opened = 0, closed = 0, told = 0;  // by its leader's clock
  Urgency urgency = Urgency::warning;
  // What people have done: whoever goes on with it tells no more than was wanted of its leader.
  std::optional<Ns> silenced = {};  // for how long from now on
  std::optional<Acknowledgement> acknowledged = {};
};

struct Report {
  std::string host = {}, instance = {}, version = {};  // who says it; instance: of this process alone
  Ns sent = 0;                                         // by its clock
  JobHere job = {};
  std::vector<Condition> conditions = {};  // of that job: those that fire, and those that are over
  std::vector<Incident> incidents = {};    // which it has led so far, and hands over
  // To one who stands in: what who led the job had of it.
  std::vector<LedIncident> awaited = {};
};

struct ReportAnswer {
  std::string host = {}, instance = {}, version = {};
  std::vector<LedIncident> incidents = {};  // of the job: the last one of each key
  // Conditions of the report that nothing ends by itself and that somebody says are mended: fingerprint().
  std::vector<u64> mended = {};
};

}  // namespace spotter::respond
