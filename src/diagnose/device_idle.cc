// The device does nothing: which cause is behind most of it. At most one of these rules finds something.
#include <cmath>

#include "diagnose/list.h"
#include "render/render.h"

namespace spotter::diagnose {
namespace {

constexpr double kIdle = 0.15;           // share of device time without work
constexpr double kMost = 0.5;            // of the idle time, for one cause
constexpr double kShortKernelNs = 8000;  // mean kernel time below which launches cannot keep up,
constexpr double kLaunchGapNs = 20'000;  // if what the device waits for is no longer than a launch or two

struct Idle {
  double share;                         // of device time
  double host, other, unknown, kernel;  // shares of the idle time
  double mean_kernel_ns, mean_host_gap_ns;
  bool are_launches() const { return mean_kernel_ns < kShortKernelNs && mean_host_gap_ns < kLaunchGapNs; }
};

Idle idle_of(const JobFacts& f) {
  const i64 host = sum_over(f, &RankFacts::host_wait), all = sum_over(f, &RankFacts::idle);
  return {.share = ratio(all, sum_over(f, &RankFacts::device_time)),
          .host = ratio(host, all),
          .other = ratio(sum_over(f, &RankFacts::other_wait), all),
          .unknown = ratio(sum_over(f, &RankFacts::unknown_wait), all),
          .kernel = ratio(sum_over(f, &RankFacts::kernel_wait), all),
          .mean_kernel_ns = ratio(f.kernel_time, f.kernel_count),
          .mean_host_gap_ns = ratio(host, sum_over(f, &RankFacts::host_gaps))};
}

enum class Cause : u8 { launches, host, unknown, others, kernels, none };

Cause cause_of(const Idle& idle) {
  if (idle.host >= kMost) return idle.are_launches() ? Cause::launches : Cause::host;
  if (idle.unknown >= kMost) return Cause::unknown;
  if (idle.other >= kMost) return Cause::others;
  return idle.kernel >= kMost ? Cause::kernels : Cause::none;
}

std::string sentence_of(Cause cause, const Idle& idle) {
  const auto human = [](double ns) { return render::human_ns(std::llround(ns)); };
  const auto late = [&](const std::string& how) {
    return fmt::format("Mostly ({} of it) the host had not launched the next work yet: {}",
                       percent(idle.host), how);
  };
  switch (cause) {
    case Cause::launches:
      return late(fmt::format("kernels take {} on average and these gaps {}, so launches cannot keep up.",
                              human(idle.mean_kernel_ns), human(idle.mean_host_gap_ns)));
    case Cause::host:
      return late(fmt::format("gaps of {} on average.", human(idle.mean_host_gap_ns)));
    case Cause::unknown:
      return fmt::format(
          "Mostly ({} of it) the launch of the next work is not in the trace, so why is not known.",
          percent(idle.unknown));
    case Cause::others:
      return fmt::format(
          "Mostly ({} of it) the next work had been launched, and yet nothing ran: it waited for an event, a host "
          "function or another process, or its launch took long.",
          percent(idle.other));
    case Cause::kernels:
      return fmt::format("Mostly ({} of it) these are the short gaps between kernels that follow each other.",
                         percent(idle.kernel));
    case Cause::none:
      break;
  }
  return fmt::format(
      "No cause is behind half of it: {} waited for the host, {} for something else after a launch.",
      percent(idle.host), percent(idle.other));
}

const char* remedy_of(Cause cause) {
  switch (cause) {
    case Cause::launches:
      return "Fuse kernels (torch.compile) or use CUDA graphs.";
    case Cause::host:
      return "Look for host work, data loading or synchronisation (.item(), .cpu()) between the operators.";
    case Cause::kernels:
      return "Fewer and larger kernels make them fewer.";
    case Cause::none:
      return "See --table device_idle_breakdown.";
    case Cause::unknown:
    case Cause::others:
      break;
  }
  return "";
}

template <Cause cause>
std::optional<Finding> find(const JobFacts& f, double threshold) {
  const Idle idle = idle_of(f);
  if (idle.share < threshold || cause_of(idle) != cause) return {};
  return Finding{
      .what = fmt::format("The device does nothing {} of the time between its first and last work. {}",
                          percent(idle.share), sentence_of(cause, idle)),
      .remedy = remedy_of(cause),
      .time = sum_over(f, &RankFacts::idle),
      .share = idle.share};
}

}  // namespace

constexpr const char* kEvidence = "device_idle_breakdown, idle_time_breakdown";

const Rule kLaunchBound = {
    .name = "launch_bound",
    .kind = Rule::Kind::cause,
    .summary =
        "The device is idle for {} of its time or more, mostly because the host had not launched the "
        "next work yet, and kernels and gaps are as short as launches: under 8 and 20 µs on average.",
    .threshold = kIdle,
    .evidence = kEvidence,
    .find = find<Cause::launches>,
};
const Rule kHostBound = {
    .name = "host_bound",
    .kind = Rule::Kind::cause,
    .summary =
        "The device is idle for {} of its time or more, mostly because the host had not launched the "
        "next work yet, and the gaps are longer than launches.",
    .threshold = kIdle,
    .evidence = kEvidence,
    .find = find<Cause::host>,
};
const Rule kIdleForUnknown = {
    .name = "idle_for_unknown",
    .kind = Rule::Kind::cause,
    .summary =
        "The device is idle for {} of its time or more, and the launches that would say why are not in "
        "the trace.",
    .threshold = kIdle,
    .evidence = kEvidence,
    .find = find<Cause::unknown>,
};
const Rule kIdleForOthers = {
    .name = "idle_for_others",
    .kind = Rule::Kind::cause,
    .summary =
        "The device is idle for {} of its time or more, mostly because work that had been launched did "
        "not start: it waited for an event, a host function or another process, or its launch took long.",
    .threshold = kIdle,
    .evidence = "device_idle_breakdown, idle_time_breakdown, critical_path",
    .find = find<Cause::others>,
};
const Rule kIdleBetweenKernels = {
    .name = "idle_between_kernels",
    .kind = Rule::Kind::cause,
    .summary =
        "The device is idle for {} of its time or more, mostly in the short gaps between kernels that "
        "follow each other.",
    .threshold = kIdle,
    .evidence = kEvidence,
    .find = find<Cause::kernels>,
};
const Rule kIdleForNoOneCause = {
    .name = "idle_for_no_one_cause",
    .kind = Rule::Kind::cause,
    .summary = "The device is idle for {} of its time or more, and no cause is behind half of it.",
    .threshold = kIdle,
    .evidence = kEvidence,
    .find = find<Cause::none>,
};

}  // namespace spotter::diagnose
