// What is to be known of all traces before the first is written: their ranks, clocks and first events.
#pragma once
#include <optional>
#include <vector>

#include "analyze/run.h"
#include "export/export_job.h"

namespace spotter::export_ {

struct SurveyedTrace {
  TraceFile file;
  i64 rank = 0;
  Ns base_ns = 0;
  std::string host;
  std::optional<Ns> first, last;  // of its spans, Unix time
};

struct Survey {
  std::vector<SurveyedTrace> traces;  // by rank
  Notes notes;
};

// Files that cannot be read, and those without events, are left out with a note. Errors: as of a run.
Result<Survey> survey(const Job& job, const ExportRequest& request, const Loader& load);

}  // namespace spotter::export_
