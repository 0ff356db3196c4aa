#include "trace/links.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "trace/device_rows.h"
#include "trace/per_kind.h"
#include "trace/sort_runs.h"

namespace spotter::trace {
namespace {

using Process = std::pair<i64, StringId>;
Process process_of(const Trace& trace, EventId e) {
  const Track& track = trace.tracks()[trace.track[e]];
  return {track.pid, track.pid_text};
}

// The earliest host call of each correlation. Correlations are counted up by the driver, so those of a trace
// are nearly dense: a table over their range answers with one access; where they are not, a sorted list does.
class Launches {
 public:
  explicit Launches(const Trace& trace) {
    std::vector<Call> calls = host_calls(trace);
    if (calls.empty()) return;
    i64 last = std::numeric_limits<i64>::min();
    first_ = std::numeric_limits<i64>::max();
    for (const Call& call : calls) {
      first_ = std::min(first_, call.correlation);
      last = std::max(last, call.correlation);
    }
    if (static_cast<u64>(last - first_) < 8 * static_cast<u64>(calls.size()))
      fill_table(trace, calls, static_cast<size_t>(last - first_ + 1));
    else
      fill_list(trace, std::move(calls));
  }

  EventId find(i64 correlation) const {
    if (correlation < first_) return kNone;
    if (!table_.empty()) {
      const auto i = static_cast<size_t>(correlation - first_);
      return i < table_.size() ? table_[i] : kNone;
    }
    const auto it = std::lower_bound(list_.begin(), list_.end(), correlation,
                                     [](const Call& call, i64 wanted) { return call.correlation < wanted; });
    return it != list_.end() && it->correlation == correlation ? it->event : kNone;
  }

  i64 duplicates() const { return duplicates_; }
  // Calls that stand in another process than the earliest of their correlation, and that one.
  const std::vector<std::pair<EventId, EventId>>& of_other_processes() const { return of_other_processes_; }

 private:
  struct Call {
    i64 correlation;
    EventId event;
  };

  static std::vector<Call> host_calls(const Trace& trace) {
    const auto is_call = per_kind(trace, [](const Kind& k) { return k.is_span && is_host_call(k.category); });
    std::vector<Call> calls;
    calls.reserve(static_cast<size_t>(
        std::count_if(trace.kind.begin(), trace.kind.end(), [&](u8 k) { return is_call[k] != 0; })));
    for (EventId e = 0; e < trace.size(); ++e) {
      if (!is_call[trace.kind[e]]) continue;
      const i64 correlation = trace.integer(e, Arg::correlation).value_or(0);
      if (correlation > 0) calls.push_back({correlation, e});
    }
    return calls;
  }

  // `calls` come by row, so of two that start together the one that stands first in the file is kept.
  void fill_table(const Trace& trace, const std::vector<Call>& calls, size_t range) {
    table_.assign(range, kNone);
    for (const Call& call : calls) {
      EventId& entry = table_[static_cast<size_t>(call.correlation - first_)];
      if (entry != kNone) ++duplicates_;
      if (entry == kNone || trace.ts[call.event] < trace.ts[entry]) entry = call.event;
    }
    if (duplicates_ > 0)
      for (const Call& call : calls) compare_processes(trace, call.event, find(call.correlation));
  }

  void fill_list(const Trace& trace, std::vector<Call> calls) {
    const auto before = [&](const Call& a, const Call& b) {
      return a.correlation != b.correlation ? a.correlation < b.correlation
                                            : trace.ts[a.event] < trace.ts[b.event];
    };
    const auto same = [](const Call& a, const Call& b) { return a.correlation == b.correlation; };
    std::vector<Call> spare;
    sort_runs(std::span(calls), spare, before);
    for (size_t i = 1, earliest = 0; i < calls.size(); ++i) {
      if (same(calls[earliest], calls[i]))
        compare_processes(trace, calls[i].event, calls[earliest].event);
      else
        earliest = i;
    }
    const auto end = std::unique(calls.begin(), calls.end(), same);
    duplicates_ = calls.end() - end;
    calls.erase(end, calls.end());
    list_ = std::move(calls);
  }

  void compare_processes(const Trace& trace, EventId call, EventId earliest) {
    if (process_of(trace, call) != process_of(trace, earliest))
      of_other_processes_.emplace_back(call, earliest);
  }

  i64 first_ = 0;
  std::vector<EventId> table_;  // [correlation - first_], or empty
  std::vector<Call> list_;      // ascending by correlation
  i64 duplicates_ = 0;
  std::vector<std::pair<EventId, EventId>> of_other_processes_;
};

// Where calls are also told on the device's side (MTIA), under its number as pid, that is no process.
i64 count_other_processes(const Trace& trace, const std::vector<std::pair<EventId, EventId>>& calls,
                          const std::vector<EventId>& device_rows) {
  if (calls.empty()) return 0;
  std::set<Process> devices;
  for (const EventId e : device_rows) devices.insert(process_of(trace, e));
  return std::ranges::count_if(calls, [&](const auto& pair) {
    return !devices.contains(process_of(trace, pair.first)) &&
           !devices.contains(process_of(trace, pair.second));
  });
}

}  // namespace

LaunchLinks compute_links(const Trace& trace) {
  const Launches launches(trace);
  LaunchLinks links;
  links.duplicate_correlations = launches.duplicates();
  links.device = device_rows(trace);
  links.of_other_processes = count_other_processes(trace, launches.of_other_processes(), links.device);
  links.launch.reserve(links.device.size());
  for (const EventId e : links.device) {
    const EventId launch = launches.find(trace.integer(e, Arg::correlation).value_or(0));
    links.launch.push_back(launch);
    if (launch == kNone) ++links.unlaunched;
  }
  return links;
}

}  // namespace spotter::trace

namespace spotter {

const trace::LaunchLinks& Trace::links() const {
  return links_.get([this] { return trace::compute_links(*this); });
}

}  // namespace spotter
