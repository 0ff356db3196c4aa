#include <algorithm>
#include <numeric>
#include <optional>

#include "analyze/kernels/kernel_stats.h"
#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"
#include "analyze/top.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"kind", Type::text, Unit::none, Role::detail, "compute, communication or memory; null for others."},
    {"name", Type::text, Unit::none, Role::key, "Kernel, copy or set; others: all that are not listed."},
    {"count", Type::integer, Unit::count, Role::value, "Number of runs."},
    {"sum_ns", Type::integer, Unit::ns, Role::value, "Sum of their durations."},
    {"min_ns", Type::integer, Unit::ns, Role::detail, "Shortest run."},
    {"max_ns", Type::integer, Unit::ns, Role::detail, "Longest run."},
    {"mean_ns", Type::real, Unit::ns, Role::value, "Mean duration."},
    {"std_ns", Type::real, Unit::ns, Role::detail, "Standard deviation of the sample; 0 for one run."},
    {"ratio", Type::real, Unit::ratio, Role::value, "Share of the sum of all durations of the rank."},
};

constexpr Param kParams[] = {kTop};

// Positions of the kernels by time, most first.
std::vector<u32> by_time(const Trace& trace, const std::vector<Kernel>& kernels) {
  std::vector<u32> order(kernels.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](u32 a, u32 b) {
    const Kernel &x = kernels[a], &y = kernels[b];
    if (x.durations.sum != y.durations.sum) return x.durations.sum > y.durations.sum;
    if (x.name != y.name) return trace.strings()[x.name] < trace.strings()[y.name];
    return x.kind < y.kind;
  });
  return order;
}

struct Row {
  const Kernel* kernel = nullptr;  // nullptr: others
  Durations durations;
  double squares = 0;  // of deviations from the mean
};

// Kernels beyond the first `top` go into one last row.
std::vector<Row> make_rows(const Trace& trace, const Kernels& kernels, size_t top) {
  const std::vector<u32> order = by_time(trace, kernels.kernels);
  if (top == 0) top = order.size();
  std::vector<Row> rows(std::min(order.size(), top + 1));
  std::vector<u32> row_of_kernel(order.size());
  for (size_t place = 0; place < order.size(); ++place) {
    const Kernel& kernel = kernels.kernels[order[place]];
    const size_t r = std::min(place, top);
    rows[r].kernel = place < top ? &kernel : nullptr;
    rows[r].durations.merge(kernel.durations);
    row_of_kernel[order[place]] = static_cast<u32>(r);
  }
  const trace::DeviceWork& work = trace.device_work();
  for (size_t i = 0; i < work.event.size(); ++i) {
    Row& row = rows[row_of_kernel[kernels.of_row[i]]];
    const double deviation = static_cast<double>(work.end[i] - work.start[i]) - row.durations.mean();
    row.squares += deviation * deviation;
  }
  return rows;
}

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kKernelBreakdown.name, std::span(kColumns).subspan(1));
  const Kernels kernels = compute_kernels(trace);
  if (kernels.kernels.empty()) note_no_device_work(table);
  Ns total = 0;
  for (const Kernel& kernel : kernels.kernels) total += kernel.durations.sum;
  for (const Row& row : make_rows(trace, kernels, static_cast<size_t>(params["top"]))) {
    const Durations& d = row.durations;
    table.append({row.kernel ? Value(trace::work_kind_name(row.kernel->kind)) : Value(),
                  row.kernel ? trace.strings()[row.kernel->name] : "others", d.count, d.sum, d.min, d.max,
                  d.mean(), sample_std(d.count, row.squares), ratio(d.sum, total)});
  }
  return table;
}

}  // namespace

const Analysis kKernelBreakdown = {
    .name = "kernel_breakdown",
    .summary = "Which kernels, copies and sets take the device's time, per rank.",
    .doc =
        "Device work grouped by kind and full name: how often it ran, the sum of its durations, and their "
        "extremes, mean and standard deviation (of a sample, n - 1; 0 for one run). ratio is the share of "
        "the sum of all durations of the rank; as work on several streams overlaps, that sum can exceed the "
        "busy time. Sorted by sum, then name. What is not among the first `top` is put into a last row "
        "named others, whose statistics are those of its runs. A rank without device work has no rows.",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
