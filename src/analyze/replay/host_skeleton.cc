#include "analyze/replay/host_skeleton.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "analyze/communication/collective_calls.h"
#include "analyze/communication/collective_message.h"
#include "analyze/communication/collective_names.h"
#include "analyze/operators/threads.h"
#include "analyze/replay/host_items.h"
#include "analyze/replay/skeleton_writer.h"
#include "analyze/replay/unfinished.h"
#include "analyze/replay/work_kinds.h"
#include "trace/annotations.h"
#include "trace/extent.h"
#include "trace/facts/collective_marks.h"
#include "trace/facts/data_loading.h"
#include "trace/nesting.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

constexpr Ns kLongGap = 200'000;
// A thread that waited for a call goes on that long after its end: the worker's span may end later than that.
constexpr Ns kReaction = 2'000'000;
constexpr i64 kReactionPart = 20;  // or this part of the call

// A piece of the main thread's time.
struct Piece {
  enum class Kind : u8 { end, step, issue, pause, work, wait };
  Kind kind;
  Ns begin, end;
  EventId event = kNone;
  i64 step = 0;
  size_t call = 0;       // of issue and wait
  bool is_rest = false;  // of work: the event's beginning is a piece of its own
};

class Builder {
 public:
  explicit Builder(const Trace& trace)
      : trace_(trace), track_(main_track(trace)), out_(trace, std::span(&track_, 1)), kinds_(trace) {
    read_calls();
    read_thread();
    read_gaps();
    for (const trace::Step& s : trace.steps().steps)
      add({Piece::Kind::step, s.start, s.start, kNone, s.number});
    if (trace.steps().steps.empty() && !pieces_.empty()) add({Piece::Kind::step, first_, first_});
    const Ns last = trace.steps().steps.empty()
                        ? last_
                        : std::ranges::max_element(trace.steps().steps, {}, &trace::Step::end)->end;
    if (!pieces_.empty()) add({Piece::Kind::end, last, last});
    std::ranges::sort(pieces_, {}, [](const Piece& p) { return std::tuple(p.begin, p.kind, p.event); });
  }

  Skeleton build() && {
    for (const Piece& piece : pieces_) take(piece);
    out_.advance(last_);
    kinds_.write_step(out_.skeleton());
    if (!out_.is_empty()) add_open_spans(trace_, out_.skeleton());
    if (const auto until = trace::recorded_until(trace_); until && !out_.is_empty())
      out_.skeleton().rows.push_back({.op = SkeletonOp::recorded, .at = trace_.info().base_ns + *until});
    return std::move(out_.skeleton());
  }

 private:
  void add(Piece piece) { pieces_.push_back(piece); }

  void read_calls() {
    for (CollectiveCall& call : collective_calls(trace_, Sends::taken).calls)
      if (call.is_timed) calls_.push_back(std::move(call));
    std::ranges::sort(calls_, {}, [](const CollectiveCall& c) { return std::pair(c.start, c.annotation); });
  }

  // Its outermost operators, in annotations or not.
  void read_thread() {
    const trace::Annotations annotations(trace_);
    const trace::Nesting& nesting = trace_.nesting();
    size_t issued = 0;
    for (const trace::Nesting::Thread& thread : nesting.threads) {
      if (thread.track != track_) continue;
      Ns covered = -kMaxTime;
      for (u32 i = thread.begin; i < thread.end; ++i) {
        const EventId e = nesting.order[i];
        const std::string_view name = trace_.name_of(e);
        if (is_step_mark(trace_.steps(), name)) continue;
        if (name.starts_with("c10d::") && issued < calls_.size()) add_issue(e, issued++);
        if (trace_.ts[e] < covered || trace_.dur[e] == 0) continue;
        const bool loads = trace::is_data_loading(name);
        const bool works =
            trace_.category(e) == Category::cpu_op && !annotations.has(e) && !trace::is_collective_mark(name);
        if (!loads && !works) continue;
        covered = trace_.end(e);
        add({loads ? Piece::Kind::pause : Piece::Kind::work, trace_.ts[e], covered, e});
        first_ = std::min(first_, trace_.ts[e]);
        last_ = std::max(last_, covered);
      }
    }
  }

  // Within an operator, as DDP's are in those of autograd, its work goes on behind the call.
  void add_issue(EventId e, size_t call) {
    const Ns at = trace_.ts[e];
    std::optional<Piece> rest;
    if (!pieces_.empty() && pieces_.back().kind == Piece::Kind::work && pieces_.back().begin < at &&
        at < pieces_.back().end) {
      rest = pieces_.back();
      rest->begin = pieces_.back().end = at;
      rest->is_rest = true;
    }
    add({Piece::Kind::issue, at, at, e, 0, call});
    if (rest) add(*rest);
  }

