// What an agent does by itself about the jobs of its host.
#pragma once
#include <string>
#include <vector>

#include "agent/jobs/room_for_traces.h"
#include "respond/budget.h"
#include "respond/rules.h"

namespace spotter::agent {

// Whether captures begin by themselves: not at all, not but it is told what would have been, or they do.
enum class AutomaticCaptures : u8 { off, dry_run, automatic };

struct RespondOptions {
  bool is_on = false;  // rules are watched, and incidents made of what they say
  std::string cluster = "local";
  respond::RuleSettings rules = {};  // checked ones
  AutomaticCaptures captures = AutomaticCaptures::off;
  respond::BudgetOptions budget = {};
  i64 least_free = kLeastFree;               // bytes, where traces are written; 0: whatever there is
  std::vector<std::string> not_traced = {};  // users whose jobs are left alone
  std::string report_url = {};               // for links in messages, as of notify::Surroundings; empty: none
  std::string socket = {};                   // of this agent, for its own investigations
  std::string program = "/proc/self/exe";
  // By which it asks agents of other hosts (client/credentials.h), and their port; empty: each host speaks
  // for itself.
  std::string credentials = {};
  u16 port = 1779;
};

}  // namespace spotter::agent
