// Job: the trace files of one run, by rank. It holds no events. Made by read/open.h (from paths), used by
// analyze/run.h.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/notes.h"
#include "base/result.h"
#include "trace/flight_record.h"
#include "trace/trace.h"

namespace spotter {

enum class RankSource : u8 { unknown, file_contents, receipts, file_name, order };

struct TraceFile {
  std::string path;         // "-" is standard input
  i64 bytes = 0;            // as stored
  i64 json_bytes = 0;       // estimated, of its text
  std::optional<i64> rank;  // what is known before the file is read whole
  RankSource rank_source = RankSource::unknown;
  std::string host;            // host_name, where the head of the file says it; else as receipts do
  std::optional<i64> base_ns;  // baseTimeNanoseconds, likewise: the files' common clock is base_ns + ts
  std::optional<i64> receipt_rank = {};       // as the receipts of its capture say
  std::string source = {}, source_root = {};  // likewise: the repository, as URL@COMMIT, and its folder
  int descriptor = -1;    // where it is open for reading already: then the path is but what it is called
  bool is_plain = false;  // a plain file when it was found: nothing else may be read in its place
};

struct Job {
  std::vector<TraceFile> files;                  // by path
  std::vector<std::string> receipts;             // files that told of the traces: receipts of captures
  std::vector<FlightRecordFile> flight_records;  // dumps that lie beside the traces, by path
  Notes notes;
};

// What reading a file told about its place in the job.
struct RankEvidence {
  std::string path;
  std::optional<i64> contents_rank;  // distributedInfo.rank
  std::optional<i64> name_rank;      // from the file name
  bool has_events = false;           // false: a launcher's or an empty trace, or no trace at all; it takes
                                     // no rank by order
  Ns start = 0, end = 0;             // of its spans, Unix time; equal where not known or a rank is

  std::optional<i64> receipt_rank = {};  // from the receipts of its capture
  bool is_unread = false;                // it could not be: nothing is known of its contents
};

struct ResolvedRank {
  std::optional<i64> rank;  // nullopt: no events and no rank anywhere
  RankSource source = RankSource::unknown;
};

// The note that all ranks of a job were numbered by path, and that their files do not overlap in time.
inline constexpr const char* kCapturesAtDifferentTimes = "captures_at_different_times";

// Rank of each file: its contents, else the receipts of its capture, else its name, else the lowest free
// number in the order of paths, numbers in them counting as numbers. Two files that claim one rank are an
// error that names both. Says in `notes` which rule was used where it was not the contents, and what
// contradicts it.
Result<std::vector<ResolvedRank>> resolve_ranks(const std::vector<RankEvidence>& files, Notes& notes);

// Where the sources of all ranks are on the web, in the words of --source-url. Empty: receipts do not tell it
// of each, or not the same.
std::string source_url_of(const Job& job);

// "rank3", "rank-3", "rank_3", "rank=3", "rank[3]" in the last part of a path; "local_rank3", "tp_rank3" and
// the like are none.
std::optional<i64> rank_in_name(std::string_view path);

}  // namespace spotter
