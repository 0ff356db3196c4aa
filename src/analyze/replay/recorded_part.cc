#include "analyze/replay/recorded_part.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/lower_median.h"
#include "base/saturated.h"
#include "trace/device_work.h"

namespace spotter::analyze {
namespace {

// PyTorch numbers operators and annotations in the order in which they begin, so that of two that follow each
// other in a trace the numbers are 1 apart, or 2 around an annotation. In 38 real traces three quarters of
// them are at most 2 apart; in two that were sampled half of them are 4 apart or more.
bool are_sampled(const Trace& trace) {
  constexpr size_t kMost = 4096, kLeast = 20;
  constexpr i64 kApart = 3;
  std::vector<i64> numbers;
  for (EventId e = 0; e < trace.size() && numbers.size() < kMost; ++e) {
    if (trace.category(e) != Category::cpu_op || !trace.is_span(e)) continue;
    if (const auto number = trace.integer(e, Arg::external_id); number && *number > 0)
      numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
  if (numbers.size() < kLeast) return false;
  std::vector<i64> apart;
  for (size_t i = 1; i < numbers.size(); ++i) apart.push_back(numbers[i] - numbers[i - 1]);
  return lower_median(apart) >= kApart;
}

// Operators and calls of the device's runtime; up to `most` are counted.
i64 count_host_events(const Trace& trace, i64 most) {
  i64 count = 0;
  for (EventId e = 0; e < trace.size() && count < most; ++e)
    count += trace.is_span(e) && (trace.category(e) == Category::cpu_op || is_host_call(trace.category(e)));
  return count;
}

// Whether it is silent for most of its time.
bool is_silent(const Skeleton& skeleton) {
  Ns host = 0, silent = 0;
  for (const SkeletonRow& row : skeleton.rows) {
    host = add_saturated(host, row.host);
    if (row.op == SkeletonOp::pause && row.cause == Cause::silence) silent = add_saturated(silent, row.host);
  }
  return silent > host / 2;
}

// How many threads launch a twentieth of the device's work or more; 0 where two of them launch most of it, as
// one program and what serves it do.
i64 count_launchers(const Trace& trace) {
  constexpr i64 kPart = 20;
  std::map<u32, i64> launches;
  i64 all = 0;
  for (const EventId call : trace.device_work().launch) {
    if (call == kNone) continue;
    ++launches[trace.track[call]];
    ++all;
  }
  std::vector<i64> counts;
  for (const auto& [track, count] : launches) counts.push_back(count);
  std::ranges::sort(counts, std::greater());
  if (counts.size() < 2 || 5 * (counts[0] + counts[1]) > 4 * all) return 0;
  return std::ranges::count_if(counts, [&](i64 count) { return kPart * count >= all; });
}

}  // namespace

void note_recorded_part(const Trace& trace, Skeleton& skeleton) {
  constexpr i64 kFew = 20, kMany = 4;
  if (const i64 count = count_host_events(trace, kFew); count < kFew && is_silent(skeleton))
    skeleton.notes.add(kHostHardlyRecorded, Severity::loss,
                       "operators and calls are all that was recorded of a host", -1,
                       std::max<i64>(count, 1));
  // A program has two that launch, for the forward and the backward pass; executors of requests have one for
  // each.
  else if (const i64 launchers = count_launchers(trace); launchers >= kMany)
    skeleton.notes.add(
        kManyLaunchers, Severity::info,
        "threads launch the device's work: what one of them waits for does not hold up the others", -1,
        launchers);
  else if (are_sampled(trace))
    skeleton.notes.add(kSampledOperators, Severity::loss,
                       "the trace has a sample of the operators that ran: their numbers leave others out");
}

}  // namespace spotter::analyze
