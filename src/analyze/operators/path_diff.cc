#include "analyze/operators/path_diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "analyze/statistics.h"
#include "base/saturated.h"
#include "base/stable_sort.h"
#include "table/ops.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    {"path", Type::text, Unit::none, Role::key, "The span, and those around it."},
    {"change", Type::text, Unit::none, Role::value,
     "added, removed, more or fewer, by the number of calls in a step; same where that is equal."},
    {"self_change_ns", Type::integer, Unit::ns, Role::value,
     "What its own time, without the paths below, has become longer by: on the device, or on the host where neither job has device work."},
    {"change_ns", Type::integer, Unit::ns, Role::value, "The same of all its time."},
    {"before_ns", Type::integer, Unit::ns, Role::value, "All its time in a step of a rank of the first job."},
    {"after_ns", Type::integer, Unit::ns, Role::value, "That of the second job."},
    {"change_ratio", Type::real, Unit::ratio, Role::detail, "change_ns / before_ns; null where that is 0."},
    {"before_calls", Type::real, Unit::count, Role::detail, "Calls in a step of a rank of the first job."},
    {"after_calls", Type::real, Unit::count, Role::detail, "Those of the second job."},
    {"host_change_ns", Type::integer, Unit::ns, Role::detail,
     "What all its time on the host has become longer by."},
    {"kind", Type::text, Unit::none, Role::detail, "annotation, module, operator or backward."},
};

struct Sums {
  i64 calls = 0;
  Ns host = 0, device = 0, host_self = 0, device_self = 0;
};
struct Sides {
  std::string_view kind;
  std::array<Sums, 2> sums;
};

// Steps of all ranks together.
i64 steps_of(const Table& paths) {
  std::map<std::optional<i64>, i64> by_rank;
  for (size_t row = 0; row < paths.rows(); ++row)
    by_rank[table::optional_integer(paths, row, "rank")] = paths.integer(row, paths.column("steps"));
  i64 steps = 0;
  for (const auto& [rank, number] : by_rank) steps += number;
  return std::max<i64>(1, steps);
}

void add(const Table& paths, size_t side, std::map<std::string_view, Sides>& changes) {
  for (size_t row = 0; row < paths.rows(); ++row) {
    const auto number = [&](std::string_view column) { return paths.integer(row, paths.column(column)); };
    Sides& sides = changes[paths.text(row, paths.column("path"))];
    sides.kind = paths.text(row, paths.column("kind"));
    Sums& sums = sides.sums[side];
    sums.calls += number("calls");
    sums.host = add_saturated(sums.host, number("host_total_ns"));
    sums.device = add_saturated(sums.device, number("device_total_ns"));
    sums.host_self = add_saturated(sums.host_self, number("host_self_ns"));
    sums.device_self = add_saturated(sums.device_self, number("device_self_ns"));
  }
}

// Nothing calls the paths named backward, which are sums.
std::string_view change_of(const Sides& s, double calls_before, double calls_after) {
  const auto is_there = [&](size_t side) { return s.sums[side].calls > 0 || s.sums[side].host > 0; };
  if (!is_there(0)) return "added";
  if (!is_there(1)) return "removed";
  return calls_after > calls_before ? "more" : calls_after < calls_before ? "fewer" : "same";
}

}  // namespace

Table path_diff(const Table& before, const Table& after) {
  std::map<std::string_view, Sides> changes;  // its texts lie in the tables
  add(before, 0, changes);
  add(after, 1, changes);
  const std::array<i64, 2> steps = {steps_of(before), steps_of(after)};
  const bool by_device = std::ranges::any_of(changes, [](const auto& change) {
    return change.second.sums[0].device > 0 || change.second.sums[1].device > 0;
  });
  const auto per_step = [&](const Sides& s, size_t side, Ns Sums::* time) {
    return s.sums[side].*time / steps[side];
  };
  const auto change = [&](const Sides& s, Ns Sums::* time) {
    return per_step(s, 1, time) - per_step(s, 0, time);
  };
  Ns Sums::* const total = by_device ? &Sums::device : &Sums::host;
  Ns Sums::* const self = by_device ? &Sums::device_self : &Sums::host_self;
  std::vector<const std::pair<const std::string_view, Sides>*> order;
  for (const auto& one : changes) order.push_back(&one);
  stable_sort(order, [&](const auto* a, const auto* b) {
    const Ns x = change(a->second, self), y = change(b->second, self);
    return (x < 0 ? -x : x) > (y < 0 ? -y : y);
  });
  Table table("path_diff", kColumns);
  for (const auto* one : order) {
    const auto& [path, s] = *one;
    const auto calls = [&](size_t side) {
      return static_cast<double>(s.sums[side].calls) / static_cast<double>(steps[side]);
    };
    table.append({path, change_of(s, calls(0), calls(1)), change(s, self), change(s, total),
                  per_step(s, 0, total), per_step(s, 1, total),
                  ratio(change(s, total), per_step(s, 0, total)), calls(0), calls(1), change(s, &Sums::host),
                  s.kind});
  }
  return table;
}

bool is_unchanged_path(const Table& diff, size_t row) {
  constexpr double kShown = 0.0005;
  const auto number = [&](std::string_view column) { return diff.integer(row, diff.column(column)); };
  const auto is_small = [&](i64 change) {
    return std::abs(static_cast<double>(change)) <= kShown * static_cast<double>(number("before_ns"));
  };
  return diff.text(row, diff.column("change")) == "same" && is_small(number("change_ns")) &&
         is_small(number("self_change_ns"));
}

}  // namespace spotter::analyze
