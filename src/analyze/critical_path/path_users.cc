#include "analyze/critical_path/path_users.h"

#include <algorithm>

#include "analyze/list.h"
#include "analyze/top.h"

namespace spotter::analyze {
namespace {

std::unique_ptr<PathUser> user_of(const Wanted& wanted, const Trace& trace, const WhatIf& what_if) {
  if (wanted.analysis == &kCriticalPath) return critical_path_user(trace, what_if);
  if (wanted.analysis == &kCriticalPathNames)
    return critical_path_names_user(trace, (*wanted.params)[kTop.name]);
  CHECK(wanted.analysis == &kStepBudget);
  return step_budget_user(trace);
}

bool has_what_if(const Wanted& wanted) {
  return wanted.analysis != &kStepBudget && !wanted.params->text(kWhatIf.name).empty();
}

}  // namespace

Result<std::vector<Table>> map_path_users(const Trace& trace, std::span<const Wanted> wanted) {
  WhatIf nothing;
  std::vector<std::unique_ptr<PathUser>> users;  // null: has a what-if of its own
  for (const Wanted& one : wanted) users.push_back(has_what_if(one) ? nullptr : user_of(one, trace, nothing));
  const auto is_there = [](const auto& user) { return user != nullptr; };
  if (std::ranges::any_of(users, is_there))
    for_each_critical_path(trace, nothing, [&](const CriticalPath& path) {
      for (const auto& user : users)
        if (user) user->use(path);
    });
  std::vector<Table> tables;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (users[i]) {
      tables.push_back(users[i]->finish(nothing));
    } else {
      TRY_ASSIGN(Table table, wanted[i].analysis->map(trace, *wanted[i].params));
      tables.push_back(std::move(table));
    }
  }
  return tables;
}

}  // namespace spotter::analyze
