// Whether a trace has enough of what its host did to tell where the host stood still.
#pragma once
#include "analyze/replay/skeleton.h"
#include "trace/trace.h"

namespace spotter::analyze {

// Kinds of notes. Silences of a host that has one are where nothing was recorded, for all that is known.
inline constexpr const char* kSampledOperators = "sampled_operators";
inline constexpr const char* kHostHardlyRecorded = "host_hardly_recorded";
// Or where one of many threads had nothing to do, as far as is known.
inline constexpr const char* kManyLaunchers = "many_launching_threads";
inline bool tells_silences(const Notes& notes) {
  return notes.count(kSampledOperators) + notes.count(kHostHardlyRecorded) + notes.count(kManyLaunchers) == 0;
}

// Adds such a note to the skeleton of a trace where it is so. Reads Arg::external_id.
void note_recorded_part(const Trace& trace, Skeleton& skeleton);

}  // namespace spotter::analyze
