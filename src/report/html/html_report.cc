#include "report/html/html_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "analyze/list.h"
#include "analyze/range_text.h"
#include "base/system/file.h"
#include "base/text/shell_word.h"
#include "base/version.h"
#include "diagnose/diagnose.h"
#include "page/page.h"
#include "render/render.h"
#include "report/html/data_block.h"
#include "report/html/escaped.h"
#include "report/html/job_tables.h"
#include "report/html/redactor.h"
#include "report/html/span_blocks.h"
#include "table/ops.h"

namespace spotter::report {
namespace {

// Tables on request that the page's views show.
struct Detail {
  const Analysis* analysis;
  i64 part = 8;        // it is kept if that part of the limit or less holds it
  bool grows = false;  // with the number of events: of large traces it is not even made
};
constexpr Detail kDetails[] = {
    {&analyze::kRankStrip},
    {&analyze::kConditions},
    {&analyze::kIdleCauses},
    {&analyze::kModules},
    {&analyze::kKernelGroups},
    {&analyze::kOperatorGroups},
    {&analyze::kDeviceSteps},
    {&analyze::kMemoryLeaks},
    {&analyze::kIterationSummary},
    {&analyze::kFlightRecorder},
    {&analyze::kFlightRecorderRanks},
    {&analyze::kCuptiCounters},
    {&analyze::kJobCriticalPath},
    {&analyze::kDeviceBusySeries},
    {&analyze::kSmEfficiencySeries},
    {&analyze::kMemoryTimelineSeries},
    {&analyze::kMemoryBandwidthSeries},
    {.analysis = &analyze::kMemoryEvents, .grows = true},
    {.analysis = &analyze::kCriticalPathEdges, .part = 32, .grows = true},
    {.analysis = &analyze::kQueueLengthSeries, .part = 32, .grows = true},
};
constexpr i64 kPartOfDetails = 3;   // of the limit, that all of them may take
constexpr i64 kJsonPerEvent = 250;  // bytes, about

constexpr i64 kRoomForWords = 3'000;  // for what is said of what is left out

// The folder's or file's name; of several paths the first one's.
std::string job_title(const std::vector<std::string>& paths) {
  if (paths.empty()) return "job";
  std::error_code ignored;
  std::filesystem::path path = paths[0];
  if (path == "-") return std::string(base_name("-"));
  if (path.filename() == "." || path.filename() == ".." || !path.has_filename())
    path = std::filesystem::absolute(path, ignored).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  return paths.size() == 1 ? name : fmt::format("{} and {} more", name, paths.size() - 1);
}

class PageMaker {
 public:
  PageMaker(const Job& job, diagnose::Diagnosis diagnosis, const analyze::RunRequest& run, const Loader& load,
            const PageOptions& options)
      : job_(job),
        run_(run),
        load_(load),
        options_(options),
        diagnosis_(std::move(diagnosis)),
        files_(diagnosis_.files),
        title_(job_title(options.paths)),
        paths_(shell_paths(options.paths)),
        source_url_(options.source_url.empty() ? source_url_of(job) : options.source_url) {
    if (!options.redacted) return;
    redactor_.emplace(options.paths, diagnosis_);
    redactor_->redact(diagnosis_);
    title_ = redactor_->path(title_);
    std::vector<std::string> paths;
    for (const std::string& path : options.paths) paths.push_back(redactor_->path(path));
    paths_ = shell_paths(paths);
    source_url_.clear();
  }

  Result<std::string> make() {
    TRY_ASSIGN(const std::string words, job_block({}));
    const std::string body = body_html({});
    used_ = static_cast<i64>(page::html().size() + body.size() + words.size());
    TRY_ASSIGN(std::string blocks, table_blocks());
    if (is_limited() && room() < 0)
      return fail(
          Code::invalid,
          "a report of this job takes {} bytes without any table, more than --max-size {}; allow more, or "
          "choose fewer --ranks",
          used_ + kRoomForWords, options_.most_bytes);
    TRY(add_details(blocks));
    TRY(add_spans(blocks));
    const std::string sentence = left_out_sentence();
    TRY_ASSIGN(const std::string job, job_block(sentence));
    return page::filled({.title = html_escaped(title_ + " - Spotter"),
                         .body = sentence.empty() ? body : body_html(sentence),
                         .blocks = job + blocks});
  }

