// Jobs, and the run of analyses over one.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "analyze/list.h"
#include "analyze/mapped_shard.h"
#include "base/system/file.h"
#include "base/text/shell_word.h"
#include "beat.h"
#include "core.h"
#include "diagnose/diagnose.h"
#include "diagnose/run.h"
#include "diagnose/what_if_words.h"
#include "held_table.h"
#include "job.h"
#include "read/flight_recorder/flight_recorder.h"
#include "read/open.h"
#include "report/html/html_report.h"
#include "report/html/notebook_html.h"
#include "report/report.h"
#include "report/text.h"
#include "requests.h"
#include "unlocked.h"
#include "values.h"
#include "wire/mapped_shard.h"

namespace spotter::python {

namespace {

// What a run gives, and the report of it where there are findings.
struct Answer {
  diagnose::Diagnosis diagnosis;
  size_t names;  // that the report lists
};

HeldJob open(const std::vector<nb::bytes>& words) {
  std::vector<std::string> paths;
  for (const nb::bytes& word : words) paths.emplace_back(word.c_str(), word.size());
  auto job = [&] {
    const Unlocked unlocked;
    return read::open_job(paths);
  }();
  return {paths, value_of(std::move(job))};
}

// (path, bytes as stored, bytes of its text about, rank or None) of each file.
nb::list files_of(const HeldJob& held) {
  nb::list files;
  for (const TraceFile& file : held.job.files) {
    const nb::object rank = file.rank ? nb::object(nb::int_(*file.rank)) : nb::none();
    files.append(nb::make_tuple(path_of(file.path), file.bytes, file.json_bytes, rank));
  }
  return files;
}

std::vector<diagnose::WhatIf> questions_of(const std::vector<std::string>& words) {
  std::vector<diagnose::WhatIf> questions;
  for (const std::string& word : words) questions.push_back(value_of(diagnose::parse_what_if(word)));
  return questions;
}

// Files that workers have mapped, in place of reading them. What a worker does not know of its file is what
// lies elsewhere among the job.
Result<analyze::JoinedShards> joined(const Job& job, const std::vector<std::string_view>& parts) {
  std::vector<std::pair<std::string, analyze::MappedShard>> shards;
  for (const std::string_view bytes : parts) {
    TRY_ASSIGN(analyze::MappedShard part, wire::read_shard(bytes));
    for (size_t i = 0; i < part.files.size() && part.job.size() == job.files.size(); ++i)
      part.files[i].evidence.receipt_rank = job.files[part.places[i]].receipt_rank;
    shards.emplace_back(fmt::format("task {}", shards.size()), std::move(part));
  }
  return analyze::JoinedShards::join(std::move(shards));
}

diagnose::Diagnosis diagnosed(const Job& job, diagnose::Request request,
                              const std::optional<std::vector<std::string_view>>& parts, Beat& beat) {
  request.run.on_progress = beat.on_progress();
  request.run.cancelled = beat.cancelled();
  request.load_record = read::load_flight_record;
  const auto run = [&]() -> Result<diagnose::Diagnosis> {
    if (parts)
      request.map = [&](const Job& of, const analyze::RunRequest& wanted) -> Result<analyze::MappedJob> {
        TRY_ASSIGN(analyze::JoinedShards shards, joined(of, *parts));
        const auto reopen = [](const auto&, const std::string& why) -> Result<Job> {
          return fail(Code::internal, "{}", why);
        };
        return std::move(shards).map(wanted, reopen, read::load);
      };
    return diagnose::run(job, std::move(request), read::load);
  };
  return beat.run<diagnose::Diagnosis>(run);
}

Answer run(const HeldJob& held, const std::vector<std::string>& names, const nb::list& params,
           const Part& part, const std::string& compat, const std::vector<std::string>& what_ifs,
           double sensitivity, const std::optional<std::vector<nb::bytes>>& parts, nb::callable tell) {
  Asked wanted = asked(names, params, part, compat);
  diagnose::Request request{.run = std::move(wanted.run),
                            .findings = wanted.names_findings,
                            .what_ifs = questions_of(what_ifs),
                            .paths = shell_paths(held.paths),
                            .sensitivity = sensitivity};
  const size_t listed = report::names_listed(request.run.params);
  std::optional<std::vector<std::string_view>> views;
  if (parts) views.emplace();
  for (const nb::bytes& part_bytes : parts.value_or(std::vector<nb::bytes>()))
    views->emplace_back(part_bytes.c_str(), part_bytes.size());
  Beat beat(std::move(tell));
  return {diagnosed(held.job, std::move(request), views, beat), listed};
}

// Writes the report of the job as a page, whole or not at all. It needs more than what people are shown, so
// the traces are read anew.
void save_report(const HeldJob& held, const nb::bytes& path, const nb::list& params, const Part& part,
                 const std::vector<std::string>& what_ifs, double sensitivity, i64 most_bytes, bool redacted,
                 const std::string& source_url, nb::callable tell) {
  diagnose::Request request{.run = asked({diagnose::kFindings}, params, part, "").run,
                            .findings = true,
                            .what_ifs = questions_of(what_ifs),
                            .paths = shell_paths(held.paths),
                            .sensitivity = sensitivity,
                            .load_record = read::load_flight_record};
  request.run.analyses = report::page_analyses(held.job, most_bytes);
  Beat beat(std::move(tell));
  request.run.on_progress = beat.on_progress();
  request.run.cancelled = beat.cancelled();
  const report::PageOptions options{.paths = held.paths,
                                    .part = report::part_words(request.run),
                                    .most_bytes = most_bytes,
                                    .redacted = redacted,
                                    .source_url = source_url,
                                    .names = report::names_listed(request.run.params, report::kPageNames)};
  const std::string page = beat.run<std::string>([&]() -> Result<std::string> {
    const analyze::RunRequest run = request.run;
    TRY_ASSIGN(diagnose::Diagnosis diagnosis, diagnose::run(held.job, std::move(request), read::load));
    return report::html_report(held.job, std::move(diagnosis), run, read::load, options);
  });
  value_of(write_file_atomically({path.c_str(), path.size()}, page));
}

std::optional<HeldTable> held(const std::optional<Table>& table, std::optional<Ns> time_zero) {
  if (!table) return std::nullopt;
  return HeldTable(*table, time_zero);
}

// `alone`: who gets a table and not the answer learns from it what is to be known of the traces.
std::optional<HeldTable> findings_of(const Answer& answer, bool alone) {
  std::optional<Table> findings = answer.diagnosis.findings;
  if (findings && alone) findings->notes.merge(diagnose::notes_beside_findings(answer.diagnosis.notes));
  return held(findings, answer.diagnosis.start);
}

nb::list tables_of(Answer& answer, bool alone) {
  nb::list tables;
  for (Table& table : answer.diagnosis.tables) {
    if (alone) table.notes.merge(answer.diagnosis.notes);
    tables.append(nb::cast(HeldTable(std::move(table), answer.diagnosis.start)));
  }
  answer.diagnosis.tables.clear();
  return tables;
}

nb::list timing_of(const Answer& answer) {
  nb::list phases;
  for (const analyze::PhaseTime& time : answer.diagnosis.timing)
    phases.append(nb::make_tuple(time.phase, time.wall_ns));
  return phases;
}

// The parts of a report's section: ("points", [(text, about)]), ("table", Table) and ("notes", notes).
class PartOf {
 public:
  nb::object operator()(const report::Points& points) const {
    nb::list all;
    for (const report::Point& point : points)
      all.append(nb::make_tuple(text_of(point.text), text_of(point.about)));
    return nb::make_tuple("points", all);
  }
  nb::object operator()(const Table& table) const {
    return nb::make_tuple("table", nb::cast(HeldTable(table)));
  }
  nb::object operator()(const Notes& notes) const { return nb::make_tuple("notes", notes_of(notes)); }
  // Pages alone have pictures.
  nb::object operator()(const report::Bars&) const { return nb::none(); }
  nb::object operator()(const report::HeatMap&) const { return nb::none(); }
};

// (headline, [(name, title, parts, sentence)]).
nb::tuple report_of(const Answer& answer) {
  const report::Report report = report::make_report(answer.diagnosis, answer.names);
  nb::list headline, sections;
  for (const std::string& words : report.headline) headline.append(text_of(words));
  for (const report::ShownSection& section : report.sections) {
    nb::list parts;
    for (const report::Part& part : section.parts) parts.append(std::visit(PartOf(), part));
    sections.append(
        nb::make_tuple(text_of(section.name), text_of(section.title), parts, text_of(section.sentence)));
  }
  return nb::make_tuple(headline, sections);
}

nb::str report_text(const Answer& answer, int width, bool color) {
  return text_of(report::report_text(report::make_report(answer.diagnosis, answer.names),
                                     {.width = width, .color = color, .time_zero = answer.diagnosis.start}));
}

nb::str report_html(const Answer& answer) {
  return text_of(report::notebook_html(answer.diagnosis, answer.names));
}

}  // namespace

void bind_runs(nb::module_& module) {
  nb::class_<Part>(module, "Part")
      .def(nb::init<std::string, std::string, int, i64>(), nb::arg("ranks"), nb::arg("steps"),
           nb::arg("threads"), nb::arg("memory"));
  nb::class_<HeldJob>(module, "Job").def_prop_ro("files", files_of);
  nb::class_<Answer>(module, "Answer")
      .def("take_tables", tables_of, nb::arg("alone"))
      .def("findings", findings_of, nb::arg("alone"))
      .def_prop_ro("what_if", [](const Answer& a) { return held(a.diagnosis.what_if, a.diagnosis.start); })
      .def_prop_ro("notes", [](const Answer& a) { return notes_of(a.diagnosis.notes); })
      .def_prop_ro("start", [](const Answer& a) { return a.diagnosis.start; })
      .def_prop_ro("timing", timing_of)
      .def("report", report_of)
      .def("report_text", report_text, nb::arg("width"), nb::arg("color"))
      .def("report_html", report_html);
  module.def("open_job", open, nb::arg("paths"));
  module.def("run", run, nb::arg("job"), nb::arg("names"), nb::arg("params"), nb::arg("part"),
             nb::arg("compat"), nb::arg("what_ifs"), nb::arg("sensitivity"), nb::arg("parts").none(),
             nb::arg("tell"));
  module.def("save_report", save_report, nb::arg("job"), nb::arg("path"), nb::arg("params"), nb::arg("part"),
             nb::arg("what_ifs"), nb::arg("sensitivity"), nb::arg("most_bytes"), nb::arg("redacted"),
             nb::arg("source_url"), nb::arg("tell"));
  module.def("usual_analyses", [] {
    nb::list names;
    for (const Analysis* analysis : analyze::usual_analyses()) names.append(analysis->name);
    return names;
  });
}

}  // namespace spotter::python
