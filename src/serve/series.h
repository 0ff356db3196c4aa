// Recordings of TensorBoard's log folders. PyTorch's handler for it writes WORKER.TIME.pt.trace.json[.gz], a
// file for each recording of a process: several of one worker are spans, one after the other, and no ranks of
// one job.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace spotter::serve {

struct RecordingName {
  std::string worker, time;  // time: digits
};
// nullopt: a name without a time, or of another kind.
std::optional<RecordingName> recording_name(std::string_view file_name);

struct Recording {
  std::string name;              // of the file
  std::optional<i64> rank;       // that its contents tell
  std::optional<Ns> start, end;  // of its spans, Unix time; none: not known yet
};

// Workers with several recordings that may be spans: the places among `files` of those whose times have to be
// known to be sure. None: there is no such worker.
std::vector<size_t> repeated(const std::vector<Recording>& files);

struct Span {
  std::string label;          // 1, 2, ...; empty: the files that are in none
  std::vector<size_t> files;  // places
};
// Spans in order of time, where each worker's files do not overlap, as far as their times are known; else all
// files are in one without a label. Where workers have as many files as each other the first ones are span 1,
// and so on; else those belong together that overlap.
std::vector<Span> spans_of(const std::vector<Recording>& files);

}  // namespace spotter::serve
