#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>

#include "analyze/kernels/kernel_stats.h"
#include "analyze/list.h"
#include "analyze/time/device_time.h"
#include "analyze/top.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    {"kind", Type::text, Unit::none, Role::detail, "compute, communication or memory."},
    {"name", Type::text, Unit::none, Role::key, "Kernel, copy or set."},
    {"ranks", Type::integer, Unit::count, Role::detail, "Number of ranks that ran it."},
    {"count", Type::integer, Unit::count, Role::value, "Number of runs on all ranks."},
    {"mean_ns", Type::real, Unit::ns, Role::value, "Mean duration over all runs of all ranks."},
    {"min_ns", Type::integer, Unit::ns, Role::detail, "Shortest run."},
    {"min_rank", Type::integer, Unit::none, Role::detail, "The first rank that has it."},
    {"max_ns", Type::integer, Unit::ns, Role::detail, "Longest run."},
    {"max_rank", Type::integer, Unit::none, Role::detail, "The first rank that has it."},
    {"fastest_rank", Type::integer, Unit::none, Role::value,
     "Rank with the least mean duration; the first of equals."},
    {"fastest_mean_ns", Type::real, Unit::ns, Role::value, "That rank's mean duration."},
    {"slowest_rank", Type::integer, Unit::none, Role::value,
     "Rank with the largest mean duration; the first of equals."},
    {"slowest_mean_ns", Type::real, Unit::ns, Role::value, "That rank's mean duration."},
};

constexpr Param kParams[] = {kTop};

// One rank's part.
const Field kPartColumns[] = {
    {"kind", Type::text, Unit::none, Role::key, "compute, communication or memory."},
    {"name", Type::text, Unit::none, Role::key, "Kernel, copy or set."},
    {"count", Type::integer, Unit::count, Role::value, "Number of runs."},
    {"sum_ns", Type::integer, Unit::ns, Role::value, "Sum of their durations."},
    {"min_ns", Type::integer, Unit::ns, Role::value, "Shortest run."},
    {"max_ns", Type::integer, Unit::ns, Role::value, "Longest run."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kKernelDurationDistribution.name, kPartColumns);
  const Kernels kernels = compute_kernels(trace);
  if (kernels.kernels.empty()) note_no_device_work(table);
  for (const Kernel& k : kernels.kernels)
    table.append({trace::work_kind_name(k.kind), trace.strings()[k.name], k.durations.count, k.durations.sum,
                  k.durations.min, k.durations.max});
  return table;
}

// A kernel on all ranks so far. The ranks are those of the tables it points to.
struct Spread {
  Spread(std::string_view k, std::string_view n) : kind(k), name(n) {}

  std::string_view kind, name;
  i64 ranks = 0;
  Durations all;
  const RankTable *min = nullptr, *max = nullptr, *fastest = nullptr, *slowest = nullptr;
  double fastest_mean = 0, slowest_mean = 0;

  void add(const RankTable& rank, const Durations& durations) {
    const double mean = durations.mean();
    if (!min || durations.min < all.min) min = &rank;
    if (!max || durations.max > all.max) max = &rank;
    if (!fastest || mean < fastest_mean) fastest = &rank, fastest_mean = mean;
    if (!slowest || mean > slowest_mean) slowest = &rank, slowest_mean = mean;
    all.merge(durations);
    ++ranks;
  }
};

std::vector<Spread> merge(std::span<const RankTable> tables) {
  std::vector<Spread> spreads;
  std::unordered_map<std::string, size_t> index;  // by kind and name
  for (const RankTable& part : tables) {
    const Table& t = part.table;
    for (size_t r = 0; r < t.rows(); ++r) {
      const std::string_view kind = t.text(r, 0), name = t.text(r, 1);
      const auto [at, is_new] = index.try_emplace(fmt::format("{} {}", kind, name), spreads.size());
      if (is_new) spreads.emplace_back(kind, name);
      spreads[at->second].add(part, {t.integer(r, 2), t.integer(r, 3), t.integer(r, 4), t.integer(r, 5)});
    }
  }
  return spreads;
}

Value rank_value(const RankTable* table) { return table->rank ? Value(*table->rank) : Value(); }

Result<Table> reduce(std::span<const RankTable> tables, const ParamValues& params) {
  std::vector<Spread> spreads = merge(tables);
  std::sort(spreads.begin(), spreads.end(), [](const Spread& a, const Spread& b) {
    if (a.all.sum != b.all.sum) return a.all.sum > b.all.sum;
    return std::tie(a.name, a.kind) < std::tie(b.name, b.kind);
  });
  const auto top = static_cast<size_t>(params["top"]);
  const size_t listed = top == 0 ? spreads.size() : std::min(top, spreads.size());

  Table answer(kKernelDurationDistribution.name, kColumns);
  for (const Spread& s : std::span(spreads).first(listed))
    answer.append({s.kind, s.name, s.ranks, s.all.count, s.all.mean(), s.all.min, rank_value(s.min),
                   s.all.max, rank_value(s.max), rank_value(s.fastest), s.fastest_mean, rank_value(s.slowest),
                   s.slowest_mean});
  if (listed < spreads.size())
    answer.notes.add("rows_left_out", Severity::info,
                     "kernels with less time are not listed; --top 0 lists all", -1,
                     static_cast<i64>(spreads.size() - listed));
  return answer;
}

}  // namespace

const Analysis kKernelDurationDistribution = {
    .name = "kernel_duration_distribution",
    .summary = "How long each kernel takes on the different ranks, and which rank is slow.",
    .doc =
        "Device work of all ranks grouped by kind and full name. mean is over all runs of all ranks; "
        "fastest and slowest compare the means of the ranks. Sorted by the sum of all durations, most "
        "first; what is not among the first `top` is left out, with a note.",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
    .reduce = reduce,
    .part_columns = kPartColumns,
};

}  // namespace spotter::analyze
