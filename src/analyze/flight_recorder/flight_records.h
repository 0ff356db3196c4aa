// FlightRecords: what the dumps of flight recorders that lie beside a job's traces show together. Read once,
// then const: tables and findings are made from it.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "analyze/flight_recorder/group_findings.h"
#include "analyze/flight_recorder/process_groups.h"
#include "base/notes.h"

namespace spotter::analyze {

struct FlightRecords {
  ProcessGroups groups;
  std::vector<GroupFinding> findings;  // as group_findings() orders them
  Notes notes;                         // of the dumps; one that could not be read is a loss among them
  i64 count = 0;                       // dumps that were read

  // Whether all that was called has ended, as far as each of the dumps could be read.
  bool are_quiet() const {
    const auto has_ended = [](const GroupFinding& f) { return f.kind == GroupFinding::Kind::completed; };
    return std::ranges::count(notes.all(), Severity::loss, &Note::severity) == 0 &&
           std::ranges::all_of(findings, has_ended);
  }
};

// One after the other: little is kept of each.
FlightRecords read_flight_records(std::span<const FlightRecordFile> files, const FlightRecordLoader& load);

}  // namespace spotter::analyze
