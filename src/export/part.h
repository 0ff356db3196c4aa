// Part: what one trace adds to the output besides its events' texts, and where its events go.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/flows.h"
#include "export/rewrite.h"
#include "trace/trace.h"

namespace spotter::export_ {

// The arguments that the functions here read.
extern const ArgSet kPartArgs;

// Where the events of a rank go among others. All nullptr, 0: they stay as they are.
struct Place {
  ProcessIds* processes = nullptr;
  FlowIds* flows = nullptr;
  Ns shift = 0;  // to the common clock
};

struct Part {
  Placement placement;
  Ns start = 0;                                 // of the first span, on the output's clock
  std::vector<std::string> events;              // that are added: names of tracks, arrows
  std::map<i64, std::string> device_processes;  // device -> the id of its process, as JSON
  struct Process {
    std::string name;
    i64 sort_index = 0;
  };
  std::map<std::string, Process> processes;  // by what the trace calls them
  Notes notes;
};

// `rows`: the numbers in the file of the trace's rows; nullptr: they are the same, and all events are kept.
// `file_events`: how many the file has. `flows`: between rows of the trace.
Part make_part(const Trace& trace, const std::vector<EventId>* rows, size_t file_events,
               const std::vector<ExtraFlow>& flows, const Place& place);

}  // namespace spotter::export_
