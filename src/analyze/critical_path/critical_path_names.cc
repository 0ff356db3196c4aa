#include <algorithm>
#include <map>

#include "analyze/critical_path/path_users.h"
#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"
#include "analyze/top.h"
#include "base/saturated.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"name", Type::text, Unit::none, Role::key,
     "Span or device work; of waiting, where it begins; (none): outside all spans; others: all that are not listed."},
    {"bound_by", Type::text, Unit::none, Role::value,
     "What the time is spent on, as in critical_path; null for others."},
    {"pieces", Type::integer, Unit::count, Role::value, "Pieces of paths."},
    {"dur_ns", Type::integer, Unit::ns, Role::value,
     "Time on the critical paths of all steps; where windows of steps overlap, on that of the first."},
    {"ratio", Type::real, Unit::ratio, Role::value, "Share of the time that the paths take together."},
};

constexpr Param kParams[] = {kTop, kWhatIf};

struct Group {
  StringId name = kNone;  // kNone: others
  BoundBy bound = BoundBy::unknown;
  i64 pieces = 0;
  Ns dur = 0;

  void merge(const Group& o) {
    pieces += o.pieces;
    dur = add_saturated(dur, o.dur);
  }
};

// Of each name, itself or, of the marks of steps ("ProfilerStep#7"), the first of them: they are one.
std::vector<StringId> merged_names(const Trace& trace) {
  const trace::Steps& steps = trace.steps();
  std::vector<StringId> names(trace.strings().size());
  StringId first = 0;
  for (StringId id = 0; id < names.size(); ++id) {
    const std::string_view name = trace.strings()[id];
    const bool is_mark = trace::without_number(steps, name) != name;
    if (is_mark && first == 0) first = id;
    names[id] = is_mark ? first : id;
  }
  return names;
}

// Marks of steps without their number.
std::string_view shown(const Trace& trace, StringId name) {
  if (name == kNone) return "others";
  if (name == 0) return "(none)";
  return trace::without_number(trace.steps(), trace.strings()[name]);
}

class User : public PathUser {
 public:
  User(const Trace& trace, i64 top) : trace_(trace), top_(top), names_(merged_names(trace)) {}

  void use(const CriticalPath& path) override {
    for (const PathPiece& piece : path.pieces) {
      const Ns dur = path.own_part(piece);
      if (dur == 0) continue;
      const StringId name = piece.event == kNone ? 0 : names_[trace_.name[piece.event]];
      Group& group = groups_.try_emplace({name, piece.bound}, Group{name, piece.bound}).first->second;
      ++group.pieces;
      group.dur = add_saturated(group.dur, dur);
    }
  }

  Table finish(WhatIf& what_if) override {
    Table table(kCriticalPathNames.name, std::span(kColumns).subspan(1));
    what_if.note_unknown_name(table);
    note_inferred_launches(trace_, table);
    Ns total = 0;
    for (const auto& [key, group] : groups_) total = add_saturated(total, group.dur);
    for (const Group& group : first_and_others(sorted(), top_)) {
      const Value bound = group.name == kNone ? Value() : Value(std::string_view(bound_name(group.bound)));
      table.append({shown(trace_, group.name), bound, group.pieces, group.dur, ratio(group.dur, total)});
    }
    return table;
  }

 private:
  // Those with the most time first.
  std::vector<Group> sorted() const {
    std::vector<Group> sorted;
    for (const auto& [key, group] : groups_) sorted.push_back(group);
    std::ranges::sort(sorted, [&](const Group& a, const Group& b) {
      if (a.dur != b.dur) return a.dur > b.dur;
      if (a.name != b.name) return trace_.strings()[a.name] < trace_.strings()[b.name];
      return a.bound < b.bound;
    });
    return sorted;
  }

  const Trace& trace_;
  const i64 top_;
  const std::vector<StringId> names_;
  std::map<std::pair<StringId, BoundBy>, Group> groups_;
};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  WhatIf what_if(params.text(kWhatIf.name));
  User user(trace, params[kTop.name]);
  for_each_critical_path(trace, what_if, [&](const CriticalPath& path) { user.use(path); });
  return user.finish(what_if);
}

}  // namespace

std::unique_ptr<PathUser> critical_path_names_user(const Trace& trace, i64 top) {
  return std::make_unique<User>(trace, top);
}

const Analysis kCriticalPathNames = {
    .name = "critical_path_names",
    .summary =
        "What is on the critical paths: the operators, kernels and waits to make shorter first, per rank.",
    .doc =
        "The pieces of the critical paths of all steps, as critical_path defines them, by name and by what their time is spent "
        "on. Where windows of steps overlap, as device work runs on into the next step, time counts once, on the path of the first of them: dur_ns adds up to the sum of length_ns minus that of overlap_ns. Ranks run at the same time: their rows do not add up to a time that passed. A span on the host has the time in which it is the innermost span of its thread; outside operators the innermost annotation "
        "or Python function counts, and the marks of all steps are one. Sorted by dur_ns; what is not among the first `top` is put into a last row named others. With what_if the paths are those that would be.",
    .params = kParams,
    .columns = kColumns,
    .reads = kCriticalPathArgs,
    .map = map_trace,
    .map_together = map_path_users,
};

}  // namespace spotter::analyze