  // Gaps in which it waits for calls: each call for the gap that it overlaps most.
  void read_gaps() {
    std::vector<Piece> busy = pieces_;
    std::erase_if(busy, [](const Piece& p) { return p.kind == Piece::Kind::issue; });
    std::ranges::sort(busy, {}, &Piece::begin);
    std::map<std::pair<Ns, Ns>, size_t> awaited;  // gap -> the call that ends last
    for (size_t c = 0; c < calls_.size(); ++c) {
      const Ns reaction = std::max(kReaction, (calls_[c].end - calls_[c].start) / kReactionPart);
      std::optional<std::pair<Ns, Ns>> best;
      Ns most = 0;
      const auto after = std::ranges::lower_bound(busy, calls_[c].start, {}, &Piece::end);
      for (auto next = after; next != busy.end(); ++next) {
        const Ns begin = next == busy.begin() ? first_ : std::prev(next)->end;
        if (begin >= calls_[c].end) break;
        const Ns overlap = std::min(next->begin, calls_[c].end) - std::max(begin, calls_[c].start);
        const Ns late = next->begin - calls_[c].end;
        if (overlap <= most || late > reaction || -late > reaction) continue;
        best = {begin, next->begin};
        most = overlap;
      }
      if (!best) continue;
      const auto [gap, is_new] = awaited.try_emplace(*best, c);
      if (!is_new && calls_[c].end > calls_[gap->second].end) gap->second = c;
    }
    for (const auto& [gap, call] : awaited) add({Piece::Kind::wait, gap.first, gap.second, kNone, 0, call});
  }

  void take(const Piece& piece) {
    take_gap(piece);
    switch (piece.kind) {
      case Piece::Kind::step:
        kinds_.write_step(out_.skeleton());
        out_.push_step(piece.begin, piece.step, piece.begin);
        break;
      case Piece::Kind::end:
        out_.push(piece.begin, {.op = SkeletonOp::end,
                                .start = trace_.info().base_ns + piece.begin,
                                .end = trace_.info().base_ns + piece.begin});
        break;
      case Piece::Kind::issue:
        push_call(calls_[piece.call], piece);
        break;
      case Piece::Kind::pause:
        out_.push_pause(Cause::data_loading, piece.begin, piece.end, trace_.name[piece.event], last_event_,
                        piece.event);
        break;
      case Piece::Kind::work:
        if (out_.is_empty() || out_.last().op != SkeletonOp::compute)
          out_.push(piece.begin, {.op = SkeletonOp::compute});
        out_.advance(piece.begin);
        out_.last().device += piece.end - piece.begin;
        out_.wait_until(piece.end);
        if (piece.is_rest) break;
        ++out_.last().count;
        kinds_.add(piece.event);
        break;
      case Piece::Kind::wait:
        wait_for(piece);
        break;
    }
    cursor_ = std::max(cursor_, piece.end);
    if (piece.event != kNone) last_event_ = piece.event;
  }

  void take_gap(const Piece& next) {
    if (cursor_ == -kMaxTime || next.begin - cursor_ <= kLongGap) return;
    out_.advance(cursor_);
    out_.push_pause(Cause::silence, cursor_, next.begin, out_.cover().name_in(cursor_, next.begin, kNone),
                    last_event_, next.event);
  }

  void push_call(const CollectiveCall& call, const Piece& piece) {
    const u32 track = trace_.track[call.annotation];
    const u32 stream = streams_.try_emplace(track, static_cast<u32>(streams_.size())).first->second;
    const CollectiveMessage message = message_of(trace_, call);
    const std::string operation = operation_of(call.name.substr(call.name.find(':') + 1));
    const SkeletonRow row = {.op = SkeletonOp::collective,
                             .name = out_.skeleton().strings.intern(operation),
                             .group = out_.skeleton().strings.intern(call.group),
                             .stream = stream,
                             .start = trace_.info().base_ns + call.start,
                             .end = trace_.info().base_ns + call.end,
                             .count = measured_bytes(message, operation).value_or(0),
                             .number = call.sequence};
    const HullPoint launch = {.lead = std::max<Ns>(0, call.start - piece.begin)};
    row_of_call_[piece.call] = static_cast<u32>(out_.skeleton().rows.size());
    out_.push(piece.begin, row, std::span(&launch, 1));
  }

  void wait_for(const Piece& piece) {
    const auto row = row_of_call_.find(piece.call);
    if (row == row_of_call_.end()) return;
    out_.push(piece.begin, {.op = SkeletonOp::await, .target = row->second});
    out_.push(piece.begin, {.op = SkeletonOp::sync, .cause = Cause::silence});
    out_.wait_until(std::min(calls_[piece.call].end, piece.end));
    out_.advance(piece.end);
  }

  const Trace& trace_;
  const u32 track_;
  SkeletonWriter out_;
  WorkKinds kinds_;
  std::vector<CollectiveCall> calls_;  // by start
  std::vector<Piece> pieces_;          // by time
  Ns first_ = kMaxTime, last_ = -kMaxTime;
  std::unordered_map<u32, u32> streams_;  // of the threads that communicate
  std::unordered_map<size_t, u32> row_of_call_;

  Ns cursor_ = -kMaxTime;
  EventId last_event_ = kNone;
};

}  // namespace

Skeleton build_host_skeleton(const Trace& trace) { return Builder(trace).build(); }

}  // namespace spotter::analyze
