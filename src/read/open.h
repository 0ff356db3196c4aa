// Where traces enter. open_job: paths, directories, globs or "-" -> Job. load: one file -> Trace.
//
// Formats: the Chrome-trace JSON of every Kineto era and writer (an object with traceEvents, or a bare list),
// plain, gzip or zstd, told by content. The text is streamed, never held whole. Damage costs the damaged
// event and is noted; a file that is no trace is an error that says what it is.
#pragma once
#include <span>
#include <string>

#include "base/result.h"
#include "trace/job.h"
#include "trace/load.h"

namespace spotter::read {

// The trace files behind the paths: a file stands for itself whatever its name; of a directory, every *.json,
// *.json.gz and *.json.zst in it (not below it); a pattern with * ? [ ] for what it matches; "-" for standard
// input. Receipts among them or beside them (read/receipts.h) are no traces, but say what they know of them.
// Nor are dumps of flight recorders (read/flight_recorder) among them, which the job keeps: of a directory
// those whose names end with a rank. A job may have dumps alone.
// `links`: what becomes of symbolic links in a directory; one that is a path itself is always followed.
enum class Links : u8 { followed, passed_over };
Result<Job> open_job(std::span<const std::string> paths, Links links = Links::followed);

// What the head of a plain file says before its events, so that a rank that is not wanted need not be read
// whole: rank, host and base. Errors: why it is no trace, as far as the head tells.
Result<void> read_head(TraceFile& file);

Result<TracePtr> load(const TraceFile& file, const LoadRequest& request);

}  // namespace spotter::read
