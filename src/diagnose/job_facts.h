// JobFacts: the few numbers of a job and its ranks that the rules compare and the report shows, taken from
// the answers of analyses.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/analysis.h"

namespace spotter::diagnose {

struct DeviceFacts {
  i64 id = 0;
  std::string name;
  i64 memory = 0, peak_allocated = 0;  // bytes; 0: not known
  i64 compute_major = 0;               // of its compute capability; 0: not known
  // Of the kernels' time, on tensor cores, and of kernels of which that is not known; none without kernels.
  std::optional<double> on_tensor_cores = {}, perhaps_on_tensor_cores = {};
};

struct RankFacts {
  std::optional<i64> rank;
  std::string file, host, device, step_mark;
  i64 events = 0, spans = 0, losses = 0;
  std::optional<i64> world_size;
  Ns span = 0;
  // Device time; all 0 without device work.
  Ns device_time = 0, idle = 0, compute = 0, communication = 0, hidden_communication = 0;
  // Idle time by what it waits for.
  Ns host_wait = 0, kernel_wait = 0, other_wait = 0, unknown_wait = 0;
  // Kernels, copies and sets of all streams, and those of them whose launch is not in the trace.
  i64 device_rows = 0, unlaunched_rows = 0;
  // Steps.
  i64 steps = 0;
  Ns step_sum = 0, step_max = 0;
  std::vector<DeviceFacts> devices = {};  // that have work
};

// Steps of the job, from the first rank's start to the last one's end.
struct StepFacts {
  i64 count = 0;
  Ns mean = 0;
  double deviation = 0;        // of the steps' lengths, as a share of the mean
  bool without_first = false;  // which has waited for what was before the recording
};

struct JobFacts {
  std::vector<RankFacts> ranks;  // in the order of the summary table
  // Over all ranks, most time first.
  Table kernels;     // kind, name, count, sum_ns
  Table operators;   // name, calls, host_self_ns, device_self_ns
  Table iterations;  // of inference engines: rows of iteration_summary
  StepFacts steps;
  // What was recorded, and what the job takes as it is run again, over the steps; 0: it is not run again.
  Ns recorded_a_step = 0, replayed_a_step = 0;
  // Of all steps, the mean over ranks; none where that of one is not known. covered: the share of the
  // device's time in which the operations were counted.
  std::optional<double> mfu, mfu_covered;
  Ns kernel_time = 0, operator_host_time = 0, operator_device_time = 0;
  bool has_device_work = false;
  bool is_searched = true;  // for what it loses its time to
  bool are_apart =
      false;      // the files do not overlap in time: captures one after the other, no ranks of one job
  i64 dumps = 0;  // of flight recorders, beside the traces or without any
  bool are_dumps_quiet = false;      // all that was called has ended, and each could be read
  bool operators_by_device = false;  // any operator started device work; else they are by host time
  Notes notes;  // of the job, its traces and the answers that the facts are from, each once
};

// What the facts are gathered from.
std::vector<const Analysis*> fact_analyses();
// `answers`: one of each of these analyses, with all rows, in any order. `notes`: those of the job and its
// traces.
JobFacts gather_facts(std::span<const Table> answers, const Notes& notes);

}  // namespace spotter::diagnose
