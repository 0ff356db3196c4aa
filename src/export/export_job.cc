#include "export/export_job.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/saturated.h"
#include "base/system/file.h"
#include "export/counters.h"
#include "export/cut.h"
#include "export/names.h"
#include "export/part.h"
#include "export/survey.h"
#include "export/times.h"
#include "read/event_texts.h"
#include "trace/extent.h"
#include "trace/merged_traces.h"
#include "trace/steps.h"

namespace spotter::export_ {
namespace {

// What the output says of itself; of merged traces what all of them say.
constexpr std::string_view kOwnMembers[] = {"baseTimeNanoseconds", "displayTimeUnit", "traceName",
                                            trace::kMergedTraces};

void keep_common(std::optional<Members>& common, const Members& other) {
  if (!common) {
    common = other;
    std::erase_if(*common, [](const auto& m) {
      return std::find(std::begin(kOwnMembers), std::end(kOwnMembers), m.first) != std::end(kOwnMembers);
    });
  }
  std::erase_if(*common,
                [&](const auto& m) { return std::find(other.begin(), other.end(), m) == other.end(); });
}

// What several tables of one trace say is told once.
Notes notes_of(const std::vector<Table>& tables) {
  Notes notes;
  std::set<std::pair<std::string, std::string>> told;
  for (const Table& table : tables) {
    for (Note note : table.notes.all()) {
      if (note.kind == "no_device_work") note.sentence = "traces without device work have no curves";
      if (told.emplace(note.kind, note.sentence).second) notes.add(std::move(note));
    }
  }
  return notes;
}

// How much of all that is to be read was: a trace twice, several three times.
class ReadingProgress {
 public:
  ReadingProgress(const Job& job, const ExportRequest& request) : request_(request) {
    for (const TraceFile& file : job.files) total_ += file.bytes * (job.files.size() > 1 ? 3 : 2);
  }
  std::function<void(i64 bytes)> counter() {
    if (!request_.on_progress) return nullptr;
    return [this](i64 bytes) { request_.on_progress(done_ += bytes, total_); };
  }

 private:
  const ExportRequest& request_;
  std::atomic<i64> done_ = 0;
  i64 total_ = 0;
};

class Exporter {
 public:
  Exporter(const Job& job, const ExportRequest& request, const Loader& load, ReadingProgress& progress,
           TraceWriter& out)
      : job_(job), request_(request), load_(load), progress_(progress), out_(out) {}

  Result<Notes> run() {
    if (job_.files.size() == 1) {
      SurveyedTrace only;
      only.file = job_.files[0];
      TRY(write_one(only));
      return std::move(notes_);
    }
    TRY_ASSIGN(Survey found, survey(job_, request_, load_));
    notes_ = std::move(found.notes);
    if (found.traces.empty()) return fail(Code::not_found, "none of the files has events");
    is_surveyed_ = true;
    first_ = last_ = {};
    for (const SurveyedTrace& trace : found.traces) {
      if (!trace.first) continue;
      first_ = std::min(first_.value_or(*trace.first), *trace.first);
      last_ = std::max(last_.value_or(*trace.last), *trace.last);
    }
    if (found.traces.size() == 1)
      TRY(write_one(found.traces[0]));
    else
      TRY(write_merged(found.traces));
    return std::move(notes_);
  }

 private:
  // What loading a trace gives besides its counters' tables.
  struct Loaded {
    Part part;
    size_t file_events = 0;
    ArgSet args;  // that were read
    Ns base_ns = 0;
    Members members;
    std::vector<Table> counters;
  };

  Result<void> write_one(const SurveyedTrace& trace) {
    TRY_ASSIGN(const Loaded loaded, load(trace, {}));
    TRY(out_.begin(loaded.members));
    TRY(write_events(trace.file, loaded, {}));
    TRY(write_counters_of(loaded, loaded.base_ns));
    return out_.finish({});
  }

  Result<void> write_merged(const std::vector<SurveyedTrace>& traces) {
    const Ns zero = std::min_element(traces.begin(), traces.end(), [](const auto& a, const auto& b) {
                      return a.base_ns < b.base_ns;
                    })->base_ns;
    TRY(out_.begin({{"displayTimeUnit", "\"ms\""},
                    {"baseTimeNanoseconds", fmt::format("{}", zero)},
                    {trace::kMergedTraces, fmt::format("{}", traces.size())}}));
    std::optional<Members> common;
    i64 next_process = 1;
    for (size_t i = 0; i < traces.size(); ++i) {
      const SurveyedTrace& trace = traces[i];
      ProcessIds processes(next_process);
      FlowIds flows(i);
      const Place place{&processes, &flows, trace.base_ns - zero};
      const Result<Loaded> done = load(trace, place);
      if (!done && done.error().code == Code::cancelled) return tl::unexpected<Error>(done.error());
      if (!done) {
        leave_out(trace, done.error());
        if (!common && i + 1 == traces.size()) return within(done.error(), trace.file.path);
        continue;
      }
      const Loaded& loaded = *done;
      TRY(write_events(trace.file, loaded, place));
      TRY(write_counters_of(loaded, zero));
      const std::string who = trace.host.empty() ? fmt::format("rank {}", trace.rank)
                                                 : fmt::format("rank {} host {}", trace.rank, trace.host);
      for (const std::string& event : process_events(loaded.part, processes, who, static_cast<i64>(i)))
        TRY(out_.event(event));
      keep_common(common, loaded.members);
    }
    return out_.finish(*common);
  }

  // As a run does: a rank without the wanted steps, say, is no reason to give none of them.
  void leave_out(const SurveyedTrace& trace, const Error& error) {
    Notes loss;
    loss.add("file_left_out", Severity::loss,
             fmt::format("a trace could not be exported and was left out: {}", error.message));
    notes_.merge(loss, base_name(trace.file.path));
  }

