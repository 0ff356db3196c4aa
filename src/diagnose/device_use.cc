// What the device does with the time that was traced.
#include <algorithm>

#include "diagnose/list.h"
#include "render/render.h"

namespace spotter {
namespace {

constexpr int kNameCells = 56;

// The time around a device's work is not idle time by definition.
std::optional<Finding> find_uncovered(const JobFacts& f, double threshold) {
  const RankFacts* worst = nullptr;
  for (const RankFacts& r : f.ranks) {
    if (r.device_time > 0 &&
        (!worst || ratio(r.device_time, r.span) < ratio(worst->device_time, worst->span)))
      worst = &r;
  }
  if (!worst || ratio(worst->device_time, worst->span) >= threshold) return {};
  return Finding{.what = fmt::format(
                     "The device of {} has work within {} of the {} that were traced (from its first to its "
                     "last); in the rest only the host works.",
                     rank_name(*worst), human_ns(worst->device_time), human_ns(worst->span)),
                 .remedy = "",
                 .rank = worst->rank,
                 .time = worst->span - worst->device_time,
                 .share = ratio(worst->span - worst->device_time, worst->span)};
}

std::optional<Finding> find_exposed(const JobFacts& f, double threshold) {
  const Ns exposed = sum_over(f, &RankFacts::communication) - sum_over(f, &RankFacts::hidden_communication);
  const double share = ratio(exposed, sum_over(f, &RankFacts::device_time));
  if (share < threshold) return {};
  return Finding{.what = fmt::format("Communication that no computation hides takes {} of the device time.",
                                     percent(share)),
                 .remedy = "Larger overlap (bucket sizes, prefetch) or fewer bytes would give it back.",
                 .time = exposed,
                 .share = share};
}

// The first row of `table`, which has the most, and of `total` at least `threshold`.
std::optional<Finding> find_dominant(const Table& table, std::string_view column, Ns total, const char* of,
                                     const char* one, double threshold) {
  if (table.rows() < 2) return {};
  const Ns time = table.integer(0, table.column(column));
  const double share = ratio(time, total);
  if (share < threshold) return {};
  return Finding{.what = fmt::format("{} of the {} is one {}: {}.", percent(share), of, one,
                                     short_name(table.text(0, table.column("name")), kNameCells)),
                 .remedy = "",
                 .time = time,
                 .share = share};
}

}  // namespace

const Rule kDeviceUncovered = {
    .name = "device_uncovered",
    .kind = Rule::Kind::cause,
    .summary = "The time between a device's first and last work is less than {} of the time that was traced.",
    .threshold = 0.7,
    .evidence = "summary, temporal_breakdown",
    .find = find_uncovered,
};
const Rule kExposedCommunication = {
    .name = "exposed_communication",
    .kind = Rule::Kind::cause,
    .summary = "Communication that no computation hides takes {} of the device time or more.",
    .threshold = 0.08,
    .evidence = "comm_comp_overlap",
    .find = find_exposed,
};
const Rule kDominantKernel = {
    .name = "dominant_kernel",
    .kind = Rule::Kind::cause,
    .summary = "One kernel takes {} of the time of all device work or more.",
    .threshold = 0.25,
    .evidence = "kernel_breakdown",
    .find =
        [](const JobFacts& f, double threshold) {
          return find_dominant(f.kernels, "sum_ns", f.kernel_time, "device work", "kernel", threshold);
        },
};
const Rule kDominantOperator = {
    .name = "dominant_operator",
    .kind = Rule::Kind::cause,
    .summary = "Without device work: one operator takes {} of the operators' own time or more.",
    .threshold = 0.25,
    .evidence = "operators",
    .find = [](const JobFacts& f, double threshold) -> std::optional<Finding> {
      if (f.has_device_work) return {};
      return find_dominant(f.operators, "host_self_ns", f.operator_host_time, "operators' time", "operator",
                           threshold);
    },
};

}  // namespace spotter
