#include "analyze/replay/unfinished.h"

#include <algorithm>
#include <map>
#include <string>

#include "analyze/communication/collective_calls.h"
#include "analyze/replay/unnamed_calls.h"
#include "trace/extent.h"
#include "trace/nesting.h"
#include "trace/per_kind.h"

namespace spotter::analyze {
namespace {

struct Group {
  i64 made = 0, ended = 0;
  Ns last = 0;  // when the last one was made
  EventId record = kNone;
};

// Before PyTorch 2.7 spans do not say that they had not ended: they end with the recording then.
bool has_ended(const Trace& trace, EventId e, Ns recorded_until) {
  return trace.integer(e, Arg::finished).value_or(1) != 0 && trace.end(e) < recorded_until;
}

}  // namespace

void add_open_spans(const Trace& trace, Skeleton& skeleton) {
  for (const EventId e : trace.nesting().order) {
    if (trace.integer(e, Arg::finished).value_or(1) == 0)
      skeleton.rows.push_back({.op = SkeletonOp::open_span,
                               .name = skeleton.strings.intern(trace.name_of(e)),
                               .at = trace.info().base_ns + trace.ts[e],
                               .number = std::ssize(trace.info().devices)});
  }
}

void add_last_calls(const Trace& trace, Skeleton& skeleton) {
  std::map<std::string, Group> groups;
  const trace::Nesting& nesting = trace.nesting();
  const StringId record = trace.strings().find("record_param_comms");
  Ns recorded_until = -kMaxTime;
  for (const EventId e : nesting.order) recorded_until = std::max(recorded_until, trace.end(e));
  const Ns until = std::max(recorded_until, trace::recorded_until(trace).value_or(recorded_until));
  for (const EventId e : nesting.order) {
    if (record == kNone || trace.name[e] != record || !has_ended(trace, e, recorded_until)) continue;
    // Before PyTorch 2.4 it does not say whose it is: all of a rank are one group then.
    Group& group = groups[group_of(trace, e)];
    ++group.made;
    if (trace.ts[e] < group.last) continue;
    group.last = trace.ts[e];
    group.record = e;
  }
  for (const CollectiveCall& call : collective_calls(trace, Sends::taken).calls)
    if (const auto group = groups.find(is_unnamed(call.group) ? "" : call.group); group != groups.end())
      ++group->second.ended;
  for (const auto& [name, group] : groups)
    skeleton.rows.push_back(
        {.op = SkeletonOp::last_call,
         .name = skeleton.strings.intern(trace.text(group.record, Arg::collective_name).value_or("")),
         .group = skeleton.strings.intern(
             std::string_view(name).substr(std::min(name.find_first_not_of(' '), name.size()))),
         .at = trace.info().base_ns + group.last,
         .end = trace.info().base_ns + until,
         .count = group.made,
         .number = group.ended});
}

}  // namespace spotter::analyze
