// The device does nothing: which of the causes of the gaps on the busiest streams is behind most of it. At
// most one of these rules finds something.
#include <cmath>

#include "diagnose/list.h"
#include "render/render.h"

namespace spotter {
namespace {

constexpr double kIdle = 0.15;           // share of device time without work
constexpr double kMost = 0.5;            // of the gaps, for one cause
constexpr double kShortKernelNs = 8000;  // mean kernel time below which launches cannot keep up,
constexpr double kLaunchGapNs = 20'000;  // if what the device waits for is no longer than a launch or two

struct Gaps {
  double idle;                 // share of device time
  double host, other, kernel;  // shares of the gaps
  double mean_kernel_ns, mean_host_gap_ns;
  bool are_launches() const { return mean_kernel_ns < kShortKernelNs && mean_host_gap_ns < kLaunchGapNs; }
};

Gaps gaps_of(const JobFacts& f) {
  const i64 host = sum_over(f, &RankFacts::host_wait), all = sum_over(f, &RankFacts::stream_idle);
  return {.idle = ratio(sum_over(f, &RankFacts::idle), sum_over(f, &RankFacts::device_time)),
          .host = ratio(host, all),
          .other = ratio(sum_over(f, &RankFacts::other_wait), all),
          .kernel = ratio(sum_over(f, &RankFacts::kernel_wait), all),
          .mean_kernel_ns = ratio(f.kernel_time, f.kernel_count),
          .mean_host_gap_ns = ratio(host, sum_over(f, &RankFacts::host_gaps))};
}

enum class Cause : u8 { launches, host, unknown, others, kernels, none };

Cause cause_of(const JobFacts& f, const Gaps& gaps) {
  if (gaps.host >= kMost) return gaps.are_launches() ? Cause::launches : Cause::host;
  if (gaps.other >= kMost) return launches_are_missing(f) ? Cause::unknown : Cause::others;
  return gaps.kernel >= kMost ? Cause::kernels : Cause::none;
}

std::string sentence_of(Cause cause, const Gaps& gaps) {
  constexpr const char* kHostIsLate =
      "Mostly ({} of the gaps on the busiest stream) the host had not launched the next kernel yet: ";
  const auto human = [](double ns) { return human_ns(std::llround(ns)); };
  switch (cause) {
    case Cause::launches:
      return fmt::format(kHostIsLate, percent(gaps.host)) +
             fmt::format("kernels take {} on average and the gaps {}, so launches cannot keep up.",
                         human(gaps.mean_kernel_ns), human(gaps.mean_host_gap_ns));
    case Cause::host:
      return fmt::format(kHostIsLate, percent(gaps.host)) +
             fmt::format("gaps of {} on average.", human(gaps.mean_host_gap_ns));
    case Cause::unknown:
      return "Why is not known: the launches of most kernels are not in the trace.";
    case Cause::others:
      return fmt::format(
          "Mostly ({}) the next kernel was launched and waited for something else: another stream, a "
          "collective or a copy.",
          percent(gaps.other));
    case Cause::kernels:
      return fmt::format("Mostly ({}) these are the short gaps between kernels that follow each other.",
                         percent(gaps.kernel));
    case Cause::none:
      break;
  }
  return "The gaps have no single cause.";
}

template <Cause cause>
std::optional<Finding> find(const JobFacts& f, double threshold, const char* remedy) {
  const Gaps gaps = gaps_of(f);
  if (gaps.idle < threshold || cause_of(f, gaps) != cause) return {};
  return Finding{
      .what = fmt::format("The device does nothing {} of the time between its first and last work. {}",
                          percent(gaps.idle), sentence_of(cause, gaps)),
      .remedy = remedy,
      .time = sum_over(f, &RankFacts::idle),
      .share = gaps.idle};
}

}  // namespace

constexpr const char* kEvidence = "temporal_breakdown, idle_time_breakdown";

const Rule kLaunchBound = {
    .name = "launch_bound",
    .kind = Rule::Kind::cause,
    .summary =
        "The device is idle for {} of its time or more, mostly because the host had not launched the "
        "next kernel yet, and kernels and gaps are as short as launches: under 8 and 20 µs on average.",
    .threshold = kIdle,
    .evidence = kEvidence,
    .find =
        [](const JobFacts& f, double threshold) {
          return find<Cause::launches>(f, threshold, "Fuse kernels (torch.compile) or use CUDA graphs.");
        },
};
const Rule kHostBound = {
    .name = "host_bound",
    .kind = Rule::Kind::cause,
    .summary =
        "The device is idle for {} of its time or more, mostly because the host had not launched the "
        "next kernel yet, and the gaps are longer than launches.",
    .threshold = kIdle,
    .evidence = kEvidence,
    .find =
        [](const JobFacts& f, double threshold) {
          return find<Cause::host>(
              f, threshold,
              "Look for host work, data loading or synchronisation (.item(), .cpu()) between the operators.");
        },
};
const Rule kIdleForUnknown = {
    .name = "idle_for_unknown",
    .kind = Rule::Kind::cause,
    .summary =
        "The device is idle for {} of its time or more, and the launches that would say why are not in "
        "the trace.",
    .threshold = kIdle,
    .evidence = kEvidence,
    .find = [](const JobFacts& f, double threshold) { return find<Cause::unknown>(f, threshold, ""); },
};
const Rule kIdleForOthers = {
    .name = "idle_for_others",
    .kind = Rule::Kind::cause,
    .summary =
        "The device is idle for {} of its time or more, mostly because the next kernel was launched and "
        "waited for another stream, a collective or a copy.",
    .threshold = kIdle,
    .evidence = "temporal_breakdown, idle_time_breakdown, critical_path",
    .find = [](const JobFacts& f, double threshold) { return find<Cause::others>(f, threshold, ""); },
};
const Rule kIdleBetweenKernels = {
    .name = "idle_between_kernels",
    .kind = Rule::Kind::cause,
    .summary =
        "The device is idle for {} of its time or more, mostly in the short gaps between kernels that "
        "follow each other.",
    .threshold = kIdle,
    .evidence = kEvidence,
    .find =
        [](const JobFacts& f, double threshold) {
          return find<Cause::kernels>(f, threshold, "Fewer and larger kernels make them fewer.");
        },
};
const Rule kIdleForNoOneCause = {
    .name = "idle_for_no_one_cause",
    .kind = Rule::Kind::cause,
    .summary = "The device is idle for {} of its time or more, and no cause is behind half of it.",
    .threshold = kIdle,
    .evidence = kEvidence,
    .find =
        [](const JobFacts& f, double threshold) {
          return find<Cause::none>(f, threshold, "See --table idle_time_breakdown.");
        },
};

}  // namespace spotter
