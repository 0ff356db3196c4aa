#include "diagnose/run.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "analyze/list.h"
#include "analyze/top.h"
#include "diagnose/diagnose.h"
#include "diagnose/model/step_lengths.h"
#include "diagnose/search.h"
#include "render/render.h"
#include "trace/job.h"

namespace spotter::diagnose {
namespace {

// Adds to the run what the facts need. The place of each fact analysis among those of the run: its own,
// unless the user's table of it is whole: neither cut nor taken apart into its ranks.
std::vector<size_t> add_fact_analyses(analyze::RunRequest& run) {
  std::vector<size_t> places;
  for (const Analysis* analysis : fact_analyses()) {
    const auto wanted = std::ranges::find(run.analyses, analysis);
    places.push_back(static_cast<size_t>(wanted - run.analyses.begin()));
    const bool is_whole = !analyze::has_top(*analysis) && analysis != &analyze::kSkeleton;
    if (wanted != run.analyses.end() && is_whole) continue;
    places.back() = run.analyses.size();
    if (analyze::has_top(*analysis)) run.own_params[places.back()] = {{analyze::kTop.name, i64{0}}};
    run.analyses.push_back(analysis);
  }
  return places;
}

// Dumps beside the traces, where anybody wants to know of them, or where there is nothing else.
Result<std::optional<analyze::FlightRecords>> records_of(const Job& job, const Request& request) {
  const bool are_wanted =
      job.files.empty() || request.findings ||
      std::ranges::any_of(request.run.analyses, [](const Analysis* a) { return a->of_records != nullptr; });
  if (job.flight_records.empty() || !request.load_record || !are_wanted) return std::nullopt;
  analyze::FlightRecords records = analyze::read_flight_records(job.flight_records, request.load_record);
  if (job.files.empty() && records.count == 0)
    return fail(Code::invalid, "{}", records.notes.all()[0].sentence);
  return records;
}

// What HTA leaves out of a trace would be pauses and missing work.
bool sees_fewer_rows(const Request& request) { return request.run.compat && request.run.compat->rows; }

// Of the analyses that facts are made from, in their order.
struct Answers {
  std::vector<Table> tables;
  Notes notes;  // of those that nobody asked for
};

// Takes the answers behind the first `wanted` ones away again; of two numbers of the report it is no news of
// the job what they could not be told from.
Answers take_answers(const std::vector<size_t>& places, size_t wanted, std::vector<Table>& tables) {
  for (Table& table : std::span(tables).subspan(wanted))
    if (table.name() == analyze::kOperatorEfficiency.name || table.name() == analyze::kMfu.name)
      table.notes = Notes();
  Answers answers{.tables = {}, .notes = render::all_notes(std::span(tables).subspan(wanted), {})};
  for (const size_t place : places)
    answers.tables.push_back(place < wanted ? tables[place] : std::move(tables[place]));
  tables.resize(wanted);
  return answers;
}

void find(const Answers& answers, const JobModel& model, const analyze::FlightRecords* records,
          const Request& request, Diagnosis& diagnosis) {
  diagnosis.facts = gather_facts(answers.tables, diagnosis.notes);
  if (records) diagnosis.facts.dumps = records->count;
  if (records) diagnosis.facts.are_dumps_quiet = records->are_quiet();
  diagnosis.facts.are_apart = diagnosis.facts.are_apart || model.job.are_apart;
  diagnosis.facts.steps = diagnosis.facts.are_apart ? steps_of_ranks(model.job) : steps_of_job(model.job);
  if (!diagnosis.facts.are_apart) {
    diagnosis.facts.recorded_a_step = recorded_a_step(model.job);
    diagnosis.facts.replayed_a_step = model.step_ns();
  }
  // Recordings of different times are not held against each other, and no rank of one is waited for in
  // another.
  std::vector<Found> found;
  diagnosis.facts.is_searched = !sees_fewer_rows(request);
  if (!diagnosis.facts.are_apart && diagnosis.facts.is_searched) found = search(model, request.sensitivity);
  diagnosis.findings = findings(diagnosis.facts, model, found, request.paths);
  diagnosis.findings->notes = notes_beside_findings(answers.notes);
  if (!diagnosis.facts.is_searched)
    diagnosis.findings->notes.add(
        "not_searched", Severity::loss,
        "causes are not looked for: numbers as another tool has them leave out what they are seen by");
  diagnosis.findings->notes.merge(analyze::replay_notes(model.job, model.played));
  diagnosis.facts.notes.merge(analyze::replay_notes(model.job, model.played));
}

// Those that are known to be, and those of whose files nothing is to be run again.
std::set<i64> silent_ranks(std::span<const RankTable> skeletons, std::set<i64> known) {
  for (const RankTable& one : skeletons)
    if (one.rank && one.table.rows() == 0) known.insert(*one.rank);
  return known;
}

}  // namespace

Result<Diagnosis> run(const Job& job, Request request, const Loader& load) {
  const size_t wanted = request.run.analyses.size();
  const bool has_questions = !request.what_ifs.empty();
  CHECK(request.elsewhere.empty() || (!request.findings && !has_questions) ||
        (request.findings && wanted == 0));
  std::vector<size_t> places;
  if (request.findings)
    places = add_fact_analyses(request.run);
  else if (has_questions)
    request.run.analyses.push_back(&analyze::kSkeleton);
  if (request.findings || has_questions) request.run.in_parts = &analyze::kSkeleton;
  TRY_ASSIGN(const std::optional<analyze::FlightRecords> records, records_of(job, request));
  request.run.records = records ? &*records : nullptr;
  TRY_ASSIGN(analyze::MappedJob mapped,
             request.map ? request.map(job, request.run) : analyze::map_files(job, request.run, load));
  std::ranges::move(request.elsewhere, std::back_inserter(mapped.files));
  TRY_ASSIGN(analyze::RunResult result, analyze::reduce_files(std::move(mapped), request.run));
  Diagnosis diagnosis{.tables = std::move(result.tables),
                      .findings = {},
                      .fact_tables = {},
                      .what_if = {},
                      .path = {},
                      .facts = {},
                      .files = std::move(result.files),
                      .notes = std::move(result.notes),
                      .start = result.start,
                      .timing = std::move(result.timing)};
  if (!request.run.in_parts) return diagnosis;
  Answers answers;
  if (request.findings) answers = take_answers(places, wanted, diagnosis.tables);
  diagnosis.tables.resize(wanted);
  Evidence evidence = request.findings ? gather_evidence(answers.tables, request.run.records) : Evidence();
  evidence.unread = std::move(result.unread);
  evidence.silent = silent_ranks(result.parts, std::move(request.silent));
  const JobModel model(analyze::make_program(std::move(result.parts)), std::move(evidence));
  if (request.findings) find(answers, model, request.run.records, request, diagnosis);
  if (request.path) diagnosis.path = analyze::mean_times(analyze::job_path(model.job));
  if (has_questions) {
    TRY_ASSIGN(diagnosis.what_if, what_if(model, request.what_ifs));
    diagnosis.what_if->notes.merge(analyze::replay_notes(model.job, model.played));
  }
  if (request.findings && wanted == 0) {
    std::erase_if(answers.tables, [](const Table& table) { return table.name() == analyze::kSkeleton.name; });
    diagnosis.fact_tables = std::move(answers.tables);
  }
  return diagnosis;
}

analyze::RunRequest with_facts(analyze::RunRequest request) {
  add_fact_analyses(request);
  return request;
}

analyze::RunRequest fact_request() {
  analyze::RunRequest request;
  request.analyses = fact_analyses();
  request.params = {{analyze::kTop.name, i64{0}}};
  return request;
}

Notes notes_beside_findings(const Notes& notes) {
  constexpr std::string_view kTold[] = {"no_device_work", "no_operators",       "no_steps",
                                        "one_rank",       "no_collectives",     "no_memory_events",
                                        "cut_off_steps",  "no_total_allocated", kCapturesAtDifferentTimes};
  Notes others;
  for (const Note& note : notes.all()) {
    const bool is_told =
        note.severity != Severity::loss && std::ranges::find(kTold, note.kind) != std::end(kTold);
    if (!is_told) others.add(note);
  }
  return others;
}

}  // namespace spotter::diagnose
