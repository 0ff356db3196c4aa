// The host's side: spans, python functions, memory.
#include "simulate/event_writer.h"

#include <algorithm>

#include "simulate/inference.h"

namespace spotter::simulate {
namespace {

constexpr size_t kFlushBytes = 256 << 10;
constexpr i64 kFirstNode = 1'000;

}  // namespace

EventWriter::EventWriter(const Job& job, const RankPlace& place, TraceFile* file, Ns stop)
    : job_(job),
      program_(job.program(place.rank)),
      era_(*job.spec.era),
      place_(place),
      parts_(job, place),
      file_(file),
      stop_(stop),
      span_heads_(2 * program_.spans.size()),
      device_heads_(kStreams * program_.work.size()) {
  for (const Span& span : program_.spans) span_args_.push_back(parts_.span_args(span));
  for (const DeviceWork& work : program_.work) device_tails_.push_back(parts_.device_tail(work));
  for (const Collective& c : program_.collectives)
    collective_args_.push_back(parts_.collective_args(c, true));
  for (u32 thread = 0; thread < 2; ++thread) tids_[thread] = std::to_string(place.thread_id(thread));
  for (u8 s = 0; s < kStreams; ++s) tracks_[s] = parts_.track(static_cast<Stream>(s));
  for (u8 c = 0; c < static_cast<u8>(Call::count_); ++c) {
    const CallName& name = name_of(static_cast<Call>(c));
    for (u32 thread = 0; thread < 2; ++thread)
      call_heads_.push_back(is_known(name.cat) ? parts_.host_head(name.cat, name.name, thread) : "");
    call_args_.push_back(fmt::format("\"cbid\": {}, \"correlation\": ", name.cbid));
  }
}

void EventWriter::time(Ns at) {
  at = kJobStart + place_.clock.at(at);
  if (era_.whole_us)
    text_ << (kClockBase + at) / 1000;
  else
    text_.us(at);
}

void EventWriter::times(Ns start, Ns end) {
  time(start);
  text_ << ", \"dur\": ";
  start = place_.clock.at(start);
  end = place_.clock.at(end);
  if (era_.whole_us)
    text_ << (kJobStart + end) / 1000 - (kJobStart + start) / 1000;
  else
    text_.us(end - start);
}

void EventWriter::event_index() {
  if (era_.event_index) text_ << ", \"" << era_.event_index << "\": " << indices_++;
}

void EventWriter::end_event(std::string_view end) {
  text_ << end;
  ++events_;
  if (text_.size() < kFlushBytes) return;
  if (file_) file_->write(text_.view());
  text_.clear();
}

void EventWriter::enter_step(i64 step, Ns at) {
  step_ = step;
  tally_.begin_step(at);
  open_.push_back({.number = static_cast<u32>(step), .start = at, .id = ++ids_});
}

void EventWriter::enter(const Instruction& i, u32 thread, Ns at) {
  const Span& span = program_.spans[i.what];
  OpenSpan open{.span = &span, .number = i.what, .thread = thread, .start = at};
  if (span.cat == Cat::python_function) {
    open.id = ++python_ids_;
    for (auto outer = open_.rbegin(); outer != open_.rend() && open.parent == 0; ++outer)
      if (outer->span && outer->span->cat == Cat::python_function) open.parent = outer->id;
  } else {
    open.id = ++ids_;
  }
  if (i.id > 0) open.node = kFirstNode + (step_ - job_.spec.first_step) * program_.nodes + i.id;
  if (span.collective >= 0) last_sequence_ = 0;
  open_.push_back(open);
}

void EventWriter::leave(Ns at) { close(at, true); }

void EventWriter::close(Ns at, bool finished) {
  const OpenSpan open = open_.back();
  open_.pop_back();
  const Cat cat = open.span ? open.span->cat : Cat::user_annotation;
  if (!is_known(cat)) return;
  if (!open.span) {
    const std::string name = step_annotation(job_.spec, i64{open.number});
    if (name.empty()) return;
    write_span(open, parts_.host_head(cat, name, open.thread), at, finished);
    write_device_annotations(open, name);
    return;
  }
  std::string& head = span_heads_[2 * size_t{open.number} + open.thread];
  if (head.empty()) head = parts_.host_head(cat, open.span->name, open.thread);
  write_span(open, head, at, finished);
  if (cat == Cat::user_annotation) write_device_annotations(open, open.span->name);
  if (open.node > 0) write_autograd_flow(open);
}

void EventWriter::write_span(const OpenSpan& open, std::string_view head, Ns at, bool finished) {
  text_ << head;
  times(open.start, at);
  text_ << ",\n    \"args\": {\n      ";
  if (open.span && open.span->cat == Cat::python_function) {
    text_ << "\"Python id\": " << open.id << ", \"Python parent id\": ";
    if (open.parent > 0)
      text_ << open.parent;
    else
      text_ << "null";
    if (open.span->module >= 0) text_ << ", \"Python module id\": " << i64{open.span->module};
  } else {
    text_ << "\"" << era_.external_id << "\": " << open.id;
  }
  if (open.span) text_ << span_args_[open.number];
  if (open.node > 0) {
    text_ << ", \"Sequence number\": " << open.node;
    text_ << ", \"Fwd thread id\": " << i64{open.span->is_backward ? 1 : 0};
  }
  if (open.span && open.span->collective >= 0 && era_.collective_args == CollectiveArgs::numbered &&
      last_sequence_ > 0)
    text_ << ", \"Seq\": " << last_sequence_;
  if (!finished && era_.has_facts) text_ << ", \"finished\": false";
  event_index();
  end_event();
}

// From a forward operator to the autograd engine's part on its node.
void EventWriter::write_autograd_flow(const OpenSpan& open) {
  if (!era_.fwdbwd_cat) return;
  const bool ends = open.span->is_backward;
  if (ends && !open.span->name.starts_with("autograd::")) return;
  write_flow(ends ? "f" : "s", open.node, era_.fwdbwd_cat, era_.fwdbwd_name, place_.pid, tids_[open.thread],
             open.start);
}

void EventWriter::write_flow(const char* phase, i64 id, const char* cat, const char* name, i64 pid,
                             std::string_view tid, Ns at) {
  text_ << "  {\n    \"ph\": \"" << phase << "\", \"id\": " << id << ", \"pid\": " << pid
        << ", \"tid\": " << tid << ", \"ts\": ";
  time(at);
  text_ << ",\n    \"cat\": \"" << cat << "\", \"name\": \"" << name;
  end_event(*phase == 'f' ? "\", \"bp\": \"e\"\n  },\n" : "\"\n  },\n");
}

void EventWriter::memory(u32 allocation, u32 thread, Ns at) {
  const Allocation& a = program_.allocations[allocation];
  tally_.memory(a, at);
  // Where layers are CUDA graphs, what these allocate is in the program's totals, but no event.
  const i64 allocated = job_.spec.all_memory_events ? tally_.held() : a.allocated;
  const std::string_view cat = era_.cat[static_cast<size_t>(Cat::memory)];
  text_ << "  {\n    \"ph\": \"i\", ";
  if (!cat.empty()) text_ << "\"cat\": \"" << cat << "\", ";
  text_ << "\"s\": \"t\", \"name\": \"[memory]\",\n    \"pid\": " << place_.pid
        << ", \"tid\": " << tids_[thread] << ",\n    \"ts\": ";
  time(at);
  text_ << ",\n    \"args\": {\n      ";
  if (era_.has_totals)
    text_ << "\"Total Reserved\": " << reserved() << ", \"Total Allocated\": " << kStaticBytes + allocated
          << ", \"Addr\": " << static_cast<i64>(a.address) << ", ";
  text_ << "\"Bytes\": " << a.bytes << ", \"Device Id\": " << place_.device << ", \"Device Type\": 1";
  event_index();
  end_event();
}

i64 EventWriter::reserved() const {
  i64 bytes = kStaticBytes + program_.kept_bytes + program_.reserved_bytes;
  for (const Fault& fault : job_.spec.faults)
    if (fault.type == FaultType::memory_pressure && fault.is_at(place_.rank, step_))
      bytes = std::max(bytes, kDeviceBytes / 100 * fault.count);
  return bytes;
}

void EventWriter::end_step(Ns at) { tally_.end_step(at, at <= stop_); }

void EventWriter::finish(Ns at) {
  const bool in_step = !open_.empty();
  while (!open_.empty()) close(at, false);
  if (in_step) tally_.end_step(at, false);
  if (file_) file_->write(text_.view());
  text_.clear();
}

RankNumbers EventWriter::take_numbers() {
  RankNumbers numbers = tally_.take();
  numbers.events = events_;
  return numbers;
}

}  // namespace spotter::simulate
