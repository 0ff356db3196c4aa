#include "analyze/operators/trace_diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyze/kernels/function_name.h"
#include "analyze/statistics.h"
#include "base/saturated.h"
#include "base/stable_sort.h"
#include "table/ops.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    {"rank", Type::integer, Unit::none, Role::key, "Rank; not there where the ranks are added up."},
    {"side", Type::text, Unit::none, Role::key, "host or device."},
    {"kind", Type::text, Unit::none, Role::detail,
     "operator, annotation, python or call on the host; compute, communication or memory on the device."},
    {"name", Type::text, Unit::none, Role::key, "Name of the spans."},
    {"change", Type::text, Unit::none, Role::value,
     "added, removed, more or fewer, by their number; same where that is equal."},
    {"before_count", Type::integer, Unit::count, Role::detail, "Number of them in the first job."},
    {"after_count", Type::integer, Unit::count, Role::detail, "Number of them in the second job."},
    {"count_change", Type::integer, Unit::count, Role::value, "after_count minus before_count."},
    {"before_ns", Type::integer, Unit::ns, Role::value, "Sum of their durations in the first job."},
    {"after_ns", Type::integer, Unit::ns, Role::value, "Sum of their durations in the second job."},
    {"change_ns", Type::integer, Unit::ns, Role::value, "after_ns minus before_ns."},
    {"change_ratio", Type::real, Unit::ratio, Role::detail, "change_ns / before_ns; null where that is 0."},
};

struct Sides {
  i64 count[2] = {0, 0};
  Ns sum[2] = {0, 0};
  void add(size_t side, i64 more, Ns time) {
    count[side] += more;
    sum[side] = add_saturated(sum[side], time);
  }
  Ns change() const { return sum[1] - sum[0]; }  // neither is negative
};
using Key = std::vector<Value>;  // rank, side, kind, name

std::string_view change_of(const Sides& s) {
  if (s.count[0] == 0) return "added";
  if (s.count[1] == 0) return "removed";
  return s.count[1] > s.count[0] ? "more" : s.count[1] < s.count[0] ? "fewer" : "same";
}

constexpr size_t kSide = 1, kName = 3;  // of a key

// `functions` holds the names that are not in a table.
void add(const Table& totals, size_t side, bool by_function, std::set<std::string>& functions,
         std::map<Key, Sides>& changes) {
  const std::vector<std::string_view> keys = {"rank", "side", "kind", "name"};
  for (size_t row = 0; row < totals.rows(); ++row) {
    Key key;
    for (const std::string_view column : keys) key.push_back(totals.at(row, totals.column(column)));
    if (by_function && std::get<std::string_view>(key[kSide]) == "device")
      key[kName] =
          std::string_view(*functions.insert(function_name(std::get<std::string_view>(key[kName]))).first);
    Sides& sides = changes[std::move(key)];
    sides.add(side, totals.integer(row, totals.column("count")),
              totals.integer(row, totals.column("sum_ns")));
  }
}

}  // namespace

Table trace_diff(const Table& before, const Table& after, DiffOptions options) {
  std::map<Key, Sides> changes;  // by rank; its texts lie in the tables and in `functions`
  std::set<std::string> functions;
  add(before, 0, options.by_function, functions, changes);
  add(after, 1, options.by_function, functions, changes);
  if (!options.by_rank) {
    std::map<Key, Sides> summed;
    for (const auto& [key, sides] : changes) {
      Key all = key;
      all[0] = {};
      Sides& sum = summed[std::move(all)];
      for (const size_t side : {0, 1}) {
        sum.add(side, sides.count[side], sides.sum[side]);
      }
    }
    changes = std::move(summed);
  }
  std::vector<const std::pair<const Key, Sides>*> order;
  for (const auto& change : changes) order.push_back(&change);
  const auto size = [](const Sides& s) { return s.change() < 0 ? -s.change() : s.change(); };
  stable_sort(order, [&](const auto* a, const auto* b) { return size(a->second) > size(b->second); });
  Table table("trace_diff", kColumns);
  for (const auto* change : order) {
    const auto& [key, s] = *change;
    table.append({key[0], key[1], key[2], key[3], change_of(s), s.count[0], s.count[1],
                  s.count[1] - s.count[0], s.sum[0], s.sum[1], s.change(), ratio(s.change(), s.sum[0])});
  }
  if (options.by_rank) return table;
  std::vector<std::string_view> columns;
  for (const Field& field : std::span(kColumns).subspan(1)) columns.push_back(field.name);
  return table::project(table, columns);
}

bool is_unchanged(const Table& diff, size_t row) {
  constexpr double kShown = 0.0005;
  if (diff.integer(row, diff.column("count_change")) != 0) return false;
  const Value ratio = diff.at(row, diff.column("change_ratio"));
  if (is_null(ratio)) return diff.integer(row, diff.column("change_ns")) == 0;
  return std::abs(std::get<double>(ratio)) < kShown;
}

}  // namespace spotter::analyze
