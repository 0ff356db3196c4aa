// What if some of a job's times were others? The job is run again with them, and what it is asked for is how
// long its steps then are. Several questions are asked together, as one other world.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/run.h"
#include "diagnose/model/job_model.h"
#include "table/table.h"

namespace spotter::diagnose {

inline constexpr const char* kWhatIfTable = "what_if";  // the table's name

struct WhatIf {
  enum class Part : u8 {
    device,    // what devices work, but for communication
    host,      // all that hosts do, pauses included
    pause,     // in which hosts launch nothing
    transfer,  // of collectives and sends, once the last rank has come
    count_
  };
  Part part = Part::device;
  std::vector<analyze::Range> ranks = {};  // empty: all; of a transfer: those with one of these ranks
  std::string group = {};                  // of transfers: its name, ranks or description; empty: all
  std::optional<double> factor = {};       // of the measured time; none: what peers of the same role need
};

const char* part_name(WhatIf::Part part);

std::span<const Field> what_if_columns();

// The mean step, then each step; the answer as a sentence is the first of its notes.
// Errors: not_found (a rank or a group that the job does not have).
Result<Table> what_if(const JobModel& model, std::span<const WhatIf> questions);

}  // namespace spotter::diagnose
