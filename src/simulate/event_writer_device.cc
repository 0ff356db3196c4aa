// The device's side, and the host calls that lead to it.
#include <algorithm>

#include "simulate/event_writer.h"

namespace spotter::simulate {
namespace {

// libkineto begins a flow at calls of these kinds and ends one at all others.
bool begins_flow(Call call) {
  return call != Call::event_record && call != Call::free && call != Call::malloc;
}

}  // namespace

i64 EventWriter::operator_id() const {
  for (auto open = open_.rbegin(); open != open_.rend(); ++open)
    if (!open->span || open->span->cat != Cat::python_function) return open->id;
  return 0;
}

void EventWriter::call(const CallEvent& event) {
  const auto which = static_cast<size_t>(event.call);
  text_ << call_heads_[2 * which + event.thread];
  times(event.start, event.end);
  text_ << ",\n    \"args\": {\n      \"" << era_.external_id
        << "\": " << (era_.device_link == DeviceLink::op ? operator_id() : event.correlation) << ", "
        << call_args_[which] << event.correlation;
  end_event();
  write_flow(begins_flow(event.call) ? "s" : "f", event.correlation, era_.launch_cat, era_.launch_name,
             place_.pid, tids_[event.thread], event.start);
}

void EventWriter::device(const DeviceEvent& event) {
  const DeviceWork& work = program_.work[event.work];
  tally_.device(work.kind, event.start, event.end);
  if (event.collective != kNone)
    tally_.collective(event.collective, program_.collectives[event.collective].way == Collective::Way::all,
                      event.start, event.transfer, event.end);
  extend_annotations(event);
  std::string& head = device_heads_[event.work * size_t{kStreams} + event.stream];
  if (head.empty()) head = parts_.device_head(work, event.stream);
  text_ << head;
  times(event.start, event.end);
  text_ << ",\n    \"args\": {\n      \"" << era_.external_id
        << "\": " << (era_.device_link == DeviceLink::op ? operator_id() : event.correlation) << ",\n      ";
  if (work.kind != DeviceKind::copy) text_ << "\"queued\": 0, ";
  text_ << "\"device\": " << place_.device
        << ", \"context\": 1,\n      \"stream\": " << kStreamIds[event.stream]
        << ", \"correlation\": " << event.correlation;
  if (work.kind == DeviceKind::copy)
    write_copy_args(work, event.end - event.start);
  else
    text_ << device_tails_[event.work];
  if (era_.has_graph_ids && work.kind != DeviceKind::copy)
    text_ << ",\n      \"graph id\": " << i64{event.graph} << ", \"graph node id\": " << i64{event.node};
  if (event.collective != kNone) write_collective_args(event);
  end_event();
  write_flow("f", event.correlation, era_.launch_cat, era_.launch_name, place_.device, tracks_[event.stream],
             event.start);
}

void EventWriter::synchronize(const SyncEvent& event) {
  if (!is_known(Cat::sync)) return;
  const char* kind = event.is_of_stream ? "Stream Wait Event" : "Stream Sync";
  const i64 stream = kStreamIds[event.stream];
  text_ << parts_.head(Cat::sync, kind, place_.device,
                       std::to_string(stream + (event.is_of_stream ? 0 : era_.sync_row)));
  times(event.start, event.end);
  text_ << ",\n    \"args\": {\n      \"" << era_.external_id << "\": " << operator_id()
        << ", \"cuda_sync_kind\": \"" << kind << "\", \"stream\": " << stream
        << ", \"correlation\": " << event.correlation << ",\n      \"device\": " << place_.device
        << ", \"context\": 1";
  if (event.is_of_stream)
    text_ << ", \"wait_on_stream\": " << kStreamIds[event.on]
          << ", \"wait_on_cuda_event_record_corr_id\": " << event.record
          << ", \"wait_on_cuda_event_id\": " << i64{1 + event.on};
  end_event();
}

void EventWriter::load_module(Ns start, Ns end) {
  if (!is_known(Cat::overhead)) return;
  text_ << parts_.head(Cat::overhead, "Runtime Triggered Module Loading", -1, "0");
  times(start, end);
  text_ << ",\n    \"args\": {";
  end_event();
}

void EventWriter::write_copy_args(const DeviceWork& work, Ns ns) {
  const i64 thousandths = ns > 0 ? work.bytes * 1000 / ns : 0;  // bytes in a nanosecond are GB in a second
  text_ << ",\n      \"bytes\": " << work.bytes << ", \"memory bandwidth (GB/s)\": ";
  text_.us(thousandths);
}

void EventWriter::write_collective_args(const DeviceEvent& event) {
  last_sequence_ = event.sequence;
  const std::string& args = collective_args_[event.collective];
  if (args.empty()) return;
  text_ << ",\n      " << args;
  if (era_.collective_args == CollectiveArgs::numbered) text_ << ", \"Seq\": " << event.sequence;
}

// An annotation has a twin on each stream, around what its own thread launched within it.
void EventWriter::extend_annotations(const DeviceEvent& event) {
  for (OpenSpan& open : open_) {
    if (open.thread != event.thread || (open.span && open.span->cat != Cat::user_annotation)) continue;
    Range& range = open.device[event.stream];
    if (range.end == 0) range.start = event.start;
    range.start = std::min(range.start, event.start);
    range.end = std::max(range.end, event.end);
  }
}

void EventWriter::write_device_annotations(const OpenSpan& open, std::string_view name) {
  if (!is_known(Cat::gpu_user_annotation)) return;
  for (u8 s = 0; s < kStreams; ++s) {
    const Range& range = open.device[s];
    if (range.end == 0) continue;
    text_ << parts_.head(Cat::gpu_user_annotation, name, place_.device, tracks_[s]);
    times(range.start - 1, range.end + 1);
    text_ << ",\n    \"args\": {\n      \"" << era_.external_id << "\": " << open.id;
    end_event();
  }
}

}  // namespace spotter::simulate
