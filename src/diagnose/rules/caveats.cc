// What a trace does not have, so that nobody takes an absence for a fact about the job.
#include <algorithm>
#include <cmath>

#include "diagnose/rules/list.h"
#include "render/render.h"

namespace spotter::diagnose {
namespace {

bool has_events(const JobFacts& f) {
  return std::ranges::any_of(f.ranks, [](const RankFacts& r) { return r.spans > 0; });
}

std::optional<Finding> find_no_events(const JobFacts& f, double) {
  if (has_events(f) || f.ranks.empty()) return {};  // without traces there are flight records
  if (sum_over(f, &RankFacts::losses) > 0)
    return Finding{
        .what =
            "No timed event could be read: what there is, is damaged or of kinds that are not read. "
            "The notes say where."};
  return Finding{
      .what =
          "There are no timed events: the process did nothing that the profiler records while it was traced. A "
          "launcher's trace looks so; its ranks write their own."};
}

std::optional<Finding> find_apart(const JobFacts& f, double) {
  if (!f.are_apart) return {};
  return Finding{
      .what =
          "The files do not overlap in time: they look like captures taken one after the other, not like "
          "ranks of one job, so they are not held against each other.",
      .remedy = "Analyse them one by one."};
}

std::optional<Finding> find_no_device_work(const JobFacts& f, double) {
  if (!has_events(f) || f.has_device_work) return {};
  return Finding{
      .what =
          "No device work was recorded: a CPU job, a process that only waits, or a capture without device "
          "activities. What follows is the host's time."};
}

std::optional<Finding> find_no_steps(const JobFacts& f, double) {
  if (!has_events(f) || sum_over(f, &RankFacts::steps) > 0) return {};
  return Finding{
      .what =
          "No steps were found (ProfilerStep#N, Optimizer.step# or an annotation that repeats), so nothing is "
          "told per step."};
}

std::optional<Finding> find_replay_differs(const JobFacts& f, double threshold) {
  const Ns measured = f.recorded_a_step, replayed = f.replayed_a_step;
  if (measured <= 0 || replayed <= 0) return {};
  const double more = ratio(replayed - measured, measured);
  if (std::abs(more) <= threshold) return {};
  return Finding{
      .what = fmt::format(
          "Run again to see what a cause costs, the job takes {} for each step, and {} as it was recorded ({} {}): "
          "what findings cost is told of the former, and is as uncertain.",
          render::human_ns(replayed), render::human_ns(measured), percent(std::abs(more)),
          more > 0 ? "more" : "less")};
}

std::optional<Finding> find_outside(const JobFacts& f, double threshold) {
  const double inside = ratio(f.operator_device_time, f.kernel_time);
  if (f.kernel_time == 0 || f.operators.rows() == 0 || inside > threshold) return {};
  const i64 unlaunched = sum_over(f, &RankFacts::unlaunched_rows);
  const double missing = ratio(unlaunched, sum_over(f, &RankFacts::device_rows));
  return Finding{
      .what = fmt::format(
          "Operators start {} of the device work; {}. The kernels tell more than the operators here.",
          f.operator_device_time > 0 ? "only " + percent(inside) : "none",
          missing > 0.5 ? "the launches of most are not in the trace"
          : unlaunched == 0
              ? "the rest was launched outside any operator"
              : "the rest was launched outside any operator, or its launches are not in the trace")};
}

}  // namespace

const Rule kNoEvents = {
    .name = "no_events",
    .kind = Rule::Kind::caveat,
    .summary = "No trace has a timed event.",
    .threshold = 0,
    .evidence = "--table summary",
    .find = find_no_events,
};
const Rule kCapturesApart = {
    .name = "captures_apart",
    .kind = Rule::Kind::caveat,
    .summary = "The files do not say their ranks and do not overlap in time.",
    .threshold = 0,
    .evidence = "--table summary",
    .find = find_apart,
};
const Rule kNoDeviceWork = {
    .name = "no_device_work",
    .kind = Rule::Kind::caveat,
    .summary = "No trace has device work.",
    .threshold = 0,
    .evidence = "--table summary",
    .find = find_no_device_work,
};
const Rule kNoSteps = {
    .name = "no_steps",
    .kind = Rule::Kind::caveat,
    .summary = "No trace has marks of steps.",
    .threshold = 0,
    .evidence = "--table summary",
    .find = find_no_steps,
};
const Rule kReplayDiffers = {
    .name = "replay_differs",
    .kind = Rule::Kind::caveat,
    .summary = "A step of the job that is run again takes {} more or less than was measured.",
    .threshold = 0.1,
    .evidence = "--table replay",
    .find = find_replay_differs,
};
const Rule kWorkOutsideOperators = {
    .name = "work_outside_operators",
    .kind = Rule::Kind::caveat,
    .summary = "Operators start {} of the device work or less.",
    .threshold = 0.5,
    .evidence = "--table operators --table kernel_breakdown",
    .find = find_outside,
};

}  // namespace spotter::diagnose
