#include "analyze/replay/skeleton_builder.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyze/communication/collective_names.h"
#include "analyze/replay/blocked_launches.h"
#include "analyze/replay/gap_cause.h"
#include "analyze/replay/host_calls.h"
#include "analyze/replay/host_skeleton.h"
#include "analyze/replay/recorded_part.h"
#include "analyze/replay/run_hull.h"
#include "analyze/replay/skeleton_writer.h"
#include "analyze/replay/unfinished.h"
#include "analyze/replay/work_kinds.h"
#include "trace/devices.h"

namespace spotter::analyze {
namespace {

// A host that launches nothing for longer than this does something else.
constexpr Ns kLongGap = 200'000;
// So much longer than usual a launch call waits: for room in the queue, or for its own copy.
constexpr Ns kLongCall = 20'000;
constexpr Ns kUsualCalls = 4;
// What clocks of host and device are apart by where they agree.
constexpr Ns kClocks = 10'000;

class Builder {
 public:
  explicit Builder(const Trace& trace)
      : trace_(trace),
        work_(trace.device_work()),
        dependencies_(trace),
        found_(host_items(trace, dependencies_)),
        out_(trace, found_.tracks),
        kinds_(trace),
        gap_cause_(trace),
        streams_(work_.streams.size()),
        row_of_(work_.event.size(), kNone),
        is_awaited_(work_.event.size()) {
    for (u32 s = 0; s < work_.streams.size(); ++s)
      for (u32 row = work_.streams[s].begin; row < work_.streams[s].end; ++row) stream_of_.push_back(s);
    std::vector<CollectiveCall> calls = collective_calls(trace, Sends::taken).calls;
    host_calls_ = take_host_calls(trace, calls, found_);
    row_of_host_call_.resize(host_calls_.size());
    for (CollectiveCall& call : calls)
      if (call.kernel != kNone) calls_.emplace(call.kernel, std::move(call));
    find_awaited();
  }

  Skeleton build() && {
    for (const HostItem& item : found_.items) take(item);
    finish();
    return std::move(out_.skeleton());
  }

 private:
  struct StreamState {
    Ns end = -kMaxTime;      // of its work so far
    Ns ready = -kMaxTime;    // the latest of that and of what it waits for
    EventId launch = kNone;  // of its last work
    std::unordered_map<u32, u32> awaited =
        {};  // by stream: the last row of DeviceWork that it waited for, + 1
  };

  // Rows that others wait for end their run: else it would seem that they waited for all of it.
  void find_awaited() {
    std::vector<u32> awaited;
    first_awaited_.assign(work_.event.size() + 1, 0);
    for (u32 row = 0; row < work_.event.size(); ++row) {
      awaited.clear();
      dependencies_.awaited_by_row(row, awaited);
      StreamState& stream = streams_[stream_of_[row]];
      for (const u32 other : awaited) {
        u32& last = stream.awaited[stream_of_[other]];
        if (stream_of_[other] == stream_of_[row] || other < last) continue;
        last = other + 1;
        is_awaited_[other] = 1;
        awaited_.push_back(other);
      }
      first_awaited_[row + 1] = static_cast<u32>(awaited_.size());
    }
    for (const HostItem& item : found_.items)
      if (item.kind == HostItem::Kind::sync) is_awaited_[found_.rows[item.first]] = 1;
    for (const HostCall& call : host_calls_)
      for (const u32 row : call.awaited) is_awaited_[row] = 1;
  }

  void take(const HostItem& item) {
    if (item.kind != HostItem::Kind::arrival) take_gap(item);
    switch (item.kind) {
      case HostItem::Kind::step:
        kinds_.write_step(out_.skeleton());
        is_open_ = false;
        out_.push_step(item.begin, item.step, work_end());
        break;
      case HostItem::Kind::end:
        push_end(item.begin);
        break;
      case HostItem::Kind::pause:
        push_pause(item.cause, item.begin, item.end, trace_.name[item.event], kNone);
        break;
      case HostItem::Kind::sync:
        take_sync(item, found_.rows[item.first]);
        break;
      case HostItem::Kind::issue:
        issue(host_calls_[item.first], item.first);
        break;
      case HostItem::Kind::arrival:
        wait_for(row_of_host_call_[item.first], item.begin);
        break;
      case HostItem::Kind::launch:
        take_launch(item);
        break;
    }
    cursor_ = std::max(cursor_, item.end);
    if (item.event != kNone) last_event_ = item.event;
  }

