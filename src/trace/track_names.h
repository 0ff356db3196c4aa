// Names of tracks from the metadata events (ph M): process_name, process_labels, thread_name.
#pragma once
#include <string>
#include <vector>

#include "trace/trace.h"

namespace spotter::trace {

struct TrackNames {
  std::vector<std::string> thread;   // per track; empty if none ("thread 123 (python)", "stream 7 ")
  std::vector<std::string> process;  // per track, the process's name
  std::vector<std::string> label;    // per track, the process's label: "CPU", "GPU 0"
};

TrackNames compute_track_names(const Trace& trace);

}  // namespace spotter::trace
