#include <algorithm>
#include <map>

#include "analyze/list.h"
#include "analyze/steps/busy_by_step.h"
#include "analyze/steps/iteration_rates.h"
#include "base/saturated.h"
#include "table/ops.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"phase", Type::text, Unit::none, Role::key,
     "prefill, decode, mixed (both), idle (no request), or unknown, where no annotation tells."},
    {"found_from", Type::text, Unit::none, Role::detail, "What tells the iterations, as in iterations."},
    {"mark", Type::text, Unit::none, Role::detail, "The engine, else what marks them, as in iterations."},
    {"iterations", Type::integer, Unit::count, Role::value, "Number of iterations."},
    {"sum_ns", Type::integer, Unit::ns, Role::value, "Their durations on the host together."},
    {"mean_ns", Type::real, Unit::ns, Role::value, "Mean duration."},
    {"p50_ns", Type::real, Unit::ns, Role::value, "Median."},
    {"p99_ns", Type::real, Unit::ns, Role::value, "99th percentile."},
    {"device_busy_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the iterations' device_busy_ns; null in a trace without device work."},
    {"context_tokens", Type::integer, Unit::count, Role::value,
     "Tokens of prompts that they read; null where that is not told of each, as are the others."},
    {"generation_tokens", Type::integer, Unit::count, Role::value, "Tokens for requests that generate."},
    {"tokens_per_s", Type::real, Unit::per_s, Role::value,
     "Tokens of both kinds over the sum of what each takes, on the host or of device work, whichever is longer."},
};

void add(std::optional<i64>& sum, std::optional<i64> part) {
  sum = sum && part ? std::optional(add_saturated(*sum, *part)) : std::nullopt;
}

// The iterations of one phase.
struct Group {
  std::vector<Ns> durations;
  Ns sum = 0, busy = 0, taken = 0;
  std::optional<i64> context_tokens = 0, generation_tokens = 0, tokens = 0;

  void take(const trace::Step& step, Ns device_busy) {
    durations.push_back(step.end - step.start);
    sum = add_saturated(sum, step.end - step.start);
    busy = add_saturated(busy, device_busy);
    taken = add_saturated(taken, std::max(step.end - step.start, device_busy));
    add(context_tokens, step.batch.context_tokens);
    add(generation_tokens, step.batch.generation_tokens);
    add(tokens, step.batch.tokens());
  }
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kIterationSummary.name, std::span(kColumns).subspan(1));
  const trace::Steps& steps = trace.steps();
  if (!steps.are_iterations) return table;
  trace::add_step_notes(steps, table.notes);
  const bool has_device_work = !trace.device_work().event.empty();
  const std::vector<Ns> busy = busy_by_step(trace);
  std::map<trace::Phase, Group> groups;
  for (size_t s = 0; s < steps.steps.size(); ++s)
    groups[steps.steps[s].batch.phase].take(steps.steps[s], busy[s]);
  for (auto& [phase, group] : groups) {
    std::ranges::sort(group.durations);
    const auto count = static_cast<i64>(group.durations.size());
    table.append({std::string_view(trace::phase_name(phase)),
                  std::string_view(trace::step_source_name(steps.source)),
                  std::string_view(steps.engine ? steps.engine : steps.mark_name.c_str()), count, group.sum,
                  static_cast<double>(group.sum) / static_cast<double>(count),
                  table::quantile(group.durations, 0.5), table::quantile(group.durations, 0.99),
                  has_device_work ? Value(group.busy) : Value(), or_null(group.context_tokens),
                  or_null(group.generation_tokens), tokens_per_s(group.tokens, group.taken)});
  }
  return table;
}

}  // namespace

const Analysis kIterationSummary = {
    .name = "iteration_summary",
    .summary = "Iterations of an inference engine by phase: how many, how long, how many tokens a second.",
    .doc =
        "The iterations of each rank, as iterations tells them, by phase: how many there are, their durations on the host, and "
        "the tokens that went through the model. Quantiles are interpolated linearly. tokens_per_s counts the time of the "
        "phase's own iterations alone, not what lies between them. A trace without iterations of inference has no rows.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | trace::kStepArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
