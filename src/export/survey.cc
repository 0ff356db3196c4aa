#include "export/survey.h"

#include <algorithm>

#include "trace/extent.h"

namespace spotter::export_ {
namespace {

const Field kColumns[] = {
    kRankField,
    {"file", Type::text, Unit::none, Role::key, "The trace."},
    {"host", Type::text, Unit::none, Role::value, "Where it was recorded, if the file says so."},
    {"base_ns", Type::integer, Unit::ns, Role::time, "What its times count from."},
    {"first_ns", Type::integer, Unit::ns, Role::time,
     "Start of its first span, Unix time; null without one."},
    {"last_ns", Type::integer, Unit::ns, Role::time, "End of its last span."},
};

Result<Table> map(const Trace& trace, const ParamValues&) {
  Table table("survey", std::span(kColumns).subspan(1));
  const TraceInfo& info = trace.info();
  const trace::Extent extent = trace::extent_of(trace);
  Value first, last;
  if (extent.known()) first = info.base_ns + extent.start, last = info.base_ns + extent.end;
  table.append({info.path, info.host_name, info.base_ns, first, last});
  return table;
}

// Not listed: what it tells is of use to nobody else.
const Analysis kSurvey = {
    .name = "survey",
    .summary = "",
    .doc = "",
    .params = {},
    .columns = kColumns,
    .reads = {},
    .map = map,
};

}  // namespace

Result<Survey> survey(const Job& job, const ExportRequest& request, const Loader& load) {
  analyze::RunRequest run_request;
  run_request.analyses = {&kSurvey};
  run_request.ranks = request.ranks;
  run_request.threads = request.threads;
  run_request.cancelled = request.cancelled;
  TRY_ASSIGN(analyze::RunResult result, analyze::run(job, run_request, load));
  Survey found;
  found.notes = std::move(result.notes);
  const Table& table = result.tables[0];
  const auto time = [&](size_t row, const char* name) -> std::optional<Ns> {
    const Value value = table.at(row, table.column(name));
    return is_null(value) ? std::nullopt : std::optional<Ns>(std::get<i64>(value));
  };
  i64 without_rank = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (is_null(table.at(row, table.column("rank")))) {
      ++without_rank;
      continue;
    }
    const std::string_view path = table.text(row, table.column("file"));
    const auto file =
        std::find_if(job.files.begin(), job.files.end(), [&](const TraceFile& f) { return f.path == path; });
    CHECK(file != job.files.end());
    found.traces.push_back({*file, table.integer(row, table.column("rank")), *time(row, "base_ns"),
                            std::string(table.text(row, table.column("host"))), time(row, "first_ns"),
                            time(row, "last_ns")});
  }
  if (without_rank)
    found.notes.add("no_events", Severity::info, "files without events of a rank were left out", -1,
                    without_rank);
  return found;
}

}  // namespace spotter::export_
