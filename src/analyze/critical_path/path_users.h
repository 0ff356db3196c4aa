// Path users: analyses of the critical paths of a trace. Finding the paths costs more than what each of them
// makes of them, so that those without a what-if are mapped together, in one pass over the same paths.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "analyze/analysis.h"
#include "analyze/critical_path/path_finder.h"

namespace spotter::analyze {

class PathUser {
 public:
  virtual ~PathUser() = default;
  // Each step's path, as for_each_critical_path(trace, what_if) finds it: all of them, or none at all.
  virtual void use(const CriticalPath& path) = 0;
  virtual Table finish(WhatIf& what_if) = 0;
};

// `trace` outlives them.
std::unique_ptr<PathUser> critical_path_user(const Trace& trace, const WhatIf& what_if);
std::unique_ptr<PathUser> critical_path_names_user(const Trace& trace, i64 top);
std::unique_ptr<PathUser> step_budget_user(const Trace& trace);  // finds the paths that it was not given

// Analysis::map_together of these three.
Result<std::vector<Table>> map_path_users(const Trace& trace, std::span<const Wanted> wanted);

}  // namespace spotter::analyze
