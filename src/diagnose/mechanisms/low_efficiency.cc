#include <algorithm>
#include <map>

#include "base/saturated.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

// Of the roofline: what operators reach that are long enough to fill their device. cuBLAS and the like come
// to 60 to 80 % of a data sheet's peak in large products, streaming kernels to 80 to 90 % of its bandwidth.
constexpr double kAttainable = 0.7;
constexpr double kLow = 0.4;      // below it, something other than the usual losses is at work
constexpr Ns kLongCall = 50'000;  // shorter ones do not fill a device: that is no matter of efficiency

// Of a rank: what its slow operators take, and would at what is attainable.
struct Slow {
  Ns device = 0;
  double excess = 0;
  const OperatorRate* worst = nullptr;  // that has most of it
  double most = 0;
};

std::map<i64, Slow> slow_by_rank(const JobModel& model) {
  std::map<i64, Slow> ranks;
  for (const OperatorRate& one : model.evidence.operators) {
    if (one.ratio <= 0 || one.ratio >= kLow || one.calls == 0 || one.device / one.calls < kLongCall) continue;
    const double excess = static_cast<double>(one.device) * (1 - one.ratio / kAttainable);
    Slow& slow = ranks[one.rank];
    slow.device = add_saturated(slow.device, one.device);
    slow.excess += excess;
    if (excess <= slow.most) continue;
    slow.most = excess;
    slow.worst = &one;
  }
  return ranks;
}

Ns device_of(const JobModel& model, u32 r) {
  Ns device = 0;
  for (u32 s = 0; s < model.cells.steps(r); ++s) device = add_saturated(device, model.cells.at(r, s).device);
  return device;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  const std::map<i64, Slow> by_rank = slow_by_rank(model);
  std::vector<std::pair<u32, double>> kept;  // rank, part of its device's time that stays
  const Slow* worst = nullptr;
  for (u32 r = 0; r < model.job.ranks.size(); ++r) {
    const auto slow = by_rank.find(model.job.ranks[r].rank.value_or(-1));
    const Ns device = device_of(model, r);
    if (slow == by_rank.end() || device <= 0) continue;
    kept.emplace_back(r, std::max(0.0, 1 - slow->second.excess / static_cast<double>(device)));
    if (!worst || slow->second.excess > worst->excess) worst = &slow->second;
  }
  if (kept.empty()) return {};
  Candidate c;
  for (const auto& [r, part] : kept) c.ranks.push_back(r);
  c.subject = worst->worst->name;
  c.what = fmt::format(
      "Operators reach under {} of what their device can do, above all {} {} with {}: at {}, which such "
      "work usually reaches",
      percent_of(kLow), c.subject, render::short_name(worst->worst->shapes, 40),
      percent_of(worst->worst->ratio), percent_of(kAttainable));
  c.is_opportunity = true;
  c.undo = [&model, kept](analyze::Scenario& s) {
    for (const auto& [r, part] : kept)
      for (u32 step = 0; step < model.cells.steps(r); ++step) s.device[model.step_index(r, step)] *= part;
  };
  return {std::move(c)};
}

}  // namespace

const Mechanism kLowEfficiency = {
    .name = "low_efficiency",
    .summary =
        "Operators whose calls run 50 µs or longer on the device reach under 40 % of their roofline: of the peak of their type or of the memory's bandwidth, whichever is nearer "
        "(operator_efficiency; shapes must be recorded and the device known). What the job would gain if they reached 70 % of it, as large products and streaming kernels "
        "do. What one device does more slowly than its peers is slow_device.",
    .remedy =
        "Use bfloat16 or TF32 where float32 is computed, sizes that are multiples of 64 or more, contiguous tensors (channels_last for "
        "convolutions), larger batches, and fused attention; torch.compile(mode=\"max-autotune\") tries other kernels.",
    .evidence = "--table operator_efficiency",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
