// The sentences of the report that say what stands out. Each rule reads the facts, compares with a threshold
// and names the evidence; the thresholds are where an experienced engineer would begin to look.
#include "app/advice.h"

#include <cmath>

#include "app/sentences.h"
#include "render/render.h"

namespace spotter {
namespace {

constexpr double kIdle = 0.15;           // share of device time without work
constexpr double kCovered = 0.7;         // part of the traced time between the device's first and last work
constexpr double kExposed = 0.08;        // share of device time in communication that nothing hides
constexpr double kUnevenStep = 1.3;      // longest step of a rank over its mean
constexpr double kDominant = 0.25;       // share of one kernel or operator
constexpr double kShortKernelNs = 8000;  // mean kernel time below which launches cannot keep up,
constexpr double kLaunchGapNs = 20'000;  // if what the device waits for is no longer than a launch or two
constexpr size_t kMost = 5;
constexpr int kNameCells = 56;

struct Sums {
  i64 device_time = 0, idle = 0, exposed = 0, stream_idle = 0, host_wait = 0, host_gaps = 0, kernel_wait = 0,
      other = 0, steps = 0;
};

Sums sum_up(const Facts& f) {
  Sums s;
  for (const RankFacts& r : f.ranks) {
    s.device_time += r.device_time;
    s.idle += r.idle;
    s.exposed += r.communication - r.hidden_communication;
    s.stream_idle += r.stream_idle;
    s.host_wait += r.host_wait;
    s.host_gaps += r.host_gaps;
    s.kernel_wait += r.kernel_wait;
    s.other += r.other_wait;
    s.steps += r.steps;
  }
  return s;
}

double mean_kernel_ns(const Facts& f) {
  i64 sum = 0, count = 0;
  for (size_t row = 0; row < f.kernels.rows(); row++) {
    count += f.kernels.integer(row, f.kernels.column("count"));
    sum += f.kernels.integer(row, f.kernels.column("sum_ns"));
  }
  return ratio(sum, count);
}

bool launches_are_missing(const Facts& f) {
  i64 rows = 0, unlaunched = 0;
  for (const RankFacts& r : f.ranks) {
    rows += r.device_rows;
    unlaunched += r.unlaunched_rows;
  }
  return ratio(unlaunched, rows) > 0.5;
}

// Why the host was late: many short launches, or work of its own between them.
std::string host_is_late(const Facts& f, const Sums& s) {
  const double kernel = mean_kernel_ns(f), gap = ratio(s.host_wait, s.host_gaps);
  if (kernel < kShortKernelNs && gap < kLaunchGapNs) {
    return fmt::format(
        "kernels take {} on average and the gaps {}, so launches cannot keep up; fuse kernels "
        "(torch.compile) "
        "or use CUDA graphs.",
        human_ns(std::llround(kernel)), human_ns(std::llround(gap)));
  }
  return fmt::format(
      "gaps of {} on average. Look for host work, data loading or synchronisation (.item(), .cpu()) between "
      "the operators.",
      human_ns(std::llround(gap)));
}

void say_idle(const Facts& f, const Sums& s, Sentences& out) {
  const double idle = ratio(s.idle, s.device_time);
  if (idle < kIdle) return;
  std::string text =
      fmt::format("The device does nothing {} of the time between its first and last work. ", percent(idle));
  const double host = ratio(s.host_wait, s.stream_idle), other = ratio(s.other, s.stream_idle),
               kernel = ratio(s.kernel_wait, s.stream_idle);
  if (host >= 0.5) {
    text += fmt::format(
        "Mostly ({} of the gaps on the busiest stream) the host had not launched the next kernel yet: {}",
        percent(host), host_is_late(f, s));
  } else if (other >= 0.5 && launches_are_missing(f)) {
    text += "Why is not known: the launches of most kernels are not in the trace.";
  } else if (other >= 0.5) {
    text += fmt::format(
        "Mostly ({}) the next kernel was launched and waited for something else: another stream, a "
        "collective or a copy.",
        percent(other));
  } else if (kernel >= 0.5) {
    text += fmt::format(
        "Mostly ({}) these are the short gaps between kernels that follow each other; fewer and larger "
        "kernels make them fewer.",
        percent(kernel));
  } else {
    text += "The gaps have no single cause; see --table idle_time_breakdown.";
  }
  out.push_back(text);
}

// A device that works in a short part of the trace alone: the time around is not idle time by definition.
void say_uncovered(const Facts& f, Sentences& out) {
  const RankFacts* worst = nullptr;
  for (const RankFacts& r : f.ranks) {
    if (r.device_time > 0 &&
        (!worst || ratio(r.device_time, r.span) < ratio(worst->device_time, worst->span)))
      worst = &r;
  }
  if (!worst || ratio(worst->device_time, worst->span) >= kCovered) return;
  out.push_back(
      fmt::format("The device of {} has work within {} of the {} that were traced (from its first to its "
                  "last); in the rest only the host works.",
                  rank_name(*worst), human_ns(worst->device_time), human_ns(worst->span)));
}

// Work that no operator started.
void say_outside(const Facts& f, Sentences& out) {
  i64 device = 0, operators = 0;
  for (size_t row = 0; row < f.kernels.rows(); row++)
    device += f.kernels.integer(row, f.kernels.column("sum_ns"));
  for (size_t row = 0; row < f.operators.rows(); row++)
    operators += f.operators.integer(row, f.operators.column("device_self_ns"));
  if (device == 0 || f.operators.rows() == 0 || ratio(operators, device) > 0.5) return;
  out.push_back(
      fmt::format("Operators start {} of the device work; {}. The kernels tell more than the operators here.",
                  operators > 0 ? "only " + percent(ratio(operators, device)) : "none",
                  launches_are_missing(f) ? "the launches of most are not in the trace"
                                          : "the rest was launched outside any operator"));
}

void say_exposed(const Sums& s, Sentences& out) {
  const double exposed = ratio(s.exposed, s.device_time);
  if (exposed < kExposed) return;
  out.push_back(fmt::format(
      "Communication that no computation hides takes {} of the device time: larger overlap (bucket "
      "sizes, prefetch) or fewer bytes would give it back.",
      percent(exposed)));
}

void say_steps(const Facts& f, Sentences& out) {
  const RankFacts* worst = nullptr;
  const auto excess = [](const RankFacts& r) {
    return r.steps > 2 ? ratio(r.step_max * r.steps, r.step_sum) : 0;
  };
  for (const RankFacts& r : f.ranks) {
    if (!worst || excess(r) > excess(*worst)) worst = &r;
  }
  if (!worst || excess(*worst) < kUnevenStep) return;
  out.push_back(fmt::format(
      "Step {} of {} takes {}, {:.1f} times the mean: look at it alone with --steps {}.", worst->longest_step,
      rank_name(*worst), human_ns(worst->step_max), excess(*worst), worst->longest_step));
}

void say_dominant(const Facts& f, Sentences& out) {
  const Table& t = f.has_device_work ? f.kernels : f.operators;
  const std::string_view column = f.has_device_work ? "sum_ns" : "host_self_ns";
  i64 total = 0;
  for (size_t row = 0; row < t.rows(); row++) total += t.integer(row, t.column(column));
  if (t.rows() < 2) return;
  const double share = ratio(t.integer(0, t.column(column)), total);
  if (share < kDominant) return;
  out.push_back(fmt::format(
      "{} of the {} is one {}: {}.", percent(share), f.has_device_work ? "device work" : "operators' time",
      f.has_device_work ? "kernel" : "operator", short_name(t.text(0, t.column("name")), kNameCells)));
}

void say_missing(const Facts& f, const Sums& s, Sentences& out) {
  size_t empty = 0;
  for (const RankFacts& r : f.ranks) empty += r.spans == 0;
  if (empty == f.ranks.size()) {
    out.push_back(
        "There are no timed events: the process did nothing that the profiler records while it was traced. A "
        "launcher's trace looks so; its ranks write their own.");
    return;
  }
  if (!f.has_device_work) {
    out.push_back(
        "No device work was recorded: a CPU job, a process that only waits, or a capture without device "
        "activities. What follows is the host's time.");
  }
  if (s.steps == 0) {
    out.push_back(
        "No steps were found (ProfilerStep#N, Optimizer.step# or an annotation that repeats), so nothing is "
        "told per step.");
  }
}

}  // namespace

std::vector<std::string> advice(const Facts& facts) {
  const Sums sums = sum_up(facts);
  std::vector<std::string> out;
  say_idle(facts, sums, out);
  say_uncovered(facts, out);
  say_exposed(sums, out);
  say_ranks(facts, out);
  say_steps(facts, out);
  say_missing(facts, sums, out);
  say_outside(facts, out);
  say_dominant(facts, out);
  if (out.size() > kMost) out.resize(kMost);
  if (out.empty())
    out.push_back("Nothing: the device is busy, communication is hidden, the ranks are in step.");
  return out;
}

}  // namespace spotter
