#include "simulate/simulate.h"

#include <algorithm>
#include <filesystem>

#include "base/parallel_for.h"
#include "base/system/file.h"
#include "simulate/envelope.h"
#include "simulate/event_writer.h"
#include "simulate/faults/effects.h"
#include "simulate/truth.h"

namespace spotter::simulate {
namespace {

constexpr const char* kTruth = "truth.json";

bool is_ours(const std::string& name) {
  return name == kTruth || (name.starts_with("rank_") && name.find(".pt.trace.json") != name.npos);
}

// A folder with traces is none for others, nor for the truth about them.
Result<void> check_is_free(const std::string& folder) {
  for (const std::string& name : names_in(folder))
    if (is_ours(name) || name.find(".json") != name.npos)
      return fail(
          Code::busy,
          "{} holds {} already; choose an empty folder, or --force to replace an earlier simulation there",
          folder, name);
  return {};
}

// The folder, without an earlier simulation.
Result<void> make_room(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Code::io, "{}: cannot create: {}", folder, error.message());
  for (const std::string& name : names_in(folder)) {
    if (is_ours(name)) std::filesystem::remove(std::filesystem::path(folder) / name, error);
    if (error) return fail(Code::io, "{}/{}: cannot remove: {}", folder, name, error.message());
  }
  return {};
}

// Those that stand in a text.
i64 count_events(std::string_view text) {
  constexpr std::string_view kPhase = "\"ph\": ";
  i64 count = 0;
  for (size_t at = text.find(kPhase); at != text.npos; at = text.find(kPhase, at + 1)) ++count;
  return count;
}

// Of rank 0 in one step with so many micro-batches.
Result<i64> events_of_step(Spec spec, i64 micro_batches, const std::atomic<bool>* cancelled) {
  spec.micro_batches = micro_batches;
  spec.steps = 1;
  spec.faults.clear();
  const Job job(spec, cancelled);
  const RankPlace place(job, 0);
  TRY_ASSIGN(Schedule plan, schedule(job));
  EventWriter writer(job, place, nullptr, plan.stop);
  Machine(job, place.rank, plan.rendezvous, &writer).run();
  if (job.is_cancelled()) return fail(Code::cancelled, "interrupted");
  return writer.take_numbers().events;
}

// Each further micro-batch adds the same number of events.
Result<i64> micro_batches_for(const Spec& spec, const std::atomic<bool>* cancelled) {
  const i64 unit = spec.virtual_stages > 1 ? spec.pipeline : 1;
  TRY_ASSIGN(const i64 one, events_of_step(spec, unit, cancelled));
  TRY_ASSIGN(const i64 two, events_of_step(spec, 2 * unit, cancelled));
  const i64 more = two - one;
  return unit * std::max(i64{1}, 1 + (spec.events / spec.steps - one + more / 2) / more);
}

// A scale that changes nothing is a name mistaken.
Result<void> check_scales(const Job& job) {
  u64 used = 0;
  for (const Program& program : job.programs) used |= program.scales;
  for (size_t i = 0; i < job.spec.scales.size(); ++i)
    if (!(used >> i & 1))
      return fail(Code::invalid, "nothing in this job has \"{}\" in its name, so that it cannot be scaled",
                  job.spec.scales[i].name);
  return {};
}

// The numbers of a rank whose trace is omitted.
Result<RankNumbers> run_rank(const Job& job, Schedule& schedule, const RankPlace& place) {
  EventWriter writer(job, place, nullptr, schedule.stop);
  Machine machine(job, place.rank, schedule.rendezvous, &writer, schedule.stop);
  machine.run();
  if (job.is_cancelled()) return fail(Code::cancelled, "interrupted");
  writer.finish(std::min(machine.now(), schedule.stop));
  RankNumbers numbers = writer.take_numbers();
  numbers.injected = machine.injected();
  numbers.events = 0;
  return numbers;
}

Result<RankNumbers> write_rank(const Job& job, Schedule& schedule, const RankPlace& place,
                               const std::string& path, const std::string& name, bool gzip) {
  TRY_ASSIGN(const std::unique_ptr<TraceFile> file, TraceFile::create(path, gzip));
  EventWriter writer(job, place, file.get(), schedule.stop);
  writer.write(envelope_head(job, place, name));
  Machine machine(job, place.rank, schedule.rendezvous, &writer, schedule.stop);
  machine.run();
  if (job.is_cancelled()) return fail(Code::cancelled, "interrupted");
  const Ns end = std::min(machine.now(), schedule.stop);
  writer.finish(end);
  const std::string tail = envelope_tail(job, place, name, end);
  file->write(tail);
  TRY(file->finish());
  RankNumbers numbers = writer.take_numbers();
  numbers.injected = machine.injected();
  numbers.events += count_events(tail);
  return numbers;
}

}  // namespace

Result<SimulateReceipt> simulate(const SimulateRequest& request) {
  Spec spec = request.spec;
  TRY(validate(spec));
  if (!request.force) TRY(check_is_free(request.folder));
  for (size_t f = 0; f < spec.faults.size(); ++f) spec.faults[f].number = f;
  if (spec.micro_batches == 0) spec.micro_batches = spec.pipeline > 1 ? 4 * spec.pipeline : 1;
  if (spec.events > 0) {
    TRY_ASSIGN(spec.micro_batches, micro_batches_for(spec, request.cancelled));
  }
  const Job job(spec, request.cancelled);
  TRY(check_scales(job));
  TRY_ASSIGN(Schedule plan, schedule(job));
  TRY_ASSIGN(const Effects effects, effects_of(job, plan));
  TRY(make_room(request.folder));  // at last: a job that cannot be made costs no earlier one

  const auto n = static_cast<size_t>(spec.ranks);
  std::vector<std::string> names(n);
  std::vector<RankNumbers> numbers(n);
  std::vector<Result<void>> done(n);
  parallel_for(n, request.threads, [&](size_t rank) {
    const RankPlace place(job, static_cast<i64>(rank));
    if (!spec.omits(place.rank)) names[rank] = trace_name(place, request.gzip);
    Result<RankNumbers> written =
        names[rank].empty()
            ? run_rank(job, plan, place)
            : write_rank(job, plan, place, request.folder + "/" + names[rank], names[rank], request.gzip);
    if (written)
      numbers[rank] = std::move(*written);
    else
      done[rank] = tl::unexpected<Error>(written.error());
  });
  for (const Result<void>& rank : done) TRY(rank);
  TRY(replace_file_atomically(request.folder + "/" + kTruth, truth_text(job, names, numbers, effects)));
  SimulateReceipt receipt;
  for (size_t rank = 0; rank < n; ++rank) {
    receipt.traces += names[rank].empty() ? 0 : 1;
    receipt.events += numbers[rank].events;
  }
  return receipt;
}

}  // namespace spotter::simulate
