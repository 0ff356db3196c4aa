#include "serve/answers.h"

#include <algorithm>

#include "analyze/critical_path/path_finder.h"
#include "base/system/descriptor.h"
#include "base/text/number.h"
#include "base/text/quantity.h"
#include "base/text/shell_word.h"
#include "base/text/utf8.h"
#include "export/critical_path_flows.h"
#include "read/flight_recorder/flight_recorder.h"
#include "report/html/html_report.h"
#include "serve/event_table.h"
#include "serve/make_order.h"
#include "serve/search.h"
#include "serve/table_order.h"

namespace spotter::serve {
namespace {

std::string version_of(const FoundJob& job) { return fmt::format("{}|{}", job.id, job.version); }

OrderPtr order_of(std::string key, MakeOrder::Make make) {
  return std::make_shared<MakeOrder>(std::move(key), std::move(make));
}

Result<Body> body_of_table(const Table& table, const Notes& notes, Form form) {
  return body_of({std::span(&table, 1), notes}, form);
}

// 1 or 0, by a parameter of that name.
Result<bool> read_flag(const wire::Target& target, std::string_view name) {
  const std::string word = target.text(name);
  if (word.empty() || word == "0") return false;
  if (word == "1") return true;
  return fail(Code::invalid, "{}: \"{}\" is neither 0 nor 1", name, to_printable(word));
}

Result<std::optional<i64>> read_number(const wire::Target& target, std::string_view name) {
  const std::string word = target.text(name);
  if (word.empty()) return std::nullopt;
  const auto number = number_in<i64>(word);
  if (!number || *number < 0)
    return fail(Code::invalid, "{}: \"{}\" is no whole number from 0 on", name, to_printable(word));
  return number;
}

// Open as long as it lives: those who read a file twice go by its path.
struct OpenedJob {
  Job job;
  std::vector<Descriptor> descriptors;
};

Result<OpenedJob> open_files(const FoundJob& found) {
  OpenedJob opened;
  TRY_ASSIGN(opened.job, open(found));
  for (TraceFile& file : opened.job.files) {
    const JobFile* const known = find_file(found, file.path);
    if (!known)
      return fail(Code::io, "{}: came after the job was looked at; ask again in a second", file.path);
    TRY_ASSIGN(file.descriptor, open_found(file.path, known->found));
    opened.descriptors.emplace_back(file.descriptor);
  }
  return opened;
}

Result<Body> exported(const JobPtr& job, export_::ExportRequest request, const std::atomic<bool>& cancelled) {
  TRY_ASSIGN(const OpenedJob opened, open_files(*job));
  analyze::RunRequest shared;
  share_machine(shared);
  request.threads = shared.threads;
  request.cancelled = &cancelled;
  Body body{.packed = {}, .content_type = std::string(kJsonType), .file_name = "trace.json"};
  const std::unique_ptr<export_::TraceWriter> out = export_::TraceWriter::into(body.packed);
  TRY(export_::export_job(opened.job, request, loader_of(job), *out));
  return body;
}

Result<Body> reported(const JobPtr& job, analyze::RunRequest run, const report::PageOptions& page,
                      const std::atomic<bool>& cancelled) {
  TRY_ASSIGN(const Job opened, open(*job));
  run.cancelled = &cancelled;
  share_machine(run);
  diagnose::Request request{.run = run,
                            .findings = true,
                            .paths = shell_paths(job->paths),
                            .load_record = read::load_flight_record};
  request.run.analyses = report::page_analyses(opened, page.most_bytes);
  const Loader load = loader_of(job);
  TRY_ASSIGN(diagnose::Diagnosis diagnosis, diagnose::run(opened, std::move(request), load));
  TRY_ASSIGN(const std::string html, report::html_report(opened, std::move(diagnosis), run, load, page));
  TRY_ASSIGN(Body body, body_of(html, "text/html; charset=utf-8"));
  body.file_name = "report.html";
  return body;
}

}  // namespace

OrderPtr event_order(const JobPtr& job, const JobFile& file, EventId event, Form form) {
  return order_of(
      fmt::format("event|{}|{}|{}|{}", version_of(*job), file.path, event, static_cast<int>(form)),
      [job, file, event, form](const std::atomic<bool>& cancelled) -> Result<Body> {
        TRY_ASSIGN(const Table table, event_table(job, file, event, cancelled));
        return body_of_table(table, {}, form);
      });
}

Result<OrderPtr> search_order(const JobPtr& job, const wire::Target& target, Form form) {
  constexpr std::string_view kNames[] = {kSearchWord, "ranks", "steps"};
  TRY(target.has_only(kNames));
  analyze::RunRequest run;
  TRY(read_part(target, run));
  const std::string word = target.text(kSearchWord);
  if (word.empty()) return fail(Code::invalid, "{}: what is to be searched for?", kSearchWord);
  run.analyses = {&kSearch};
  run.params = {{kSearchWord, word}};
  return order_of(
      fmt::format("search|{}|{}|{}|{}", version_of(*job), static_cast<int>(form), part_key(run), word),
      [job, run, form](const std::atomic<bool>& cancelled) -> Result<Body> {
        analyze::RunRequest request = run;
        request.cancelled = &cancelled;
        share_machine(request);
        TRY_ASSIGN(const Job opened, open(*job));
        TRY_ASSIGN(const analyze::RunResult found, analyze::run(opened, request, loader_of(job)));
        return body_of({found.tables, found.notes}, form);
      });
}

Result<OrderPtr> export_order(const JobPtr& job, const wire::Target& target) {
  constexpr std::string_view kNames[] = {"from", "to", "ranks", "steps", "bucket_ns", "critical_path"};
  TRY(target.has_only(kNames));
  analyze::RunRequest part;
  TRY(read_part(target, part));
  export_::ExportRequest request;
  request.ranks = part.ranks;
  request.steps = part.steps;
  TRY_ASSIGN(request.from, read_number(target, "from"));
  TRY_ASSIGN(request.to, read_number(target, "to"));
  if (request.from && request.to && *request.from >= *request.to)
    return fail(Code::invalid, "to: must be later than from");
  TRY_ASSIGN(const std::optional<i64> bucket, read_number(target, "bucket_ns"));
  request.bucket_ns = bucket.value_or(0);
  TRY_ASSIGN(const bool has_path, read_flag(target, "critical_path"));
  if (has_path) {
    request.flows = export_::critical_path_flows;
    request.flow_args = analyze::kCriticalPathArgs;
  }
  return order_of(
      fmt::format("export|{}|{}|{}|{}|{}|{}", version_of(*job), part_key(part), request.from.value_or(-1),
                  request.to.value_or(-1), request.bucket_ns, has_path),
      [job, request](const std::atomic<bool>& cancelled) { return exported(job, request, cancelled); });
}

Result<OrderPtr> report_order(const JobPtr& job, const wire::Target& target) {
  constexpr std::string_view kNames[] = {"max_size", "redact", "source_url", "ranks", "steps"};
  TRY(target.has_only(kNames));
  analyze::RunRequest run;
  TRY(read_part(target, run));
  report::PageOptions page{
      .paths = job->named, .part = report::part_words(run), .source_url = target.text("source_url")};
  if (const std::string size = target.text("max_size"); size == "0") {
    page.most_bytes = 0;
  } else if (!size.empty()) {
    auto bytes = parse_size(size);
    if (!bytes) return within(bytes.error(), "max_size");
    page.most_bytes = *bytes;
  }
  TRY_ASSIGN(page.redacted, read_flag(target, "redact"));
  return order_of(
      fmt::format("report|{}|{}|{}|{}|{}", version_of(*job), part_key(run), page.most_bytes, page.redacted,
                  page.source_url),
      [job, run, page](const std::atomic<bool>& cancelled) { return reported(job, run, page, cancelled); });
}

Result<OrderPtr> diff_order(const JobPtr& before, const JobPtr& after, const wire::Target& target,
                            Form form) {
  constexpr std::string_view kNames[] = {"before", "after",   "table",       "ranks",
                                         "steps",  "by_rank", "by_function", "by_shapes"};
  TRY(target.has_only(kNames));
  diagnose::DiffRequest request;
  TRY(read_part(target, request.run));
  const std::string table = target.text("table");
  if (!table.empty() && table != "trace_diff" && table != "path_diff" && table != diagnose::kCauses)
    return fail(Code::not_found,
                "there is no table \"{}\" of two jobs; there are trace_diff, path_diff and {}",
                to_printable(table), diagnose::kCauses);
  TRY_ASSIGN(request.how.by_rank, read_flag(target, "by_rank"));
  TRY_ASSIGN(request.how.by_function, read_flag(target, "by_function"));
  TRY_ASSIGN(request.by_shapes, read_flag(target, "by_shapes"));
  request.causes = table == diagnose::kCauses;
  request.by_path = request.by_shapes || table == "path_diff";
  if (request.causes && (request.by_path || request.how.by_rank || request.how.by_function))
    return fail(Code::invalid,
                "{} are of two jobs as a whole: they go with none of by_rank, by_function and by_shapes",
                diagnose::kCauses);
  if (request.by_path && (request.how.by_rank || request.how.by_function))
    return fail(
        Code::invalid,
        "path_diff is of all ranks, and of operators: it goes neither with by_rank nor with by_function");
  std::string key =
      fmt::format("diff|{}|{}|{}|{}|{}|{}|{}|{}|{}", version_of(*before), version_of(*after),
                  static_cast<int>(form), part_key(request.run), request.causes, request.by_path,
                  request.by_shapes, request.how.by_rank, request.how.by_function);
  return order_of(std::move(key),
                  [before, after, request, form](const std::atomic<bool>& cancelled) -> Result<Body> {
                    diagnose::DiffRequest own = request;
                    own.run.cancelled = &cancelled;
                    share_machine(own.run);
                    TRY_ASSIGN(const Job job_before, open(*before));
                    TRY_ASSIGN(const Job job_after, open(*after));
                    const Loader load = [&](const TraceFile& file, const LoadRequest& how) {
                      return loader_of(find_file(*before, file.path) ? before : after)(file, how);
                    };
                    TRY_ASSIGN(const diagnose::Diff diff, diagnose::diff(job_before, job_after, own, load));
                    if (own.causes)
                      return body_of_table(diagnose::causes_table(diff.causes), diff.notes, form);
                    return body_of_table(diff.table, diff.notes, form);
                  });
}

}  // namespace spotter::serve
