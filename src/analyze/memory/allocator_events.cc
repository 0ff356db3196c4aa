#include "analyze/memory/allocator_events.h"

#include <algorithm>
#include <map>

#include "base/saturated.h"
#include "trace/per_kind.h"
#include "trace/sort_runs.h"

namespace spotter::analyze {
namespace {

// c10/core/DeviceType.h of PyTorch.
std::string type_name(i64 type) {
  static constexpr const char* kNames[] = {
      "CPU",   "CUDA", "MKLDNN", "OPENGL", "OPENCL", "IDEEP", "HIP",  "FPGA", "MAIA", "XLA",        "VULKAN",
      "METAL", "XPU",  "MPS",    "META",   "HPU",    "VE",    "LAZY", "IPU",  "MTIA", "PRIVATEUSE1"};
  return type >= 0 && type < std::ssize(kNames) ? kNames[type] : std::to_string(type);
}

struct Counts {
  i64 unreadable = 0, without_total = 0;
};

void note(const Counts& counts, bool is_empty, Table& table) {
  const auto add = [&](std::string_view kind, Severity severity, std::string_view sentence, i64 count) {
    if (count > 0) table.notes.add(kind, severity, sentence, -1, count);
  };
  add("unreadable_memory_event", Severity::loss, "memory events without a device or a size were left out",
      counts.unreadable);
  add("no_total_allocated", Severity::info,
      "memory events do not say how much is allocated in all; their sizes are added up, from 0 at the first one",
      counts.without_total);
  add("no_memory_events", Severity::info, "traces without memory events have no rows here", is_empty);
}

}  // namespace

std::vector<MemoryDevice> memory_by_device(const Trace& trace, Table& table) {
  const auto may_be = trace::per_kind(trace, [](const Kind& k) {  // before 1.12 instants had no category
    return k.phase == 'i' && (k.category == Category::cpu_instant || k.category == Category::none);
  });
  const StringId name = trace.strings().find("[memory]");
  std::vector<EventId> order;
  for (EventId e = 0; e < trace.size(); ++e)
    if (trace.name[e] == name && may_be[trace.kind[e]]) order.push_back(e);
  std::vector<EventId> spare;
  trace::sort_runs(std::span(order), spare, [&](EventId a, EventId b) { return trace.ts[a] < trace.ts[b]; });

  std::map<std::pair<i64, i64>, MemoryDevice> devices;
  Counts counts;
  for (const EventId e : order) {
    const auto type = trace.integer(e, Arg::device_type), id = trace.integer(e, Arg::device_id),
               bytes = trace.integer(e, Arg::mem_bytes), total = trace.integer(e, Arg::total_allocated);
    if (!type || !id || !bytes) {
      ++counts.unreadable;
      continue;
    }
    counts.without_total += !total;
    std::vector<AllocatorEvent>& events = devices[{*type, *id}].events;
    const i64 before = events.empty() ? 0 : events.back().allocated;
    events.push_back({e, trace.ts[e], *bytes, trace.integer(e, Arg::addr),
                      total ? *total : add_saturated(before, *bytes), trace.integer(e, Arg::total_reserved)});
  }
  note(counts, order.empty(), table);
  std::vector<MemoryDevice> list;
  for (auto& [key, device] : devices) {
    device.type = type_name(key.first);
    device.id = key.second;
    list.push_back(std::move(device));
  }
  return list;
}

size_t peak_of(const MemoryDevice& device) {
  return static_cast<size_t>(std::ranges::max_element(device.events, {}, &AllocatorEvent::allocated) -
                             device.events.begin());
}

}  // namespace spotter::analyze
