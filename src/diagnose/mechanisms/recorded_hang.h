// What the dumps of flight recorders say of a hang: who holds the others up, and in which call.
#pragma once
#include <optional>
#include <set>
#include <string>

#include "analyze/flight_recorder/flight_records.h"

namespace spotter::diagnose {

struct RecordedHang {
  std::set<i64> ranks;  // who did not arrive, or got no further
  std::string group, operation;
  std::string what;          // a sentence without its full stop
  bool has_no_dump = false;  // of these ranks: nobody knows what they do
};

// None where nobody waits for anybody: what has just begun looks unfinished in a job that runs, too, and a
// rank that is still in what others have ended may only have been asked earlier than they.
std::optional<RecordedHang> recorded_hang(const analyze::FlightRecords& records);

}  // namespace spotter::diagnose