 private:
  std::string command() const { return fmt::format("spotter analyze {}{}", paths_, options_.part); }
  bool is_limited() const { return options_.most_bytes > 0; }
  i64 room() const { return options_.most_bytes - kRoomForWords - used_; }

  std::string body_html(const std::string& left_out) {
    if (!left_out.empty()) {
      diagnosis_.facts.notes.add("left_out_of_report", Severity::info, left_out);
    }
    return static_html(make_page_report(diagnosis_, options_.names), title_, diagnosis_.start,
                       command() + " --format html");
  }

  Result<std::string> job_block(const std::string& left_out) {
    std::vector<std::string> paths;
    for (const analyze::RankFile& file : files_) paths.push_back(file.path);
    const Table tables[] = {
        jobs_table(job_, diagnosis_, title_),
        facts_table({{"title", title_},
                     {"start_ns", diagnosis_.start ? fmt::format("{}", *diagnosis_.start) : ""},
                     {"command", command()},
                     {"version", kVersion},
                     {"paths", paths_},
                     {"left_out", left_out},
                     {"source_url", source_url_},
                     {"redacted", options_.redacted ? "yes" : ""}}),
        ranks_table(job_, paths, diagnosis_), analyses_table()};
    return data_block("job", {tables, diagnosis_.notes});
  }

  bool is_detail(const Table& table) const {
    return std::ranges::any_of(kDetails, [&](const Detail& d) { return table.name() == d.analysis->name; });
  }

  // The findings and the usual tables. Where even these are too many, the largest are left out.
  Result<std::string> table_blocks() {
    std::vector<Table> tables;
    if (diagnosis_.findings) tables.push_back(*diagnosis_.findings);
    if (diagnosis_.what_if) tables.push_back(*diagnosis_.what_if);
    for (const Table& table : has_findings_alone() ? diagnosis_.fact_tables : diagnosis_.tables)
      if (!is_detail(table) && table.name() != analyze::kSpans.name) tables.push_back(table);
    for (;;) {
      TRY_ASSIGN(std::string block, data_block("tables", {tables, {}}));
      const bool fits = !is_limited() || static_cast<i64>(block.size()) <= room();
      if (fits || tables.size() <= 1) {
        used_ += static_cast<i64>(block.size());
        return block;
      }
      // The findings, which are first, stay.
      const auto largest = std::max_element(
          tables.begin() + 1, tables.end(),
          [](const Table& a, const Table& b) { return a.rows() * a.columns() < b.rows() * b.columns(); });
      left_out_tables_.push_back(largest->name());
      tables.erase(largest);
    }
  }

  Result<void> add_details(std::string& blocks) {
    i64 taken = 0;
    if (has_findings_alone()) return {};
    for (const auto& [analysis, part, grows] : kDetails) {
      const auto table = std::ranges::find(diagnosis_.tables, std::string_view(analysis->name), &Table::name);
      if (table == diagnosis_.tables.end()) {
        if (std::ranges::find(run_.analyses, analysis) == run_.analyses.end())
          left_out_tables_.emplace_back(analysis->name);
        continue;
      }
      TRY_ASSIGN(const std::string block,
                 data_block(fmt::format("tables/{}", analysis->name), {{&*table, 1}, {}}));
      const auto bytes = static_cast<i64>(block.size());
      const bool fits = bytes <= options_.most_bytes / part && bytes <= room() &&
                        taken + bytes <= options_.most_bytes / kPartOfDetails;
      if (is_limited() && !fits) {
        left_out_tables_.emplace_back(analysis->name);
        continue;
      }
      taken += bytes;
      used_ += bytes;
      blocks += block;
    }
    return {};
  }

  Result<void> add_spans(std::string& blocks) {
    if (has_findings_alone()) return {};
    const auto steps =
        std::ranges::find(diagnosis_.tables, std::string_view(analyze::kSteps.name), &Table::name);
    SpanRequest wanted{.files = files_,
                       .spans = find_spans(),
                       .steps = steps != diagnosis_.tables.end() ? &*steps : nullptr,
                       .first_ranks = ranks_of_findings(),
                       .room = is_limited() ? std::optional(std::max<i64>(0, room())) : std::nullopt,
                       .redactor = redactor_ ? &*redactor_ : nullptr};
    TRY_ASSIGN(SpanBlocks spans, span_blocks(job_, run_, load_, wanted));
    blocks += spans.blocks;
    left_out_spans_ = std::move(spans.left_out);
    return {};
  }

