#include "export/part.h"

#include <algorithm>

#include "analyze/time/device_time.h"
#include "export/names.h"
#include "export/overlaps.h"
#include "export/times.h"
#include "read/strict_json.h"
#include "trace/extent.h"
#include "trace/track_names.h"

namespace spotter::export_ {
namespace {

// Fills a Part from a trace.
class PartMaker {
 public:
  PartMaker(const Trace& trace, const std::vector<EventId>* rows, const Place& place)
      : trace_(trace), rows_(rows), place_(place), names_(trace.track_names().thread) {
    sort_index_.resize(trace.tracks().size());
    if (const trace::Extent extent = trace::extent_of(trace); extent.known())
      part_.start = extent.start + place.shift;
    for (EventId e = 0; e < trace.size(); ++e) {
      if (trace.kind_of(e).phase != 'M') continue;
      if (trace.name_of(e) == "thread_sort_index")
        sort_index_[trace.track[e]] = trace.integer(e, Arg::sort_index);
      else if (trace.name_of(e) == "process_sort_index")
        part_.processes[process_of(trace, track_of(e))].sort_index =
            trace.integer(e, Arg::sort_index).value_or(0);
    }
  }

  void keep_rows(size_t file_events) {
    const bool renames = place_.processes != nullptr;
    if (!rows_ && !renames) return;
    std::vector<bool>& keep = part_.placement.keep;
    keep.assign(file_events, rows_ == nullptr);
    if (rows_)
      for (const EventId row : *rows_) keep[row] = true;
    if (!renames) return;
    for (EventId e = 0; e < trace_.size(); ++e) {  // process_events() has them
      const std::string_view name = trace_.name_of(e);
      if (trace_.kind_of(e).phase == 'M' && (name == "process_name" || name == "process_sort_index"))
        keep[in_file(e)] = false;
    }
  }

  void name_processes() {
    const trace::TrackNames& names = trace_.track_names();
    for (size_t t = 0; t < trace_.tracks().size(); ++t) {
      const std::string was = process_of(trace_, trace_.tracks()[t]);
      std::string& name = part_.processes[was].name;
      if (!name.empty()) continue;
      name = names.process[t].empty() ? fmt::format("process {}", was) : names.process[t];
      if (!names.label[t].empty()) name += fmt::format(" ({})", names.label[t]);
    }
  }

  void name_streams() {
    const trace::DeviceWork& work = trace_.device_work();
    for (const trace::Stream& stream : work.streams) {
      part_.device_processes.try_emplace(stream.device, pid_of(trace_.track[work.event[stream.begin]]));
      for (u32 i = stream.begin; i < stream.end; ++i) {
        const u32 t = trace_.track[work.event[i]];
        if (!names_[t].empty()) continue;
        names_[t] = fmt::format("stream {}", stream.stream);
        part_.events.push_back(thread_name_event(pid_of(t), tid_of(t), part_.start, names_[t]));
      }
    }
  }

  void move_overlaps() {
    const std::vector<Moved> moved = find_overlaps(trace_);
    next_tid_ = first_free_tid();
    for (const Moved& span : moved) move(span);
    for (const Moved& end : find_moved_flows(trace_, moved)) move(end);
    std::sort(part_.placement.new_tids.begin(), part_.placement.new_tids.end());
    if (!moved.empty())
      part_.notes.add("overlapping_spans", Severity::info,
                      "spans overlap others on their track, which viewers cannot draw; they are on tracks of "
                      "their own, named (overlapping)",
                      -1, static_cast<i64>(moved.size()));
  }

