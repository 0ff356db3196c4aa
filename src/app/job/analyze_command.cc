// analyze: paths -> job -> tables -> bytes.
#include "app/job/analyze_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "analyze/critical_path/what_if.h"
#include "analyze/list.h"
#include "app/cli/format_option.h"
#include "app/cli/interruption.h"
#include "app/cli/job_options.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/cli/terminal.h"
#include "app/cli/words.h"
#include "app/job/analysis_words.h"
#include "app/job/open_paths.h"
#include "app/job/table_options.h"
#include "base/parallel_for.h"
#include "base/system/memory.h"
#include "base/text/number.h"
#include "base/text/shell_word.h"
#include "diagnose/diagnose.h"
#include "diagnose/run.h"
#include "diagnose/tables.h"
#include "diagnose/what_if_words.h"
#include "read/flight_recorder/flight_recorder.h"
#include "read/open.h"
#include "render/list.h"
#include "report/html/format.h"
#include "report/html/html_report.h"
#include "report/report.h"
#include "report/text.h"

namespace spotter::app {
namespace {

Result<JobSource> open_traces(const std::vector<std::string>& paths, analyze::RunRequest&) {
  TRY_ASSIGN(Job job, open_paths(paths));
  return JobSource{.job = std::move(job), .paths = paths};
}

struct Options {
  OpenSource open = open_traces;
  std::vector<std::string> paths;
  std::vector<analyze::FileResult> elsewhere;  // files that were mapped on other hosts, for this request
  analyze::RunRequest request;
  const render::Format* named_format = nullptr;  // by --format
  const render::Format* format = &render::kText;
  std::string output;  // empty: standard output
  bool timing = false;
  bool epoch = false;
  bool names_findings = false;
  table::RowQuery rows;                    // of the one table that is named
  std::vector<diagnose::WhatIf> what_ifs;  // of the job's replay
  double sensitivity = diagnose::kSensitivity;
  std::optional<double> fault_share;  // from which on a fault is told by the exit status, too
  std::optional<i64> page_bytes;
  bool redacted = false;
  std::string source_url;
  bool names_tables() const { return names_findings || !request.analyses.empty(); }
  // A program that asks what if wants to know just that.
  bool wants_answer_alone() const { return !what_ifs.empty() && !names_tables() && !is_for_people(); }
  bool is_text() const { return format == &render::kText; }
  bool is_page() const { return format == &report::kHtml; }
  bool is_for_people() const { return is_text() || is_page(); }
  // People are shown a report, programs are given everything. There is no report of another tool's tables:
  // people are shown those.
  bool wants_report() const { return !names_tables() && is_for_people() && !has_other_tables(); }
  bool has_other_tables() const { return request.compat && !request.compat->instead.empty(); }
  // The report's tables are made from findings and what they are made from.
  std::vector<const Analysis*> wanted() const {
    if (names_tables() || wants_report() || wants_answer_alone())
      return analyze::stand_ins(request.compat, request.analyses);
    if (is_for_people()) return analyze::usual_tables(*request.compat);
    return analyze::stand_ins(request.compat, analyze::usual_analyses());
  }
  // Those whose parameters may be set.
  std::vector<const Analysis*> chosen() const {
    if (wants_report() && is_page()) return report::page_analyses(Job(), 0);
    return wants_report() ? diagnose::fact_analyses() : wanted();
  }
};

// The parameter of the critical path has its name; words about the replay go to `what_ifs`.
Option what_if_option(Option of_path, std::vector<diagnose::WhatIf>& what_ifs,
                      const ParamSettings& settings) {
  const auto read = [name = std::string(analyze::kWhatIf.name), of_path, &what_ifs,
                     &settings](const std::string& word) -> Result<void> {
    if (diagnose::is_about_replay(word)) {
      TRY_ASSIGN(diagnose::WhatIf question, diagnose::parse_what_if(word));
      what_ifs.push_back(std::move(question));
      return {};
    }
    const auto is_same = [&](const auto& setting) { return setting.first == name; };
    if (std::ranges::any_of(settings, is_same))
      return fail(Code::invalid, "\"{}\" is a second name for the critical path, which takes one", word);
    return of_path.read(word);
  };
  Option option = of_path;
  option.help +=
      ". Or of the whole job, run again with other times; may be repeated: PART:WHOSE=VALUE with the part "
      "device, host, pause or transfer, of all, rank=RANKS or (transfer) group=NAME, and as value a factor "
      "of its time or peer, what peers need (device:rank=3=peer, transfer:all=0)";
  option.read = read;
  option.repeatable = true;
  return option;
}

void print_timing(const std::vector<analyze::PhaseTime>& timing) {
  for (const analyze::PhaseTime& t : timing) {
    std::fprintf(stderr, "%10s  %s\n", render::human_ns(t.wall_ns).c_str(), t.phase.c_str());
  }
}

// On people's faces times count from the start of the job, unless they want Unix times.
render::TextStyle job_style_of(const Options& options, const diagnose::Diagnosis& diagnosis, int fd) {
  render::TextStyle style = style_of(fd, options.source_url);
  if (!options.epoch) style.time_zero = diagnosis.start;
  return style;
}

// The report, or findings as sentences before the tables.
std::string text_of(const Options& options, const diagnose::Diagnosis& diagnosis, int fd) {
  if (options.wants_report())
    return report::report_text(report::make_report(diagnosis, report::names_listed(options.request.params)),
                               page_style_of(fd, options.source_url));
  std::vector<Table> tables = diagnosis.tables;
  if (diagnosis.what_if) tables.insert(tables.begin(), *diagnosis.what_if);
  if (!diagnosis.findings)
    return render::render(*options.format, {tables, diagnosis.notes}, job_style_of(options, diagnosis, fd));
  Notes notes = diagnose::notes_beside_findings(diagnosis.notes);
  notes.merge(diagnosis.findings->notes);
  return report::section_text(report::findings_section(*diagnosis.findings),
                              page_style_of(fd, options.source_url)) +
         "\n" + render::render(*options.format, {tables, notes}, job_style_of(options, diagnosis, fd));
}

Result<std::string> page_of(const Options& options, const JobSource& source, diagnose::Diagnosis diagnosis) {
  report::PageOptions page{.paths = source.paths,
                           .part = report::part_words(options.request),
                           .redacted = options.redacted,
                           .source_url = options.source_url,
                           .names = report::names_listed(options.request.params, report::kPageNames)};
  if (options.page_bytes) page.most_bytes = *options.page_bytes;
  analyze::RunRequest run = options.request;
  run.cancelled = interruption();
  return report::html_report(source.job, std::move(diagnosis), run, read::load, page);
}

// Findings become the first of the tables; notes that the format does not show are said on standard error.
Result<std::string> data_of(const Options& options, diagnose::Diagnosis& diagnosis, int fd) {
  const std::vector<Table> tables = diagnose::take_tables(diagnosis);
  const render::Document document = {tables, diagnosis.notes};
  TRY(render::check_rows(*options.format, document, "--table"));
  say_notes(*options.format, document);
  return render::render(*options.format, document, job_style_of(options, diagnosis, fd));
}

// Those that will be shown, without rows.
std::vector<Table> planned_tables(const Options& options) {
  std::vector<Table> tables;
  for (const Analysis* analysis : options.chosen()) tables.emplace_back(analysis->name, analysis->columns);
  if (options.names_findings) tables.emplace_back(diagnose::kFindings, diagnose::finding_columns());
  if (!options.what_ifs.empty()) tables.emplace_back(diagnose::kWhatIfTable, diagnose::what_if_columns());
  return tables;
}

// A fault that costs that share of the step, or because of which the job got no further.
bool has_fault(const Table& findings, double share) {
  for (size_t row = 0; row < findings.rows(); ++row) {
    const Value costs = findings.at(row, findings.column("share"));
    if (findings.text(row, findings.column("kind")) == "fault" &&
        (is_null(costs) || std::get<double>(costs) >= share))
      return true;
  }
  return false;
}

// "fault", "fault:5%" or "fault:0.05": the share.
Result<double> parse_fail_on(const std::string& word) {
  constexpr std::string_view kFault = "fault";
  std::string_view share = word;
  const bool is_fault = share.starts_with(kFault);
  if (is_fault) share.remove_prefix(kFault.size());
  if (is_fault && share.empty()) return 0;
  const bool is_percent = share.ends_with('%');
  if (is_percent) share.remove_suffix(1);
  const auto number = is_fault && share.starts_with(':') ? number_in<double>(share.substr(1)) : std::nullopt;
  const double ratio = number.value_or(-1) / (is_percent ? 100 : 1);
  if (!(ratio >= 0 && ratio <= 1))
    return fail(Code::invalid,
                "\"{}\" is nothing to fail on; write fault, or fault:5% for its share of the step", word);
  return ratio;
}

// As other sizes, and 0.
Result<i64> parse_page_size(const std::string& word) {
  if (word == "0") return 0;
  return parse_size(word);
}

// What the command ends with where --fail-on says so; 1 is an error, 3 and 4 are those of captures.
constexpr int kFaultFound = 5;

// The exit status.
Result<int> analyze(Options options) {
  keep_freed_memory();
  TRY_ASSIGN(const JobSource source, options.open(options.paths, options.request));
  // What the user says once for all is before what the receipts of one capture say.
  if (options.source_url.empty() && !std::getenv("SPOTTER_SOURCE_URL"))
    options.source_url = source_url_of(source.job);
  const std::atomic<bool>* interrupted = interruption();
  TRY(check_output(options.output, source.job));
  TRY(check_output(options.output, *options.format));

  TRY(render::check_takes(*options.format, planned_tables(options), "--table"));

  diagnose::Request request{
      .run = options.request,
      .findings = options.names_findings || options.wants_report() || options.fault_share,
      .what_ifs = options.what_ifs,
      .sensitivity = options.sensitivity,
      .elsewhere = std::move(options.elsewhere),
      .map = source.map,
      .load_record = read::load_flight_record};
  request.paths = shell_paths(source.paths);
  request.run.analyses = options.wanted();
  if (options.is_page() && options.wants_report() && request.elsewhere.empty())
    request.run.analyses =
        report::page_analyses(source.job, options.page_bytes.value_or(report::kMostPageBytes));
  request.run.cancelled = interrupted;
  Result<diagnose::Diagnosis> diagnosis;
  {
    Progress progress;
    request.run.on_progress = [&](i64 done, i64 total) { progress.update(done, total); };
    diagnosis = diagnose::run(source.job, std::move(request), read::load);
  }
  TRY(diagnosis);
  const i64 left_out = diagnosis->notes.count("file_left_out");
  const bool is_failure = options.fault_share && has_fault(*diagnosis->findings, *options.fault_share);
  if (!options.names_findings && !options.wants_report()) diagnosis->findings.reset();
  TRY(choose_rows(options.rows, *diagnosis));
  const int fd = is_standard_output(options.output) ? STDOUT_FILENO : -1;
  const std::vector<analyze::PhaseTime> timing = std::exchange(diagnosis->timing, {});
  TRY_ASSIGN(const std::string bytes,
             options.is_text() ? Result<std::string>(text_of(options, *diagnosis, fd))
             : options.is_page() && options.wants_report() ? page_of(options, source, std::move(*diagnosis))
                                                           : data_of(options, *diagnosis, fd));
  if (options.timing) print_timing(timing);
  if (*interrupted) return fail(Code::cancelled, "interrupted; nothing was written");
  TRY(write_output(options.output, bytes));
  if (!is_failure && options.fault_share && left_out > 0)
    return fail(Code::invalid, "--fail-on: {} could not be read, and what {} shows is not known",
                left_out == 1 ? "a file" : fmt::format("{} files", left_out), left_out == 1 ? "it" : "each");
  return is_failure ? kFaultFound : source.status;
}

}  // namespace

Result<void> check_report_output(const std::string& output) {
  TRY_ASSIGN(const render::Format* format, choose_format(nullptr, output, Formats::for_jobs));
  if (format == &render::kText || format == &report::kHtml) return {};
  return fail(Code::invalid, "a report is text or a page, not {}; call the file r.txt or r.html",
              format->name);
}

Result<void> print_report(const std::vector<std::string>& paths, std::vector<analyze::FileResult> elsewhere,
                          const std::string& output) {
  Options options;
  options.output = output;
  TRY_ASSIGN(options.format, choose_format(nullptr, output, Formats::for_jobs));
  options.paths = paths;
  options.elsewhere = std::move(elsewhere);
  options.request.threads = all_processors();
  TRY(analyze(std::move(options)));
  return {};
}

Command command_over_job(Command command, std::string argument_help, std::string argument, OpenSource open) {
  const auto options = std::make_shared<Options>();
  options->open = std::move(open);
  Options* o = options.get();  // the action, which owns them, outlives every parse
  analyze::RunRequest& r = o->request;
  r.threads = all_processors();

  command.arguments = {{.name = std::move(argument),
                        .help = std::move(argument_help),
                        .read = keep_each(o->paths),
                        .offer = offer_files(),
                        .many = true}};
  command.check = [o]() -> Result<void> {
    TRY_ASSIGN(o->format, choose_format(o->named_format, o->output, Formats::for_jobs));
    if (!o->what_ifs.empty() && o->request.compat)
      return fail(Code::invalid,
                  "--what-if of the whole job takes all of its traces, but --compat leaves out what another "
                  "tool does not see");
    if (o->fault_share && o->request.compat && o->request.compat->rows)
      return fail(
          Code::invalid,
          "--fail-on takes all of the traces, but --compat leaves out what another tool does not see");
    if (o->is_page() && !o->names_tables() && o->request.compat)
      return fail(
          Code::invalid,
          "a report in HTML has the numbers that --compat replaces; name tables with --table, or leave it out");
    if (!(o->is_page() && o->wants_report()) && (o->page_bytes || o->redacted))
      return fail(Code::invalid,
                  "--max-size and --redact are of a report in HTML: --format html, without --table");
    TRY(check_rows(o->rows, o->request.analyses.size() + o->names_findings));
    list_all(o->rows, o->request.analyses, o->request.params);
    return check_params(o->chosen(), o->request.params);
  };
  command.action = [options]() -> Result<int> {
    say_when_interrupted(untouched(options->output));
    return analyze(*options);
  };
  std::vector<Option>& all = command.options;
  all = {
      {.names = {"--table"},
       .value = "NAME",
       .help =
           "print this analysis whole; may be repeated; `spotter analyses` lists them. Without it, text is a "
           "report and the other formats hold all analyses but those on request",
       .read =
           [o](const std::string& word) { return add_table(word, o->request.analyses, o->names_findings); },
       .offer = offer_words(diagnose::table_names),
       .repeatable = true},
      format_option(o->named_format, Formats::for_jobs),
      output_option(o->output)};
  append(all, row_options(o->rows));
  append(all, job_part_options(r.ranks, r.steps));
  for (const Param& param : all_params()) {
    Option option = option_of(param, r.params);
    const bool is_what_if = std::string_view(param.name) == analyze::kWhatIf.name;
    all.push_back(is_what_if ? what_if_option(std::move(option), o->what_ifs, r.params) : std::move(option));
  }
  all.push_back(compat_option(r.compat));
  append(
      all,
      {{.names = {"--sensitivity"},
        .value = "PERCENT",
        .help = "tell of findings from this share of the step on (default 1)",
        .read = [o](const std::string& word) -> Result<void> {
          const auto percent = number_in<double>(word);
          if (!percent || !(*percent >= 0 && *percent <= 100))
            return fail(Code::invalid, "\"{}\" is no share of a step; write a number of percent, such as 0.5",
                        word);
          o->sensitivity = *percent / 100;
          return {};
        }},
       {.names = {"--fail-on"},
        .value = "FAULT",
        .help = "end with status 5 if there is a fault; fault:5%: one that costs that share of the step",
        .read = parsed(o->fault_share, parse_fail_on)},
       {.names = {"--epoch"},
        .help =
            "show Unix times, as programs are given them; else text and pictures count times from the start of the "
            "job's first span",
        .read = set(o->epoch)}});
  append(
      all,
      {{.names = {"--max-size"},
        .value = "SIZE",
        .help =
            "of a report in HTML: leave out what would make it larger, and say so (default 3M; 0: no limit)",
        .read = parsed(o->page_bytes, parse_page_size)},
       {.names = {"--redact"},
        .help = "of a report in HTML: numbers instead of paths, host names and arguments",
        .read = set(o->redacted)},
       {.names = {"--source-url"},
        .value = "[ROOT=]URL",
        .help =
            "where links to lines of source code lead, in a report in HTML and on a terminal: "
            "https://github.com/OWNER/REPOSITORY/blob/COMMIT, or with {path} or {relative} and {line} "
            "(vscode://file{path}:{line}:{column}). ROOT: the folder of the traced host that it is of; "
            "may be repeated. On a terminal SPOTTER_SOURCE_URL is the usual one; without any it is what the "
            "receipts of a capture tell",
        .read = [o](const std::string& word) -> Result<void> {
          TRY(render::SourceLinks::parse(word));
          o->source_url += (o->source_url.empty() ? "" : " ") + word;
          return {};
        },
        .repeatable = true}});
  append(all, reading_options(r));
  all.push_back(
      {.names = {"--timing"}, .help = "say on standard error where the time went", .read = set(o->timing)});
  return command;
}

Command analyze_command() {
  return command_over_job(
      {.name = "analyze",
       .summary = "Analyse the PyTorch (Kineto) traces of a job.",
       .footer = "Examples:\n"
                 "  spotter analyze traces/ --ranks 0-7\n"
                 "  spotter analyze rank0.json.gz --table operators --top 0 --format csv"},
      "trace files (.json, .json.gz, .json.zst), folders of them (FOLDER#2: of several recordings in it the second), patterns, or - for standard input",
      "PATH", open_traces);
}

}  // namespace spotter::app
