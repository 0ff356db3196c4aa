// The spans of each rank as data blocks, thinned until they fit: the timeline needs them, and they are most
// of a page.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "diagnose/run.h"
#include "report/html/redactor.h"

namespace spotter::report {

struct SpanBlocks {
  std::string blocks;
  std::string left_out;  // which spans, for a sentence; empty: none
};

struct SpanRequest {
  std::vector<analyze::RankFile> files;  // whose spans are wanted, as the job has them
  const Table* spans = nullptr;          // of the only file, where they are there already
  const Table* steps = nullptr;          // the answer of `steps`; nullptr: there are none
  std::vector<i64> first_ranks;          // that matter more than others
  std::optional<i64> room;               // bytes; none: no limit
  Redactor* redactor = nullptr;          // nullptr: nothing is hidden
};

// Reads the files once more, some at a time, so that a job of any size needs the memory of a few ranks.
// `run`: how, and which steps. Errors: as analyze::map_files().
Result<SpanBlocks> span_blocks(const Job& job, const analyze::RunRequest& run, const Loader& load,
                               const SpanRequest& wanted);

}  // namespace spotter::report
