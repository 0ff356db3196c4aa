// Steps of a trace: of training, or the iterations of an inference engine. Marks, first that exists: host
// spans named "ProfilerStep#N" (user_annotation or cpu_op); host spans whose name begins "Optimizer.step#" (a
// step runs from the end of one to the end of the next; the first from the window's start: that of the
// profiler's `Trace` span, else of the first host span); else a user annotation that repeats evenly: at least
// three times on one thread, never overlapping itself, with a coefficient of variation of its start-to-start
// distances below 0.5, and not one that PyTorch writes itself (collectives, optimizers, data loaders). Of
// several the one that covers the most time counts, then the first by name. Before that kind of annotation
// those of inference engines count (facts/engine_marks.h), of which one is enough; of those that overlap the
// earliest. Without any mark: the iterations that launches of graphs or the sequence of kernels tell
// (iterations.h); else no steps.
//
// A mark that had not ended when recording did (`finished` is false) is none: how long it took is not known.
// Of several profiler steps with one number that overlap the earliest counts, and those that do not all
// count; of several optimizers the one that steps most often counts, then the one that takes the most time.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/device_work.h"
#include "trace/facts/engine_marks.h"
#include "trace/trace.h"

namespace spotter::trace {

struct Step {
  i64 number = 0;  // N of ProfilerStep#N, which may repeat; 0, 1, 2 ... for the other marks
  Ns start = 0, end = 0;
  Batch batch = {};  // of the engine's mark that it is, or the only one that begins in it
};

enum class StepSource : u8 { none, profiler, optimizer, annotation, engine, graph_launches, kernel_sequence };
const char* step_source_name(StepSource source);

struct Steps {
  // "ProfilerStep", "Optimizer.step#SGD.step", the annotation's name, "vLLM", "cudaGraphLaunch", the work or
  // the call that ends each turn of a sequence of kernels; empty: none
  std::string mark_name = {};
  std::vector<Step> steps = {};  // by start
  i64 unfinished = 0;            // marks like theirs that had not ended
  // Of chosen steps: when those before the first had ended, with the device work that was launched wholly
  // inside their marks.
  std::optional<Ns> end_before = {};
  StepSource source = StepSource::none;
  const char* engine = nullptr;  // whose marks tell what the steps work on; null: nobody's
  bool are_iterations = false;   // of inference: as an engine's marks tell, or for want of a backward pass
};

Steps compute_steps(const Trace& trace);
inline const ArgSet kStepArgs = kDeviceWorkArgs | ArgSet{Arg::finished};  // that it reads

// Whether annotations of this name span steps, and are no work of their own; an optimizer's only end them.
bool is_step_mark(const Steps& steps, std::string_view name);

// What the annotations of steps are called together, without number or batch: "ProfilerStep" for
// "ProfilerStep#7". Any other name is its own.
std::string_view without_number(const Steps& steps, std::string_view name);

// What is worth knowing of them.
void add_step_notes(const Steps& steps, Notes& notes);

// The rows of the steps numbered first..last, as rows_in (windows.h) tells them. Its steps() are those of
// `trace` with these numbers.
std::unique_ptr<Trace> select_steps(const Trace& trace, i64 first, i64 last);

}  // namespace spotter::trace
