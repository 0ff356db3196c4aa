// Several traces on one timeline, as `spotter export` writes them for viewers: a member of the file says so,
// and a note where it is read.
#pragma once

namespace spotter::trace {

inline constexpr const char* kMergedTraces = "merged_traces";

}  // namespace spotter::trace
