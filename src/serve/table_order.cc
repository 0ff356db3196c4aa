#include "serve/table_order.h"

#include <unistd.h>

#include <algorithm>

#include "analyze/list.h"
#include "base/parallel_for.h"
#include "base/text/shell_word.h"
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
                                                   &analyze::kDeviceSummary,
                                                   &analyze::kOperators};
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
  learned.source_url = source_url_of(job);
  return learned;
}

// Findings are in order.
void learn_worst(const Table& findings, Learned& learned) {
  learned.worst = "none";
  if (findings.rows() == 0) return;
  learned.worst = findings.text(0, findings.column("kind"));
  learned.finding = findings.text(0, findings.column("finding"));
  const Value share = findings.at(0, findings.column("share"));
  if (!is_null(share)) learned.share = std::get<double>(share);
}

// The analyses of a run for several that ask, each with parameters of its own.
struct Places {
  Places(const analyze::RunRequest& of, std::vector<const Analysis*> first) : part(of) {
    part.params.clear();
    part.analyses = std::move(first);
  }
  void add(const TableAsk& ask) {
    if (of(ask) < part.analyses.size()) return;
    if (!ask.run.params.empty()) part.own_params[part.analyses.size()] = ask.run.params;
    part.analyses.push_back(ask.analysis);
  }
  size_t of(const TableAsk& ask) const {
    const auto is_it = [&](size_t i) {
      const auto own = part.own_params.find(i);
      return part.analyses[i] == ask.analysis &&
             (own == part.own_params.end() ? ask.run.params.empty() : own->second == ask.run.params);
    };
    size_t place = 0;
    while (place < part.analyses.size() && !is_it(place)) ++place;
    return place;
  }

  analyze::RunRequest part;
};

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
      const bool is_no_trace = file.error && file.error->code == Code::unsupported;
      evidence.has_losses |=
          (file.error && !is_no_trace) || std::ranges::any_of(file.notes.all(), [](const Note& note) {
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
  Places places(ask_.run, is_first ? overview() : std::vector<const Analysis*>());
  bool findings = is_first;
  for (const TableOrder* order : orders) {
    findings |= order->is_table_ && !order->ask_.analysis;
    if (order->ask_.analysis) places.add(order->ask_);
  }
  Evidence evidence;
  Result<diagnose::Diagnosis> diagnosis = run(places.part, findings, {}, cancelled, evidence);
  if (is_whole && (diagnosis || diagnosis.error().code != Code::cancelled)) {
    if (!diagnosis) {
      evidence.learned = {};
      evidence.learned.failure = diagnosis.error();
    } else if (diagnosis->findings) {
      learn_worst(*diagnosis->findings, evidence.learned);
    }
    tell_(job_, evidence.learned);
  }
  const auto is_exact = [&](Form form) {
    return diagnosis && !evidence.has_losses &&
           !(form != Form::columns && (evidence.has_notes || evidence.has_records));
  };
  const auto table_of = [&](const TableAsk& ask) -> const Table& {
    return ask.analysis ? diagnosis->tables[places.of(ask)] : *diagnosis->findings;
  };
  std::vector<Made> made;
  const auto add = [&](const TableAsk& ask, Form form) {
    std::string its_key = key_of(*job_, ask, form);
    if (std::ranges::find(made, its_key, &Made::key) == made.end())
      made.push_back({std::move(its_key), body_of_table(table_of(ask), diagnosis->notes, form)});
  };
  for (const TableOrder* order : orders) {
    if (!order->is_table_)
      made.push_back({order->key, Body{}, false});
    else if (!diagnosis && diagnosis.error().code == Code::cancelled)
      made.push_back({order->key, tl::unexpected(diagnosis.error())});
    else if (is_exact(order->form_))
      add(order->ask_, order->form_);
    else
      made.push_back(make_alone(*order, cancelled));
  }
  for (const Form form : {Form::json, Form::columns}) {
    if (!is_first || !is_exact(form)) continue;
    for (const Analysis* analysis : overview()) add({.analysis = analysis}, form);
    add({}, form);
  }
  return made;
}

// Facts for findings are shared with tables that are wanted, but not with those of other parameters.
std::vector<Made> TableOrder::make(std::span<const std::shared_ptr<Order>> all,
                                   const std::atomic<bool>& cancelled) {
  std::vector<const TableOrder*> usual, with_params;
  std::vector<Made> made;
  bool findings = false;
  for (const auto& order : all) {
    const auto& one = static_cast<const TableOrder&>(*order);
    findings |= one.is_first_ || !one.ask_.analysis;
    if (one.ask_.is_usual)
      usual.push_back(&one);
    else if (one.ask_.run.compat || one.ask_.sensitivity)
      made.push_back(make_alone(one, cancelled));
    else
      with_params.push_back(&one);
  }
  if (!findings || usual.empty()) {
    usual.insert(usual.end(), with_params.begin(), with_params.end());
    with_params.clear();
  }
  for (const auto& orders : {usual, with_params}) {
    if (orders.empty()) continue;
    for (Made& one : orders[0]->make_together(orders, cancelled)) made.push_back(std::move(one));
  }
  return made;
}

}  // namespace spotter::serve
