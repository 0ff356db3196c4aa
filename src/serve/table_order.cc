#include "serve/table_order.h"

#include <unistd.h>

#include <algorithm>

#include "analyze/list.h"
#include "base/parallel_for.h"
#include "base/shell_word.h"
#include "diagnose/diagnose.h"
#include "diagnose/run.h"
#include "diagnose/tables.h"
#include "read/flight_recorder/flight_recorder.h"

namespace spotter::serve {

// What the files of a run told beside its tables.
struct TableOrder::Evidence {
  Learned learned;
  bool has_notes = false, has_losses = false;  // of loading the files
  bool has_records = false;                    // beside them, of which not every table tells
};

namespace {

const std::vector<const Analysis*>& overview() {
  static const std::vector<const Analysis*> all = {&analyze::kSummary,
                                                   &analyze::kTemporalBreakdown,
                                                   &analyze::kDeviceIdleBreakdown,
                                                   &analyze::kCommCompOverlap,
                                                   &analyze::kSteps,
                                                   &analyze::kStepBreakdown,
                                                   &analyze::kDeviceSummary};
  return all;
}

std::string group_of(const FoundJob& job, const TableAsk& ask) {
  return fmt::format("{}|{}|{}", job.id, job.version, part_key(ask.run));
}

Learned learned_of(const Job& job, const std::vector<analyze::FileResult>& files) {
  Learned learned;
  std::vector<RankEvidence> evidence;
  for (const analyze::FileResult& file : files) {
    evidence.push_back(file.evidence);
    if (file.start) learned.start = std::min(*file.start, learned.start.value_or(*file.start));
  }
  Notes unused;
  const auto ranks = resolve_ranks(evidence, unused);
  for (size_t i = 0; ranks && i < files.size(); ++i) learned.ranks[files[i].evidence.path] = (*ranks)[i].rank;
  for (const TraceFile& file : job.files) learned.hosts[file.path] = file.host;
  return learned;
}

Result<Body> body_of_table(const Table& table, const Notes& notes, Form form) {
  return body_of({std::span(&table, 1), notes}, form);
}

}  // namespace

void share_machine(analyze::RunRequest& run) {
  run.threads = all_processors();
  // Of the half that a run may take by itself.
  run.memory_bytes = static_cast<i64>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 2 / kAtOnce;
}

TableOrder::TableOrder(std::string of_key, JobPtr job, TableAsk ask, Form form, bool is_first, bool is_table,
                       Tell tell)
    : Order(std::move(of_key), group_of(*job, ask)),
      job_(std::move(job)),
      ask_(std::move(ask)),
      form_(form),
      is_first_(is_first),
      is_table_(is_table),
      tell_(std::move(tell)) {}

TableOrder::TableOrder(JobPtr job, TableAsk ask, Form form, bool is_first, Tell tell)
    : TableOrder(key_of(*job, ask, form), job, ask, form, is_first, true, std::move(tell)) {}

std::shared_ptr<TableOrder> TableOrder::to_learn(JobPtr job, Form form, Tell tell) {
  const std::string key = fmt::format("learn|{}|{}|{}", job->id, job->version, static_cast<int>(form));
  return std::shared_ptr<TableOrder>(
      new TableOrder(key, std::move(job), {}, form, true, false, std::move(tell)));
}

Result<diagnose::Diagnosis> TableOrder::run(const analyze::RunRequest& part, bool findings,
                                            std::optional<double> sensitivity,
                                            const std::atomic<bool>& cancelled, Evidence& evidence) const {
  TRY_ASSIGN(const Job job, open(*job_));
  diagnose::Request request{.run = part,
                            .findings = findings,
                            .paths = shell_paths(job_->paths),
                            .sensitivity = sensitivity.value_or(diagnose::kSensitivity),
                            .load_record = read::load_flight_record};
  request.run.cancelled = &cancelled;
  share_machine(request.run);
  const Loader load = loader_of(job_);
  request.map = [&](const Job& of, const analyze::RunRequest& how) -> Result<analyze::MappedJob> {
    TRY_ASSIGN(analyze::MappedJob mapped, analyze::map_files(of, how, load));
    for (const analyze::FileResult& file : mapped.files) {
      evidence.has_notes |= !file.notes.empty();
      evidence.has_losses |=
          file.error.has_value() || std::ranges::any_of(file.notes.all(), [](const Note& note) {
            return note.severity != Severity::info;
          });
    }
    evidence.has_records = !of.flight_records.empty();
    evidence.learned = learned_of(of, mapped.files);
    return mapped;
  };
  return diagnose::run(job, std::move(request), load);
}

Made TableOrder::make_alone(const TableOrder& order, const std::atomic<bool>& cancelled) const {
  Evidence unused;
  Result<diagnose::Diagnosis> diagnosis =
      run(order.ask_.run, !order.ask_.analysis, order.ask_.sensitivity, cancelled, unused);
  if (!diagnosis) return {order.key, tl::unexpected(diagnosis.error())};
  const Notes notes = diagnosis->notes;
  const std::vector<Table> tables = diagnose::take_tables(*diagnosis);
  return {order.key, body_of({tables, notes}, order.form_)};
}

// A table is as if it was asked for alone, notes and all. What is noted of damage depends on which arguments
// are read, so where there is anything to note files are read for each table by itself.
std::vector<Made> TableOrder::make_together(std::span<const TableOrder* const> orders,
                                            const std::atomic<bool>& cancelled) const {
  const bool is_whole = ask_.run.ranks.empty() && !ask_.run.steps && !ask_.run.compat;
  const bool is_first =
      is_whole && std::ranges::any_of(orders, [](const TableOrder* o) { return o->is_first_; });
  analyze::RunRequest part = ask_.run;
  part.analyses = is_first ? overview() : std::vector<const Analysis*>();
  bool findings = is_first;
  for (const TableOrder* order : orders) {
    findings |= order->is_table_ && !order->ask_.analysis;
    if (order->ask_.analysis && std::ranges::find(part.analyses, order->ask_.analysis) == part.analyses.end())
      part.analyses.push_back(order->ask_.analysis);
  }
  Evidence evidence;
  Result<diagnose::Diagnosis> diagnosis = run(part, findings, {}, cancelled, evidence);
  if (is_whole && (diagnosis || diagnosis.error().code != Code::cancelled)) {
    if (!diagnosis) evidence.learned = {.start = {}, .ranks = {}, .hosts = {}, .failure = diagnosis.error()};
    tell_(job_, evidence.learned);
  }
  std::vector<Made> made;
  const auto is_exact = [&](Form form) {
    return diagnosis && !evidence.has_losses &&
           !(form == Form::json && (evidence.has_notes || evidence.has_records));
  };
  const auto add = [&](const TableOrder& order, const Table& table) {
    made.push_back({order.key, body_of_table(table, diagnosis->notes, order.form_)});
  };
  for (const TableOrder* order : orders) {
    if (!order->is_table_)
      made.push_back({order->key, Body{}, false});
    else if (!diagnosis && diagnosis.error().code == Code::cancelled)
      made.push_back({order->key, tl::unexpected(diagnosis.error())});
    else if (!is_exact(order->form_))
      made.push_back(make_alone(*order, cancelled));
    else if (!order->ask_.analysis)
      add(*order, *diagnosis->findings);
    else
      add(*order, diagnosis->tables[static_cast<size_t>(
                      std::ranges::find(part.analyses, order->ask_.analysis) - part.analyses.begin())]);
  }
  for (const Form form : {Form::json, Form::columns}) {
    if (!is_first || !is_exact(form)) continue;
    const auto add_usual = [&](const Analysis* analysis, const Table& table) {
      TableAsk ask;
      ask.analysis = analysis;
      std::string its_key = key_of(*job_, ask, form);
      if (std::ranges::find(made, its_key, &Made::key) == made.end())
        made.push_back({std::move(its_key), body_of_table(table, diagnosis->notes, form)});
    };
    for (size_t i = 0; i < overview().size(); ++i) add_usual(overview()[i], diagnosis->tables[i]);
    add_usual(nullptr, *diagnosis->findings);
  }
  return made;
}

std::vector<Made> TableOrder::make(std::span<const std::shared_ptr<Order>> all,
                                   const std::atomic<bool>& cancelled) {
  std::vector<const TableOrder*> usual;
  std::vector<Made> made;
  for (const auto& order : all) {
    const auto& one = static_cast<const TableOrder&>(*order);
    if (one.ask_.is_usual)
      usual.push_back(&one);
    else
      made.push_back(make_alone(one, cancelled));
  }
  if (usual.empty()) return made;
  for (Made& one : make_together(usual, cancelled)) made.push_back(std::move(one));
  return made;
}

}  // namespace spotter::serve