  // The analyses of the counters see the rows that are exported, so that the curves are those events'.
  Result<Loaded> load(const SurveyedTrace& trace, const Place& place) {
    Loaded loaded;
    const Loader look_and_load = [&](const TraceFile& file, const LoadRequest& how) -> Result<TracePtr> {
      LoadRequest more = how;
      more.args |= kPartArgs;
      if (request_.steps) more.args |= trace::kStepArgs;
      more.args |= request_.flow_args;
      TRY_ASSIGN(TracePtr whole, load_(file, more));
      return look_at(std::move(whole), place, loaded);
    };
    analyze::RunRequest request;
    for (const CounterTrack& track : counter_tracks()) request.analyses.push_back(track.analysis);
    request.params = {{"bucket_ns", request_.bucket_ns}};
    if (!is_surveyed_) request.ranks = request_.ranks;
    request.threads = request_.threads;
    request.cancelled = request_.cancelled;
    Job job;
    job.files = {trace.file};
    TRY_ASSIGN(analyze::RunResult result, analyze::run(job, request, look_and_load));
    if (!is_surveyed_) notes_.merge(result.notes);  // else the survey has them
    notes_.merge(notes_of(result.tables));
    notes_.merge(loaded.part.notes, base_name(trace.file.path));
    loaded.counters = std::move(result.tables);
    return loaded;
  }

  Result<TracePtr> look_at(TracePtr trace, const Place& place, Loaded& loaded) const {
    loaded.file_events = trace->size();
    loaded.args = trace->loaded();
    loaded.base_ns = trace->info().base_ns;
    loaded.members = trace->info().metadata;
    TRY_ASSIGN(const Cut cut, cut_of(*trace));
    if (cut.everything()) {
      loaded.part = make_part(*trace, nullptr, loaded.file_events, flows_of(*trace), place);
      return trace;
    }
    TRY_ASSIGN(const std::vector<EventId> rows, rows_of(*trace, cut));
    trace = trace->rows(rows, trace::Steps{});
    loaded.part = make_part(*trace, &rows, loaded.file_events, flows_of(*trace), place);
    return trace;
  }

  std::vector<ExtraFlow> flows_of(const Trace& trace) const {
    return request_.flows ? request_.flows(trace) : std::vector<ExtraFlow>{};
  }

  Result<Cut> cut_of(const Trace& trace) const {
    Cut cut{request_.steps, {}};
    if (!request_.from && !request_.to) return cut;
    const Ns base = trace.info().base_ns;
    std::optional<Ns> first = first_, last = last_;
    if (const trace::Extent extent = trace::extent_of(trace); !is_surveyed_ && extent.known())
      first = base + extent.start, last = base + extent.end;
    if (!first) return fail(Code::invalid, "--from and --to count from the first event, but there is none");
    const Ns from = request_.from.value_or(0), whole = subtract_saturated(*last, *first),
             start = *first - base;
    if (from > whole)
      return fail(Code::invalid,
                  "nothing begins so late: from the first event to the end of the last it is {} us",
                  microseconds(whole));
    const Ns to = request_.to.value_or(add_saturated(whole, 1));
    cut.window = {add_saturated(start, from), add_saturated(start, to)};
    return cut;
  }

  Result<void> write_events(const TraceFile& file, const Loaded& loaded, const Place& place) {
    Rewriter rewriter(loaded.part.placement, place.processes, place.flows, place.shift);
    LoadRequest how;
    how.args = loaded.args;
    how.threads = request_.threads;
    how.cancelled = request_.cancelled;
    how.on_bytes = progress_.counter();
    size_t seen = 0;
    TRY(read::for_each_event_text(file, how, [&](EventId e, std::string_view text) -> Result<void> {
      if (++seen > loaded.file_events) return {};
      const std::string_view written = rewriter.rewrite(e, text);
      return written.empty() ? Result<void>() : out_.event(written);
    }));
    if (seen != loaded.file_events)
      return fail(Code::io, "{}: the file changed while it was read; export it again once it is finished",
                  file.path);
    Notes notes;
    rewriter.add_notes(notes);
    notes_.merge(notes, base_name(file.path));
    for (const std::string& event : loaded.part.events) TRY(out_.event(event));
    return {};
  }

  Result<void> write_counters_of(const Loaded& loaded, Ns zero) {
    for (size_t i = 0; i < loaded.counters.size(); ++i)
      TRY(write_counters(
          counter_tracks()[i], loaded.counters[i], zero,
          [&](i64 device) { return loaded.part.device_processes.at(device); },
          [&](std::string_view event) { return out_.event(event); }));
    return {};
  }

  const Job& job_;
  const ExportRequest& request_;
  const Loader& load_;
  ReadingProgress& progress_;
  TraceWriter& out_;
  Notes notes_;
  bool is_surveyed_ = false;
  std::optional<Ns> first_, last_;  // of the job's spans, Unix time, where it is surveyed
};

}  // namespace

Result<Notes> export_job(const Job& job, const ExportRequest& request, const Loader& load, TraceWriter& out) {
  for (const TraceFile& file : job.files)
    if (!std::filesystem::is_regular_file(file.path))
      return fail(Code::invalid,
                  "{}: a trace is read twice to be exported, which only a file can be; write it to one",
                  base_name(file.path));
  ReadingProgress progress(job, request);
  const Loader counted = [&](const TraceFile& file, const LoadRequest& how) {
    LoadRequest more = how;
    more.on_bytes = progress.counter();
    return load(file, more);
  };
  return Exporter(job, request, counted, progress, out).run();
}

}  // namespace spotter::export_
