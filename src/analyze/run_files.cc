#include "analyze/run_files.h"

#include <malloc.h>

#include <algorithm>

#include "analyze/budget.h"
#include "base/growing_array.h"
#include "base/parallel_for.h"
#include "base/stable_sort.h"
#include "trace/extent.h"
#include "trace/per_kind.h"
#include "trace/steps.h"

namespace spotter::analyze {

bool wants(const RunRequest& request, std::optional<i64> rank) {
  if (request.ranks.empty()) return true;
  return rank && std::any_of(request.ranks.begin(), request.ranks.end(),
                             [&](const Range& r) { return r.first <= *rank && *rank <= r.last; });
}

namespace {

bool is_unwanted(const RunRequest& request, const RankEvidence& evidence) {
  return evidence.contents_rank && !wants(request, evidence.contents_rank);
}

// What is known of a file before it is read. If it is a trace that cannot be read this is all there will be:
// it keeps its place in the order, so that the other files get the ranks they would have had.
FileResult before_reading(const RunRequest& request, const TraceFile& file) {
  FileResult result;
  result.evidence = {file.path, {}, rank_in_name(file.path), true, 0, 0, file.receipt_rank};
  if (file.rank_source == RankSource::file_contents) result.evidence.contents_rank = file.rank;
  result.unwanted = is_unwanted(request, result.evidence);
  return result;
}

bool is_cancelled(const RunRequest& request) {
  return request.cancelled && request.cancelled->load(std::memory_order_relaxed);
}

// A launcher's trace has a profiler span at most, and the Python functions that wait for its ranks.
bool has_events(const Trace& trace) {
  const auto is_event = trace::per_kind(trace, [](const Kind& k) {
    return k.is_span && k.category != Category::trace_span && k.category != Category::overhead &&
           k.category != Category::python_function;
  });
  return std::any_of(trace.kind.begin(), trace.kind.end(), [&](u8 kind) { return is_event[kind] != 0; });
}

// Ranks that are given by order are held against the files' times.
void add_times(const Trace& trace, FileResult& result) {
  const trace::Extent extent = trace::extent_of(trace);
  RankEvidence& evidence = result.evidence;
  if (!extent.known()) return;
  if (evidence.has_events) result.start = trace.info().base_ns + extent.start;
  if (evidence.contents_rank || evidence.receipt_rank || evidence.name_rank) return;
  evidence.start = trace.info().base_ns + extent.start;
  evidence.end = trace.info().base_ns + extent.end;
}

}  // namespace

Result<void> check_steps(const Trace& trace, Range range) {
  const std::vector<trace::Step>& steps = trace.steps().steps;
  if (steps.empty()) return fail(Code::invalid, "steps were asked for, but the trace has none");
  const auto [first, last] =
      std::minmax_element(steps.begin(), steps.end(),
                          [](const trace::Step& a, const trace::Step& b) { return a.number < b.number; });
  if (std::none_of(steps.begin(), steps.end(),
                   [&](const trace::Step& s) { return range.first <= s.number && s.number <= range.last; }))
    return fail(Code::invalid, "steps {} to {} were asked for, but the trace has steps {} to {}", range.first,
                range.last, first->number, last->number);
  return {};
}

namespace {

Result<TracePtr> select(TracePtr trace, Range range) {
  TRY(check_steps(*trace, range));
  return trace::select_steps(*trace, range.first, range.last);
}

// The analyses, by place, that one thread maps at a time. Those that are mapped together take long and come
// first; the others from the last to the first, so that the short ones with which the list begins come last.
std::vector<std::vector<size_t>> tasks_of(std::span<const Analysis* const> analyses) {
  std::vector<std::vector<size_t>> tasks;
  for (size_t i = analyses.size(); i-- > 0;) {
    const auto together = analyses[i]->map_together;
    const auto task = std::ranges::find_if(tasks, [&](const std::vector<size_t>& of) {
      return together && analyses[of[0]]->map_together == together;
    });
    if (task == tasks.end())
      tasks.push_back({i});
    else
      task->push_back(i);
  }
  stable_sort(tasks, [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return tasks;
}

// The replay of a large job, which follows, takes as much as its traces did, and would not be put where they
// were, in the heaps of other threads: 90 MB of 64 ranks.
void free_memory_of_traces() {
  free_spare_arrays();
  malloc_trim(0);
}

// Loads one file, runs every map on it and frees it.
class FileRunner {
 public:
  // `tables_wait`: for those of many other files.
  FileRunner(const RunRequest& request, const std::vector<ParamValues>& params, const Loader& load,
             Phases& phases, bool tables_wait)
      : request_(request),
        params_(params),
        load_(load),
        phases_(phases),
        tasks_(tasks_of(request.analyses)),
        tables_wait_(tables_wait) {}

  void run(const TraceFile& file, const LoadRequest& how, FileResult& result) {
    if (auto done = load_and_map(file, how, result); !done) {
      result.error = std::move(done).error();
      result.evidence.is_unread = true;
      if (result.error->code == Code::unsupported) result.evidence.has_events = false;  // it is no trace
      result.tables.clear();
    }
  }

 private:
  Result<void> load_and_map(const TraceFile& file, const LoadRequest& how, FileResult& result) {
    if (is_cancelled(request_)) return fail(Code::cancelled, "the analysis was cancelled");
    TRY_ASSIGN(TracePtr trace, phases_.time(kLoadPhase, [&] { return load_(file, how); }));
    if (trace->info().rank) result.evidence.contents_rank = trace->info().rank;
    result.evidence.has_events = has_events(*trace);
    add_times(*trace, result);
    result.notes = trace->notes();
    result.unwanted = is_unwanted(request_, result.evidence);
    if (result.unwanted) return {};
    if (request_.compat && request_.compat->rows)
      trace = phases_.time(kSelectPhase, [&] { return request_.compat->rows(*trace); });
    if (request_.steps && result.evidence.has_events) {
      TRY_ASSIGN(trace,
                 phases_.time(kSelectPhase, [&] { return select(std::move(trace), *request_.steps); }));
      trace::add_step_notes(trace->steps(), result.notes);
    }
    return run_maps(*trace, how.threads, result);
  }

  Result<void> run_maps(const Trace& trace, int threads, FileResult& result) {
    std::vector<Result<Table>> tables(request_.analyses.size());
    parallel_for(tasks_.size(), threads, [&](size_t i) {
      if (!is_cancelled(request_)) run_task(trace, tasks_[i], tables);
    });
    if (is_cancelled(request_)) return fail(Code::cancelled, "the analysis was cancelled");
    for (Result<Table>& table : tables) {
      TRY(table);
      CHECK(has_columns(*table, map_columns(*request_.analyses[result.tables.size()])));
      if (tables_wait_) table->pack();
      result.tables.push_back(std::move(*table));
    }
    return {};
  }

  // The time of those that are mapped together is the first one's.
  void run_task(const Trace& trace, const std::vector<size_t>& task, std::vector<Result<Table>>& tables) {
    const Analysis& first = *request_.analyses[task[0]];
    if (task.size() == 1) {
      tables[task[0]] = phases_.time(map_phase(task[0]), [&] { return first.map(trace, params_[task[0]]); });
      return;
    }
    std::vector<Wanted> wanted;
    for (const size_t i : task) wanted.push_back({request_.analyses[i], &params_[i]});
    auto made = phases_.time(map_phase(task[0]), [&] { return first.map_together(trace, wanted); });
    for (size_t i = 0; i < task.size(); ++i)
      tables[task[i]] = made ? Result<Table>(std::move((*made)[i])) : tl::unexpected(made.error());
  }

  const RunRequest& request_;
  const std::vector<ParamValues>& params_;
  const Loader& load_;
  Phases& phases_;
  const std::vector<std::vector<size_t>> tasks_;
  const bool tables_wait_;
};

}  // namespace

std::vector<FileResult> run_files(const Job& job, const RunRequest& request,
                                  const std::vector<ParamValues>& params, const Loader& load,
                                  Phases& phases) {
  std::vector<FileResult> results;
  std::vector<TraceFile> to_read;
  std::vector<size_t> result_of;  // of each file to read
  i64 total_bytes = 0;
  for (const TraceFile& file : job.files) {
    results.push_back(before_reading(request, file));
    if (results.back().unwanted) continue;
    to_read.push_back(file);
    result_of.push_back(results.size() - 1);
    total_bytes += file.bytes;
  }
  const size_t at_once = loads_at_once(to_read, request.threads, request.memory_bytes);

  LoadRequest how;
  how.args = ArgSet();
  for (const Analysis* analysis : request.analyses) how.args |= analysis->reads;
  if (request.compat) how.args |= request.compat->reads;
  if (request.steps)  // device rows go to the step of their launch
    how.args |= trace::kStepArgs | ArgSet{Arg::correlation};
  how.threads = std::max(1, request.threads / static_cast<int>(at_once));
  how.most_texts = most_texts(to_read.size(), request.memory_bytes);
  how.cancelled = request.cancelled;
  std::atomic<i64> done_bytes = 0;
  if (request.on_progress)
    how.on_bytes = [&](i64 bytes) { request.on_progress(done_bytes += bytes, total_bytes); };

  const bool tables_wait = to_read.size() > at_once;
  FileRunner runner(request, params, load, phases, tables_wait);
  parallel_for(to_read.size(), static_cast<int>(at_once),
               [&](size_t i) { runner.run(to_read[i], how, results[result_of[i]]); });
  if (tables_wait) free_memory_of_traces();
  return results;
}

}  // namespace spotter::analyze
