#include "analyze/job/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/utf8.h"
#include "trace/device_work.h"
#include "trace/nesting.h"

namespace spotter::analyze {
namespace {

constexpr std::string_view kNcclPrefix = "nccl:", kGlooPrefix = "gloo:";

bool is_point_to_point(std::string_view name) {
  const std::string lower = ascii_lower(name);
  return lower.find("send") != lower.npos || lower.find("recv") != lower.npos;
}

// Several calls at once, which may be collectives or sends and receives: only their kernels tell.
bool is_coalesced(std::string_view name) { return name == "coalesced" || name == "nccl:coalesced"; }

bool is_communication_kernel(const Trace& trace, const trace::DeviceWork& work, u32 row) {
  return work.kind[row] == trace::WorkKind::communication &&
         trace.category(work.event[row]) != Category::gpu_memcpy;
}

// Kernels of PyTorch before 2.4 do not say of which collective they are, and their names may be wrong: NCCL
// had one kernel for several. The `nccl:` annotation around the launch knows.
class Annotations {
 public:
  explicit Annotations(const Trace& trace) : trace_(trace) {}

  // Empty where there is none.
  std::string_view around(EventId launch) {
    if (launch == kNone) return {};
    if (place_.empty()) index();
    const auto place = place_.find(launch);
    if (place == place_.end()) return {};
    const trace::Nesting& nesting = trace_.nesting();
    for (u32 at = nesting.parent[place->second]; at != kNone; at = nesting.parent[at]) {
      const std::string_view name = trace_.name_of(nesting.order[at]);
      if (trace_.category(nesting.order[at]) == Category::user_annotation && name.starts_with(kNcclPrefix))
        return name;
    }
    return {};
  }

 private:
  void index() {
    const trace::Nesting& nesting = trace_.nesting();
    for (u32 i = 0; i < nesting.order.size(); ++i)
      if (is_host_call(trace_.category(nesting.order[i]))) place_.emplace(nesting.order[i], i);
  }

  const Trace& trace_;
  std::unordered_map<EventId, u32> place_;  // of host calls in Nesting::order
};

// Both, as groups that have no rank in common may have one name. Empty where the trace says neither.
std::string group_of(const Trace& trace, EventId e) {
  std::string group;
  for (const Arg arg : {Arg::group_name, Arg::group_ranks}) {
    if (const auto text = trace.text(e, arg))
      group += fmt::format(" {}", *text);
    else if (const auto number = trace.integer(e, arg))
      group += fmt::format(" {}", *number);
  }
  return group;
}

void add_device_collectives(const Trace& trace, Collectives& found) {
  const trace::DeviceWork& work = trace.device_work();
  Annotations annotations(trace);
  for (const trace::Stream& stream : work.streams) {
    for (u32 row = stream.begin; row < stream.end; ++row) {
      if (!is_communication_kernel(trace, work, row)) continue;
      const EventId e = work.event[row];
      std::string_view name = trace.text(e, Arg::collective_name).value_or(std::string_view());
      if (name.empty()) name = annotations.around(work.launch[row]);
      if (is_coalesced(name)) name = {};
      const bool is_named = !name.empty();
      if (!is_named) name = trace.name_of(e);
      if (is_point_to_point(name)) {
        found.unclear += is_named ? 0 : 1;
        continue;
      }
      std::string group = group_of(trace, e);
      if (group.empty()) group = fmt::format("stream {}", stream.stream);
      found.runs.push_back({std::move(group), name,
                            std::max(trace.integer(e, Arg::seq).value_or(kNoSequence), kNoSequence),
                            work.start[row], work.end[row]});
    }
  }
}

void add_host_collectives(const Trace& trace, Collectives& found) {
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.category(e) != Category::user_annotation || !trace.is_span(e)) continue;
    const std::string_view name = trace.name_of(e);
    if (name.starts_with(kGlooPrefix) && !is_point_to_point(name))
      found.runs.push_back({"", name, kNoSequence, trace.ts[e], trace.end(e)});
  }
}

}  // namespace

Collectives collectives_of(const Trace& trace) {
  Collectives found;
  add_device_collectives(trace, found);
  if (found.runs.empty()) add_host_collectives(trace, found);
  return found;
}

}  // namespace spotter::analyze