  const Table* find_spans() const {
    const auto spans =
        std::ranges::find(diagnosis_.tables, std::string_view(analyze::kSpans.name), &Table::name);
    return spans != diagnosis_.tables.end() ? &*spans : nullptr;
  }

  std::vector<i64> ranks_of_findings() const {
    constexpr i64 kMost = 64;
    std::vector<i64> ranks;
    const Table& findings = *diagnosis_.findings;
    for (size_t row = 0; row < findings.rows(); ++row) {
      const auto ranges = analyze::parse_ranges(std::string(table::text_or_empty(findings, row, "ranks")));
      if (!ranges) continue;
      for (const analyze::Range& range : *ranges)
        for (i64 rank = range.first; rank <= std::min(range.last, range.first + kMost); ++rank)
          ranks.push_back(rank);
    }
    return ranks;
  }

  // Its ranks were read on their own hosts, which answered what findings need.
  bool has_findings_alone() const { return diagnosis_.tables.empty(); }

  std::string left_out_sentence() const {
    if (has_findings_alone())
      return "the traces were read where they were written, so that this report has the tables that findings are "
             "made from, but no others and no spans; `spotter analyze` has all where the traces are in one place";
    std::vector<std::string> what;
    if (!left_out_spans_.empty()) what.push_back(left_out_spans_);
    if (!left_out_tables_.empty())
      what.push_back(fmt::format("the table{} {}", left_out_tables_.size() == 1 ? "" : "s",
                                 fmt::join(left_out_tables_, ", ")));
    if (what.empty()) return {};
    return fmt::format(
        "so that it can be mailed, this report ({:.1f} MB at most) leaves out {}; `{} --max-size 0 -o report.html` "
        "writes one with everything, `--table NAME` prints one table",
        static_cast<double>(options_.most_bytes) / 1e6, fmt::join(what, ", and "), command());
  }

  const Job& job_;
  const analyze::RunRequest& run_;
  const Loader& load_;
  const PageOptions& options_;
  diagnose::Diagnosis diagnosis_;
  const std::vector<analyze::RankFile> files_;  // as they are, also where the report hides their names
  std::string title_, paths_, source_url_;
  std::optional<Redactor> redactor_;
  i64 used_ = 0;  // bytes of the page so far
  std::vector<std::string> left_out_tables_;
  std::string left_out_spans_;
};

}  // namespace

std::vector<const Analysis*> page_analyses(const Job& job, i64 most_bytes) {
  std::vector<const Analysis*> all = analyze::usual_analyses();
  i64 json = 0;
  for (const TraceFile& file : job.files) json += file.json_bytes;
  // More than a table that grows with them may take, at well over a byte for each of them.
  const bool is_large = most_bytes > 0 && json / kJsonPerEvent > most_bytes;
  for (const Detail& detail : kDetails)
    if (!is_large || !detail.grows) all.push_back(detail.analysis);
  // Standard input is read once.
  if (job.files.size() == 1 && job.files[0].path == "-") all.push_back(&analyze::kSpans);
  return all;
}

std::string part_words(const analyze::RunRequest& request) {
  std::string words;
  if (!request.ranks.empty()) {
    words += " --ranks ";
    for (const analyze::Range& range : request.ranks) {
      if (&range != request.ranks.data()) words += ',';
      words += range.first == range.last ? fmt::format("{}", range.first)
                                         : fmt::format("{}-{}", range.first, range.last);
    }
  }
  if (request.steps) words += fmt::format(" --steps {}-{}", request.steps->first, request.steps->last);
  return words;
}

Result<std::string> html_report(const Job& job, diagnose::Diagnosis diagnosis, const analyze::RunRequest& run,
                                const Loader& load, const PageOptions& options) {
  return PageMaker(job, std::move(diagnosis), run, load, options).make();
}

}  // namespace spotter::report