  void add_flows(const std::vector<ExtraFlow>& flows) {
    FlowIds own(0);
    FlowIds& ids = place_.flows ? *place_.flows : own;
    for (size_t i = 0; i < flows.size(); ++i) {
      const ExtraFlow& flow = flows[i];
      const std::string rest = flow.args.empty() ? "}" : fmt::format(R"(, "args": {}}})", flow.args);
      const auto add = [&](const char* phase, EventId e, bool end) {
        part_.events.push_back(fmt::format(
            R"({{"ph": {}, "bp": "e", "id": {}, "cat": {}, "name": {}, "pid": {}, "tid": {}, "ts": {}{})",
            phase, ids.extra(i), read::json::quoted(flow.category), read::json::quoted(flow.name),
            pid_of(trace_.track[e]), tid_of_event(e), microseconds(flow_time(trace_, e, end) + place_.shift),
            rest));
      };
      add("\"s\"", flow.from, flow.from_end);
      add("\"f\"", flow.to, flow.to_end);
    }
  }

  Part take() { return std::move(part_); }

 private:
  const Track& track_of(EventId e) const { return trace_.tracks()[trace_.track[e]]; }
  EventId in_file(EventId e) const { return rows_ ? (*rows_)[e] : e; }

  std::string pid_of(u32 t) const {
    const Track& track = trace_.tracks()[t];
    if (place_.processes) return fmt::format("{}", place_.processes->of(trace_, track));
    return track.pid_text ? read::json::quoted(trace_.strings()[track.pid_text])
                          : fmt::format("{}", track.pid);
  }
  std::string tid_of(u32 t) const {
    const Track& track = trace_.tracks()[t];
    return track.tid_text ? read::json::quoted(trace_.strings()[track.tid_text])
                          : fmt::format("{}", track.tid);
  }
  std::string tid_of_event(EventId e) const {
    const auto moved = moved_to_.find(e);
    return moved == moved_to_.end() ? tid_of(trace_.track[e]) : fmt::format("{}", moved->second);
  }

  // Viewers keep ids in 32 bits.
  i64 first_free_tid() const {
    constexpr i64 kRoom = i64{1} << 24;
    i64 most = 0;
    for (const Track& track : trace_.tracks())
      if (track.tid < INT32_MAX - kRoom) most = std::max(most, track.tid);
    return most + 1;
  }

  void move(const Moved& moved) {
    const u32 t = trace_.track[moved.event];
    const auto [lane, is_new] = lanes_.try_emplace({t, moved.lane}, next_tid_);
    if (is_new) name_lane(t, moved.lane, next_tid_++);
    part_.placement.new_tids.emplace_back(in_file(moved.event), lane->second);
    moved_to_[moved.event] = lane->second;
  }

  void name_lane(u32 t, u32 lane, i64 tid) {
    const std::string name = names_[t].empty() ? fmt::format("thread {}", trace_.tracks()[t].tid) : names_[t];
    const std::string which = lane == 1 ? "(overlapping)" : fmt::format("(overlapping {})", lane);
    const std::string pid = pid_of(t), id = fmt::format("{}", tid);
    part_.events.push_back(thread_name_event(pid, id, part_.start, fmt::format("{} {}", name, which)));
    if (sort_index_[t]) part_.events.push_back(thread_sort_event(pid, id, part_.start, *sort_index_[t]));
  }

  const Trace& trace_;
  const std::vector<EventId>* rows_;  // nullptr: all
  const Place& place_;
  std::vector<std::string> names_;  // of tracks
  std::vector<std::optional<i64>> sort_index_;
  i64 next_tid_ = 0;
  std::map<std::pair<u32, u32>, i64> lanes_;  // (track, lane) -> id
  std::unordered_map<EventId, i64> moved_to_;
  Part part_;
};

}  // namespace

const ArgSet kPartArgs =
    trace::kDeviceWorkArgs | ArgSet{Arg::flow_id, Arg::name, Arg::labels, Arg::sort_index};

Part make_part(const Trace& trace, const std::vector<EventId>* rows, size_t file_events,
               const std::vector<ExtraFlow>& flows, const Place& place) {
  PartMaker maker(trace, rows, place);
  maker.keep_rows(file_events);
  maker.name_processes();
  maker.name_streams();
  maker.move_overlaps();
  maker.add_flows(flows);
  return maker.take();
}

}  // namespace spotter::export_
