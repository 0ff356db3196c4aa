// What the device does with the time that was traced.
#include <algorithm>

#include "diagnose/list.h"
#include "render/render.h"
#include "table/ops.h"
#include "trace/classify.h"

namespace spotter::diagnose {
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
                     rank_name(*worst), render::human_ns(worst->device_time), render::human_ns(worst->span)),
                 .rank = worst->rank,
                 .time = worst->span - worst->device_time,
                 .share = ratio(worst->span - worst->device_time, worst->span)};
}

// Time in collectives is waiting for the last rank, then transfer; both may be hidden.
std::optional<Finding> find_exposed(const JobFacts& f, double threshold) {
  const Ns exposed = sum_over(f, &RankFacts::communication) - sum_over(f, &RankFacts::hidden_communication);
  const double share = ratio(exposed, sum_over(f, &RankFacts::device_time));
  if (share < threshold) return {};
  const Ns waiting = sum_over(f, &RankFacts::own_wait);
  Finding finding{.what = fmt::format("Communication that no computation hides takes {} of the device time.",
                                      percent(share)),
                  .remedy = "Larger overlap (bucket sizes, prefetch) or fewer bytes would give it back.",
                  .time = exposed,
                  .share = share};
  if (2 * waiting >= exposed) {
    finding.what +=
        fmt::format(" In collectives, ranks wait {} in all for each other.", render::human_ns(waiting));
    finding.remedy = "Even out the ranks first: what is waiting, neither overlap nor fewer bytes shorten.";
  }
  return finding;
}

struct Dominant {
  std::string_view name;
  Ns time;
  double share;
};

// The first of several rows, which has the most, if that is at least `threshold` of `total`.
std::optional<Dominant> dominant(const Table& table, std::string_view column, Ns total, double threshold) {
  if (table.rows() < 2) return {};
  const Ns time = table.integer(0, table.column(column));
  const double share = ratio(time, total);
  if (share < threshold) return {};
  return Dominant{table.text(0, table.column("name")), time, share};
}

std::optional<Finding> find_dominant_kernel(const JobFacts& f, double threshold) {
  const auto most = dominant(f.kernels, "sum_ns", f.kernel_time, threshold);
  if (!most) return {};
  const bool is_copy =
      table::text_or_empty(f.kernels, 0, "kind") == trace::work_kind_name(trace::WorkKind::memory);
  const bool is_pageable = most->name.find("Pageable") != most->name.npos;
  return Finding{.what = fmt::format("{} of the device work is one {}: {}.", percent(most->share),
                                     is_copy ? "kind of copy or set" : "kernel",
                                     render::short_name(most->name, kNameCells)),
                 .remedy = is_pageable ? "Copy from pinned memory (pin_memory=True, non_blocking=True)." : "",
                 .time = most->time,
                 .share = most->share};
}

std::optional<Finding> find_dominant_operator(const JobFacts& f, double threshold) {
  if (f.has_device_work) return {};
  const auto most = dominant(f.operators, "host_self_ns", f.operator_host_time, threshold);
  if (!most) return {};
  return Finding{.what = fmt::format("{} of the operators' time is one operator: {}.", percent(most->share),
                                     render::short_name(most->name, kNameCells)),
                 .time = most->time,
                 .share = most->share};
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
    .evidence = "comm_comp_overlap, stragglers",
    .find = find_exposed,
};
const Rule kDominantKernel = {
    .name = "dominant_kernel",
    .kind = Rule::Kind::cause,
    .summary = "Of several kernels, copies and sets one takes {} of the time of all device work or more.",
    .threshold = 0.25,
    .evidence = "kernel_breakdown",
    .find = find_dominant_kernel,
};
const Rule kDominantOperator = {
    .name = "dominant_operator",
    .kind = Rule::Kind::cause,
    .summary = "Without device work: of several operators one takes {} of their own time or more.",
    .threshold = 0.25,
    .evidence = "operators",
    .find = find_dominant_operator,
};

}  // namespace spotter::diagnose
