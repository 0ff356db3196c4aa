#include "analyze/communication/collective_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/communication/collective_names.h"
#include "trace/facts/collective_marks.h"
#include "trace/nesting.h"

namespace spotter::analyze {
namespace {

// Several calls at once, which may be collectives or sends and receives: only their kernels tell.
bool is_coalesced(std::string_view name) { return name == "coalesced" || name == "nccl:coalesced"; }

bool is_communication_kernel(const Trace& trace, const trace::DeviceWork& work, u32 row) {
  return work.kind[row] == trace::WorkKind::communication &&
         trace.category(work.event[row]) != Category::gpu_memcpy;
}

// To 2021 annotations were operators.
bool may_be_annotation(Category category) {
  return category == Category::user_annotation || category == Category::cpu_op;
}

// Kernels of PyTorch before 2.4 do not say of which collective they are, nor do those whose link to the host
// is lost, and their names may be wrong: NCCL had one kernel for several. What is around the launch knows.
class LaunchSites {
 public:
  explicit LaunchSites(const Trace& trace) : trace_(trace) {}

  // Fills in what is on the host.
  void find(EventId launch, CollectiveCall& call) {
    if (launch == kNone) return;
    if (place_.empty()) index();
    if (place_[launch] == kNone) return;
    const trace::Nesting& nesting = trace_.nesting();
    for (u32 at = nesting.parent[place_[launch]]; at != kNone && call.op == kNone; at = nesting.parent[at])
      take(nesting.order[at], call);
  }

 private:
  void index() {
    place_.assign(trace_.size(), kNone);
    const std::vector<EventId>& order = trace_.nesting().order;
    for (u32 i = 0; i < order.size(); ++i)
      if (is_host_call(trace_.category(order[i]))) place_[order[i]] = i;
  }

  void take(EventId e, CollectiveCall& call) const {
    if (!may_be_annotation(trace_.category(e))) return;
    const std::string_view name = trace_.name_of(e);
    if (call.annotation == kNone &&
        trace::backend_of_mark(name).backend == trace::CollectiveBackend::on_device)
      call.annotation = e;
    else if (call.record == kNone && name == "record_param_comms")
      call.record = e;
    else if (name.starts_with("c10d::"))
      call.op = e;
  }

  const Trace& trace_;
  std::vector<u32> place_;  // by event: of host calls in Nesting::order; empty until one is looked for
};

std::string_view collective_name(const Trace& trace, EventId e) {
  return e == kNone ? std::string_view() : trace.text(e, Arg::collective_name).value_or(std::string_view());
}

// Empty where nothing but the kernel's own name tells.
std::string_view told_name(const Trace& trace, const CollectiveCall& call) {
  std::string_view name = collective_name(trace, call.kernel);
  if (name.empty()) name = collective_name(trace, call.record);
  if (name.empty() && call.annotation != kNone) name = trace.name_of(call.annotation);
  return is_coalesced(name) ? std::string_view() : name;
}

// Of the kernel, else of what launched it; at least `fallback`.
i64 told_number(const Trace& trace, const CollectiveCall& call, Arg arg, i64 fallback) {
  std::optional<i64> number = trace.integer(call.kernel, arg);
  if (!number && call.record != kNone) number = trace.integer(call.record, arg);
  return std::max(number.value_or(fallback), fallback);
}

void add_device_collectives(const Trace& trace, Sends sends, CollectiveCalls& found) {
  const trace::DeviceWork& work = trace.device_work();
  LaunchSites sites(trace);
  for (const trace::Stream& stream : work.streams) {
    for (u32 row = stream.begin; row < stream.end; ++row) {
      if (!is_communication_kernel(trace, work, row)) continue;
      CollectiveCall call{.start = work.start[row], .end = work.end[row], .kernel = work.event[row]};
      if (collective_name(trace, call.kernel).empty()) sites.find(work.launch[row], call);
      call.name = told_name(trace, call);
      const bool is_named = !call.name.empty();
      if (!is_named) call.name = trace.name_of(call.kernel);
      if (sends == Sends::left_out && is_point_to_point(call.name)) {
        found.unclear += is_named ? 0 : 1;
        continue;
      }
      call.group = group_of(trace, call.kernel);
      if (call.group.empty()) call.group = group_of(trace, call.record);
      if (call.group.empty()) call.group = fmt::format("stream {}", stream.stream);
      call.sequence = told_number(trace, call, Arg::seq, kNoSequence);
      call.group_size = told_number(trace, call, Arg::group_size, 0);
      found.calls.push_back(std::move(call));
    }
  }
}

void add_host_collectives(const Trace& trace, trace::CollectiveBackend backend, CollectiveCalls& found) {
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!may_be_annotation(trace.category(e)) || !trace.is_span(e)) continue;
    const std::string_view name = trace.name_of(e);
    if (trace::backend_of_mark(name).backend != backend || is_point_to_point(name) || is_coalesced(name))
      continue;
    const bool is_timed = backend == trace::CollectiveBackend::on_host;
    found.calls.push_back({.name = name,
                           .start = trace.ts[e],
                           .end = is_timed ? trace.end(e) : trace.ts[e],
                           .is_timed = is_timed,
                           .annotation = e});
  }
}

}  // namespace

std::string group_of(const Trace& trace, EventId e) {
  std::string group;
  if (e == kNone) return group;
  for (const Arg arg : {Arg::group_name, Arg::group_ranks}) {
    const auto text = trace.text(e, arg);
    if (text && !text->empty())
      group += fmt::format(" {}", *text);
    else if (const auto number = trace.integer(e, arg))
      group += fmt::format(" {}", *number);
  }
  return group;
}

CollectiveCalls collective_calls(const Trace& trace, Sends sends) {
  CollectiveCalls found;
  add_device_collectives(trace, sends, found);
  if (found.calls.empty()) add_host_collectives(trace, trace::CollectiveBackend::on_host, found);
  if (found.calls.empty()) add_host_collectives(trace, trace::CollectiveBackend::on_device, found);
  return found;
}

void note_unclear(const CollectiveCalls& found, Notes& notes) {
  if (found.unclear > 0)
    notes.add("unclear_collectives", Severity::info,
              "kernels that send and receive do not say of which collective they are a part, if of any, "
              "and were left out",
              -1, found.unclear);
}

}  // namespace spotter::analyze
