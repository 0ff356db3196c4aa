#include "trace/track_names.h"

#include <map>
#include <utility>

namespace spotter::trace {
namespace {

using Process = std::pair<i64, StringId>;

Process process_of(const Track& track) { return {track.pid, track.pid_text}; }

struct ProcessNames {
  std::string name, label;
};

}  // namespace

// A later metadata event overrides an earlier one, as in the viewers.
TrackNames compute_track_names(const Trace& trace) {
  const size_t n = trace.tracks().size();
  TrackNames names{std::vector<std::string>(n), std::vector<std::string>(n), std::vector<std::string>(n)};
  std::map<Process, ProcessNames> processes;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind_of(e).phase != 'M') continue;
    const u32 track = trace.track[e];
    const std::string_view what = trace.name_of(e);
    if (what == "thread_name")
      names.thread[track] = trace.text(e, Arg::name).value_or("");
    else if (what == "process_name")
      processes[process_of(trace.tracks()[track])].name = trace.text(e, Arg::name).value_or("");
    else if (what == "process_labels")
      processes[process_of(trace.tracks()[track])].label = trace.text(e, Arg::labels).value_or("");
  }
  for (size_t t = 0; t < n; ++t) {
    const auto it = processes.find(process_of(trace.tracks()[t]));
    if (it == processes.end()) continue;
    names.process[t] = it->second.name;
    names.label[t] = it->second.label;
  }
  return names;
}

}  // namespace spotter::trace

namespace spotter {

const trace::TrackNames& Trace::track_names() const {
  return track_names_.get([this] { return trace::compute_track_names(*this); });
}

}  // namespace spotter