  // Of what has been launched.
  Ns work_end() const {
    Ns end = -kMaxTime;
    for (const StreamState& stream : streams_) end = std::max(end, stream.end);
    return end;
  }

  void push_end(Ns at) {
    const Ns end = std::max(at, work_end());
    push(at, {.op = SkeletonOp::end,
              .name = out_.skeleton().strings.intern(device_name()),
              .start = trace_.info().base_ns + at,
              .end = trace_.info().base_ns + end,
              .number = work_.streams[0].device});
  }

  std::string_view device_name() const {
    const Device* device =
        work_.streams.empty() ? nullptr : trace::device_of(trace_.info().devices, work_.streams[0].device);
    return device ? std::string_view(device->name) : std::string_view();
  }

  void take_gap(const HostItem& next) {
    const Ns begin = cursor_, end = next.begin;
    const bool after_sync = std::exchange(was_sync_, false);
    if (begin == -kMaxTime || end <= begin) return;
    const bool ends_step = next.kind == HostItem::Kind::step || next.kind == HostItem::Kind::end;
    if (end - begin <= kLongGap && (!after_sync || ends_step)) return;
    out_.advance(begin);
    push_pause(end - begin > kLongGap ? gap_cause_.of(begin, end) : Cause::after_sync, begin, end,
               out_.cover().name_in(begin, end, next.event), next.event);
  }

  void push_pause(Cause kind, Ns begin, Ns end, StringId name, EventId next) {
    is_open_ = false;
    out_.push_pause(kind, begin, end, name, last_event_, next);
  }

  void take_sync(const HostItem& item, u32 awaited) {
    if (row_of_[awaited] == kNone) return;  // it has no place in the program yet: its launch is not known
    push(item.begin, {.op = SkeletonOp::await, .target = row_of_[awaited]});
    // A copy from or to pageable memory is waited for twice: in its own call, and right behind it.
    const Cause kind = awaited == copied_ ? Cause::copy : item.cause;
    push(item.begin,
         {.op = SkeletonOp::sync, .cause = kind, .name = out_.intern(out_.cover().around(item.event))});
    wait_until(work_.end[awaited], item.end);
  }

  // What of [now, end) was before `awaited` is no host time.
  void wait_until(Ns awaited, Ns end) {
    out_.wait_until(std::min(awaited, end));
    out_.advance(end);
    was_sync_ = true;
    is_open_ = false;
  }

  void take_launch(const HostItem& item) {
    const auto rows = std::span(found_.rows).subspan(item.first, item.count);
    const u32 last = rows.back();
    const bool is_long =
        item.event != kNone && item.end - item.begin > kUsualCalls * found_.usual_call + kLongCall;
    const bool is_blocking_copy =
        is_long && work_.kind[last] == trace::WorkKind::memory && work_.end[last] <= item.end + kClocks;
    if (is_blocking_copy) is_open_ = false;  // it has a row of its own
    for (const u32 row : rows) take_work(item, row);
    if (!is_long) return;
    if (is_blocking_copy) {
      push(item.begin, {.op = SkeletonOp::await, .target = row_of_[last]});
      push(item.begin, {.op = SkeletonOp::sync,
                        .cause = Cause::copy,
                        .name = out_.intern(out_.cover().around(item.event))});
      copied_ = last;
      return wait_until(work_.end[last], item.end);
    }
    if (outstanding(work_, last, item.begin) < kFullQueue) return;
    out_.advance(item.begin + found_.usual_call);
    out_.wait_until(item.end);
    is_open_ = false;
  }

