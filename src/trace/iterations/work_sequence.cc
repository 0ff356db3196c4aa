#include "trace/iterations/work_sequence.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/saturated.h"
#include "base/stable_sort.h"
#include "base/text/utf8.h"
#include "trace/device_work.h"
#include "trace/per_kind.h"

namespace spotter::trace {
namespace {

using What = WorkItem::What;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch.
bool launches_graph(std::string_view call) { return contains(call, "GraphLaunch"); }
bool waits(std::string_view call) { return contains(call, "Synchronize"); }
bool launches(std::string_view call) { return contains(call, "Launch") || contains(call, "Memcpy"); }

// Kernels that choose tokens, of PyTorch (argmax, multinomial, its exponential trick), FlashInfer, vLLM,
// SGLang and TensorRT-LLM. Not top-k: experts are chosen so in each layer.
bool samples(std::string_view kernel) {
  constexpr std::string_view kParts[] = {"argmax", "multinomial", "sampling", "exponential_kernel", "gumbel"};
  const std::string lower = ascii_lower(kernel);
  return std::ranges::any_of(kParts, [&](std::string_view part) { return contains(lower, part); });
}

// CUPTI's "Memcpy DtoH (Device -> Pinned)", roctracer's "CopyDeviceToHost".
bool copies_to_host(std::string_view copy) {
  return contains(copy, "DtoH") || contains(copy, "DeviceToHost");
}

What what_is(const Trace& trace, EventId e) {
  const std::string_view name = trace.name_of(e);
  if (trace.category(e) == Category::gpu_memcpy || contains(name, "emcpy"))
    return copies_to_host(name) ? What::copy_to_host : What::work;
  return samples(name) ? What::sample : What::work;
}

// Names are judged once each.
class WhatByName {
 public:
  explicit WhatByName(const Trace& trace) : trace_(trace), known_(trace.strings().size()) {}
  What of_work(EventId e) {
    std::optional<What>& known = known_[trace_.name[e]];
    if (!known) known = what_is(trace_, e);
    return *known;
  }

 private:
  const Trace& trace_;
  std::vector<std::optional<What>> known_;
};

// The index with the most time, and that time.
std::pair<size_t, Ns> most(const std::vector<Ns>& times) {
  const auto it = std::ranges::max_element(times);
  return it == times.end() ? std::pair<size_t, Ns>{0, 0}
                           : std::pair(static_cast<size_t>(it - times.begin()), *it);
}

void add(Ns& sum, Ns time) { sum = add_saturated(sum, time); }
Ns duration(const DeviceWork& work, size_t row) { return work.end[row] - work.start[row]; }

WorkItem item_of_call(const Trace& trace, EventId call, What what) {
  return {trace.name[call], what, call, trace.ts[call], trace.end(call), 0};
}

// Rows of device work in the order of their launches, each graph's behind that of its launch.
void add_launched(const Trace& trace, u32 track, std::vector<WorkItem>& items) {
  const DeviceWork& work = trace.device_work();
  struct Row {
    Ns launched;
    EventId launch;
    Ns start;
    u32 row;
    auto operator<=>(const Row&) const = default;
  };
  std::vector<Row> rows;
  for (u32 row = 0; row < work.event.size(); ++row) {
    const EventId launch = work.launch[row];
    if (launch != kNone && trace.track[launch] == track)
      rows.push_back({trace.ts[launch], launch, work.start[row], row});
  }
  std::ranges::sort(rows);
  WhatByName whats(trace);
  EventId last = kNone;
  for (const auto& [launched, launch, start, row] : rows) {
    if (launch != last && launches_graph(trace.name_of(launch)))
      items.push_back(item_of_call(trace, launch, What::graph_launch));
    last = launch;
    const EventId e = work.event[row];
    items.push_back(
        {trace.name[e], whats.of_work(e), launch, launched, trace.end(launch), duration(work, row)});
  }
}

// Calls of a track: the waits, with `all` also those that launch.
void add_calls(const Trace& trace, u32 track, bool all, std::vector<WorkItem>& items) {
  const auto is_call = per_kind(trace, [](const Kind& k) { return k.is_span && is_host_call(k.category); });
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.track[e] != track || !is_call[trace.kind[e]]) continue;
    const std::string_view name = trace.name_of(e);
    if (waits(name))
      items.push_back(item_of_call(trace, e, What::wait));
    else if (all && launches(name))
      items.push_back(item_of_call(trace, e, launches_graph(name) ? What::graph_launch : What::work));
  }
}

// Items of one call stay together: a graph's launch before what it consists of.
void sort_by_call(std::vector<WorkItem>& items) {
  stable_sort(items, [](const WorkItem& a, const WorkItem& b) {
    return std::tuple(a.start, a.event) < std::tuple(b.start, b.event);
  });
}

void add_stream(const Trace& trace, const Stream& stream, std::vector<WorkItem>& items) {
  const DeviceWork& work = trace.device_work();
  WhatByName whats(trace);
  for (u32 row = stream.begin; row < stream.end; ++row) {
    const EventId e = work.event[row];
    items.push_back(
        {trace.name[e], whats.of_work(e), e, work.start[row], work.end[row], duration(work, row)});
  }
}

u32 track_with_most_calls(const Trace& trace) {
  const auto is_call = per_kind(trace, [](const Kind& k) { return k.is_span && is_host_call(k.category); });
  std::vector<Ns> calls(trace.tracks().size());
  for (EventId e = 0; e < trace.size(); ++e)
    if (is_call[trace.kind[e]] && launches(trace.name_of(e))) ++calls[trace.track[e]];
  return static_cast<u32>(most(calls).first);
}

}  // namespace

WorkSequence work_sequence(const Trace& trace) {
  WorkSequence sequence;
  const DeviceWork& work = trace.device_work();
  if (work.event.empty()) {
    add_calls(trace, track_with_most_calls(trace), true, sequence.items);
    sort_by_call(sequence.items);
    sequence.share = 1;
    return sequence;
  }
  std::vector<Ns> by_track(trace.tracks().size()), by_stream(work.streams.size());
  Ns launched = 0, all = 0;
  for (size_t s = 0; s < work.streams.size(); ++s) {
    for (u32 row = work.streams[s].begin; row < work.streams[s].end; ++row) {
      const Ns time = duration(work, row);
      add(by_stream[s], time);
      add(all, time);
      if (work.launch[row] == kNone) continue;
      add(launched, time);
      add(by_track[trace.track[work.launch[row]]], time);
    }
  }
  Ns taken = 0;
  if (launched >= all - launched) {
    const auto [track, time] = most(by_track);
    taken = time;
    add_launched(trace, static_cast<u32>(track), sequence.items);
    add_calls(trace, static_cast<u32>(track), false, sequence.items);
    sort_by_call(sequence.items);
  } else {
    const auto [stream, time] = most(by_stream);
    taken = time;
    add_stream(trace, work.streams[stream], sequence.items);
  }
  sequence.share = all > 0 ? static_cast<double>(taken) / static_cast<double>(all) : 0;
  return sequence;
}

}  // namespace spotter::trace
