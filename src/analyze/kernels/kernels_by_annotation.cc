#include <algorithm>
#include <map>
#include <queue>

#include "analyze/kernels/kernel_stats.h"
#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"
#include "analyze/top.h"
#include "base/stable_sort.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"annotation", Type::text, Unit::none, Role::value,
     "Shortest annotation on the device around the kernel; null where there is none, and for others."},
    {"kernel", Type::text, Unit::none, Role::key, "Kernel, copy or set; others: all that are not listed."},
    {"count", Type::integer, Unit::count, Role::value, "Number of runs."},
    {"sum_ns", Type::integer, Unit::ns, Role::value, "Sum of their durations."},
    {"mean_ns", Type::real, Unit::ns, Role::detail, "Mean duration."},
    {"max_ns", Type::integer, Unit::ns, Role::detail, "Longest run."},
    {"ratio", Type::real, Unit::ratio, Role::value, "Share of the sum of all durations of the rank."},
};

constexpr Param kParams[] = {kTop};

// The annotations of each line of the device, by start.
std::map<u32, std::vector<EventId>> annotations_by_track(const Trace& trace) {
  std::map<u32, std::vector<EventId>> tracks;
  for (EventId e = 0; e < trace.size(); ++e)
    if (trace.category(e) == Category::gpu_user_annotation && trace.is_span(e))
      tracks[trace.track[e]].push_back(e);
  for (auto& [track, events] : tracks)
    stable_sort(events, [&](EventId a, EventId b) { return trace.ts[a] < trace.ts[b]; });
  return tracks;
}

// Walks through one line: of the annotations that have begun, the shortest that has not ended.
class Around {
 public:
  Around(const Trace& trace, std::span<const EventId> annotations)
      : trace_(trace), waiting_(annotations), begun_(Longer{&trace}) {}

  // kNone where there is none. Times ascend from call to call.
  EventId at(Ns time) {
    for (; !waiting_.empty() && trace_.ts[waiting_.front()] <= time; waiting_ = waiting_.subspan(1))
      begun_.push(waiting_.front());
    while (!begun_.empty() && trace_.end(begun_.top()) <= time) begun_.pop();
    return begun_.empty() ? kNone : begun_.top();
  }

 private:
  struct Longer {
    const Trace* trace;
    bool operator()(EventId a, EventId b) const {
      return trace->dur[a] != trace->dur[b] ? trace->dur[a] > trace->dur[b] : a > b;
    }
  };
  const Trace& trace_;
  std::span<const EventId> waiting_;
  std::priority_queue<EventId, std::vector<EventId>, Longer> begun_;
};

struct Group {
  StringId annotation = 0, kernel = kNone;  // kNone: others
  bool is_annotated = false;
  Durations durations;

  void merge(const Group& o) { durations.merge(o.durations); }
};

std::vector<Group> groups_of(const Trace& trace) {
  const trace::DeviceWork& work = trace.device_work();
  const std::map<u32, std::vector<EventId>> tracks = annotations_by_track(trace);
  std::map<std::tuple<bool, StringId, StringId>, Group> groups;
  for (const trace::Stream& stream : work.streams) {
    std::map<u32, Around> around;  // a stream may be more than one line
    for (u32 row = stream.begin; row < stream.end; ++row) {
      const EventId e = work.event[row];
      EventId annotation = kNone;
      if (const auto track = tracks.find(trace.track[e]); track != tracks.end())
        annotation = around.try_emplace(track->first, trace, track->second).first->second.at(work.start[row]);
      const bool is_annotated = annotation != kNone;
      const StringId name = is_annotated ? trace.name[annotation] : 0;
      Group& group = groups[{is_annotated, name, trace.name[e]}];
      group.annotation = name;
      group.kernel = trace.name[e];
      group.is_annotated = is_annotated;
      group.durations.add(work.end[row] - work.start[row]);
    }
  }
  std::vector<Group> list;
  for (const auto& [key, group] : groups) list.push_back(group);
  const Strings& strings = trace.strings();
  std::sort(list.begin(), list.end(), [&](const Group& a, const Group& b) {
    if (a.durations.sum != b.durations.sum) return a.durations.sum > b.durations.sum;
    return std::tuple(a.is_annotated, strings[a.annotation], strings[a.kernel]) <
           std::tuple(b.is_annotated, strings[b.annotation], strings[b.kernel]);
  });
  return list;
}

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kKernelsByAnnotation.name, std::span(kColumns).subspan(1));
  std::vector<Group> groups = groups_of(trace);
  if (groups.empty()) note_no_device_work(table);
  Ns total = 0;
  for (const Group& group : groups) total += group.durations.sum;
  for (const Group& g : first_and_others(std::move(groups), params[kTop.name])) {
    const Durations& d = g.durations;
    table.append({g.is_annotated ? Value(trace.strings()[g.annotation]) : Value(),
                  g.kernel == kNone ? "others" : trace.strings()[g.kernel], d.count, d.sum, d.mean(), d.max,
                  ratio(d.sum, total)});
  }
  return table;
}

}  // namespace

const Analysis kKernelsByAnnotation = {
    .name = "kernels_by_annotation",
    .summary = "Which part of the program, by its annotations, takes the device's time with which kernels.",
    .doc =
        "Each piece of device work belongs to the shortest annotation on its line of the device (category gpu_user_annotation) "
        "during which it starts; work that starts outside any belongs to none. One row per annotation name and kernel "
        "name, by sum; what is not among the first `top` is put into a last row named others. HTA "
        "(get_gpu_kernels_with_user_annotations) takes annotations that overlap the work in any way. A rank without device work has no rows.",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