  void take_work(const HostItem& item, u32 row) {
    StreamState& stream = streams_[stream_of_[row]];
    const Ns start = work_.start[row], end = work_.end[row];
    for (u32 i = first_awaited_[row]; i < first_awaited_[row + 1]; ++i)
      await(stream, awaited_[i], item.begin, row);
    // Of what it could wait for the latest explains its start, and takes all the time up to it. What nothing
    // launched and nothing is before is there when it is.
    const bool is_first = stream.ready == -kMaxTime,
               is_launched = item.event != kNone && std::exchange(stream.launch, item.event) != item.event;
    const Ns usual = item.begin + dependencies_.usual_launch_time();
    const bool by_launch = is_first || (is_launched && usual >= stream.ready);
    const Ns gap = by_launch ? 0 : std::max<Ns>(0, start - stream.ready);
    std::optional<Ns> arrival;
    if (by_launch || is_launched) arrival = by_launch ? start : std::min(usual, start);
    // Work that runs beside the work before it only adds what it is longer.
    const Ns dur = std::min(end - start, std::max<Ns>(0, end - std::max(stream.end, start)));
    const auto call = calls_.find(work_.event[row]);
    if (call != calls_.end())
      push_collective(call->second, item.begin, row, arrival, gap);
    else
      add_to_run(item.begin, row, arrival, gap, dur);
    if (call == calls_.end()) kinds_.add(work_.event[row]);
    stream.end = std::max(stream.end, end);
    stream.ready = stream.end;
    row_of_[row] = static_cast<u32>(out_.skeleton().rows.size() - 1);
    if (is_awaited_[row]) is_open_ = false;
  }

  void await(StreamState& stream, u32 other, Ns at, u32 row) {
    if (row_of_[other] == kNone || work_.end[other] > work_.start[row]) return;
    stream.ready = std::max(stream.ready, work_.end[other]);
    push(at, {.op = SkeletonOp::wait, .stream = stream_of_[row], .target = row_of_[other]});
  }

  void add_to_run(Ns at, u32 row, std::optional<Ns> arrival, Ns gap, Ns dur) {
    const auto add = [&] {
      RunHull hull(out_.skeleton());
      if (arrival) return hull.add(std::max<Ns>(0, *arrival - run_begin_), gap, dur);
      hull.extend(gap, dur);
      return true;
    };
    if (is_open_ && out_.skeleton().rows.back().stream == stream_of_[row] && add()) return;
    push(at, {.op = SkeletonOp::run, .stream = stream_of_[row]});
    run_begin_ = std::max(at, out_.mark());
    is_open_ = true;
    add();
  }

  void push_collective(const CollectiveCall& call, Ns at, u32 row, std::optional<Ns> arrival, Ns gap) {
    const CollectiveMessage message = message_of(trace_, call);
    const std::string operation = operation_of(call.name);
    const std::optional<i64> size = measured_bytes(message, operation);
    const double factor = bus_factor(operation, message.ranks).value_or(1);
    SkeletonRow one = {.op = SkeletonOp::collective,
                       .name = out_.skeleton().strings.intern(operation),
                       .group = out_.skeleton().strings.intern(group_words(call)),
                       .stream = stream_of_[row],
                       .gap = gap,
                       .start = trace_.info().base_ns + call.start,
                       .end = trace_.info().base_ns + call.end,
                       .count = static_cast<i64>(static_cast<double>(size.value_or(0)) * factor),
                       .number = call.sequence,
                       .peer = peer_of(call)};
    if (!arrival) return push(at, one);
    const HullPoint launch = {.lead = std::max<Ns>(0, *arrival - std::max(at, out_.mark()))};
    push(at, one, std::span(&launch, 1));
  }

  // On a stream of its thread's own. How many bytes it moves is not told: they take no link between devices.
  void issue(const HostCall& call, u32 number) {
    const u32 stream = static_cast<u32>(work_.streams.size()) + call.stream;
    Ns ready = call.call.start;
    for (const u32 row : call.awaited)
      if (row_of_[row] != kNone) {
        push(call.call.start, {.op = SkeletonOp::wait, .stream = stream, .target = row_of_[row]});
        ready = std::max(ready, work_.end[row]);
      }
    const bool waited = ready > call.call.start;
    const HullPoint launch = {.lead = waited ? 0 : call.start - call.call.start};
    const std::string operation = operation_of(call.call.name.substr(call.call.name.find(':') + 1));
    push(call.call.start,
         {.op = SkeletonOp::collective,
          .cause = Cause::host_thread,
          .name = out_.skeleton().strings.intern(operation),
          .group = out_.skeleton().strings.intern(group_words(call.call)),
          .stream = stream,
          .gap = waited ? std::max<Ns>(0, call.start - ready) : 0,
          .start = trace_.info().base_ns + call.start,
          .end = trace_.info().base_ns + call.end,
          .number = call.call.sequence},
         std::span(&launch, 1));
    row_of_host_call_[number] = static_cast<u32>(out_.skeleton().rows.size() - 1);
  }

  // Since it did something last.
  void wait_for(u32 host_call, Ns end) {
    const Ns at = std::min(cursor_, end);
    push(at, {.op = SkeletonOp::await, .target = host_call});
    push(at, {.op = SkeletonOp::sync, .cause = Cause::silence});
    out_.wait_until(end);
  }

  // Also what the group is for, as the program says: "5 [0, 1] mesh_tp".
  std::string group_words(const CollectiveCall& call) const {
    const std::string group =
        call.group.substr(std::min(call.group.find_first_not_of(' '), call.group.size()));
    for (const EventId e : {call.kernel, call.record})
      if (const auto text = e == kNone ? std::nullopt : trace_.text(e, Arg::group_desc);
          text && !text->empty())
        return group + " " + std::string(*text);
    return group;
  }

  i64 peer_of(const CollectiveCall& call) const {
    for (const EventId e : {call.kernel, call.record})
      for (const Arg arg : {Arg::src_rank, Arg::dst_rank})
        if (const auto rank = e == kNone ? std::nullopt : trace_.integer(e, arg)) return *rank;
    return kNoPeer;
  }

  void push(Ns at, const SkeletonRow& row, std::span<const HullPoint> points = {}) {
    is_open_ = false;
    out_.push(at, row, points);
  }

  void finish() {
    out_.advance(cursor_);
    kinds_.write_step(out_.skeleton());
    add_open_spans(trace_, out_.skeleton());
    add_last_calls(trace_, out_.skeleton());
    for (const SkeletonRow& row : out_.skeleton().rows)
      if (row.op == SkeletonOp::run) RunHull::finish(out_.skeleton(), row);
  }

  const Trace& trace_;
  const trace::DeviceWork& work_;
  const Dependencies dependencies_;
  HostItems found_;
  SkeletonWriter out_;
  WorkKinds kinds_;
  const GapCause gap_cause_;
  std::vector<u32> stream_of_;                         // per row of DeviceWork
  std::unordered_map<EventId, CollectiveCall> calls_;  // by kernel
  std::vector<HostCall> host_calls_;
  std::vector<u32> row_of_host_call_;
  std::vector<StreamState> streams_;
  std::vector<u32> row_of_;  // of the program, per row of DeviceWork
  std::vector<u8> is_awaited_;
  std::vector<u32> awaited_, first_awaited_;  // per row of DeviceWork: those it waits for

  Ns cursor_ = -kMaxTime;  // the host is in no item from here on
  Ns run_begin_ = 0;
  bool is_open_ = false;  // the last row is a run that may go on
  bool was_sync_ = false;
  u32 copied_ = kNone;  // the row of the last copy that its own call waited for
  EventId last_event_ = kNone;
};

}  // namespace

Skeleton build_skeleton(const Trace& trace) {
  Skeleton skeleton = trace.device_work().event.empty() ? build_host_skeleton(trace) : Builder(trace).build();
  note_recorded_part(trace, skeleton);
  return skeleton;
}

}  // namespace spotter::analyze
