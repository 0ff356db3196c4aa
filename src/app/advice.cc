// The sentences of the report that say what stands out. Each rule reads the facts, compares with a threshold
// and names the evidence; the thresholds are where an experienced engineer would begin to look.
#include <algorithm>
#include <cmath>

#include "app/facts.h"
#include "base/utf8.h"
#include "render/render.h"

namespace spotter {
namespace {

constexpr double kIdle = 0.15;           // share of device time without work
constexpr double kCovered = 0.7;         // part of the traced time between the device's first and last work
constexpr double kExposed = 0.08;        // share of device time in communication that nothing hides
constexpr double kSpread = 0.05;         // longest over shortest mean step among ranks, minus 1
constexpr double kUnevenStep = 1.3;      // longest step of a rank over its mean
constexpr double kDominant = 0.25;       // share of one kernel or operator
constexpr double kShortKernelNs = 8000;  // mean kernel time below which launches cannot keep up
constexpr size_t kMost = 5;

std::string percent(double ratio) { return fmt::format("{:.0f} %", 100 * ratio); }

double ratio(i64 part, i64 whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string short_name(std::string_view text) {
  constexpr size_t kHead = 40, kTail = 16;
  const std::string name = to_printable(text);
  if (name.size() <= kHead + kTail + 3) return name;
  return to_valid_utf8(fmt::format("{}...{}", name.substr(0, kHead), name.substr(name.size() - kTail)));
}

std::string rank_name(const RankFacts& r) { return r.rank ? fmt::format("rank {}", *r.rank) : r.file; }

struct Sums {
  i64 device_time = 0, idle = 0, exposed = 0, stream_idle = 0, host_wait = 0, kernel_wait = 0, other = 0,
      steps = 0;
};

Sums sum_up(const Facts& f) {
  Sums s;
  for (const RankFacts& r : f.ranks) {
    s.device_time += r.device_time;
    s.idle += r.idle;
    s.exposed += r.communication - r.hidden_communication;
    s.stream_idle += r.stream_idle;
    s.host_wait += r.host_wait;
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

void say_idle(const Facts& f, const Sums& s, std::vector<std::string>& out) {
  const double idle = ratio(s.idle, s.device_time);
  if (idle < kIdle) return;
  std::string text =
      fmt::format("The device does nothing {} of the time between its first and last work. ", percent(idle));
  const double host = ratio(s.host_wait, s.stream_idle), other = ratio(s.other, s.stream_idle);
  if (host >= 0.5) {
    text += fmt::format(
        "Mostly ({} of the gaps on the busiest stream) the host had not launched the next kernel yet: ",
        percent(host));
    const double mean = mean_kernel_ns(f);
    text +=
        mean < kShortKernelNs
            ? fmt::format(
                  "kernels take {} on average, too short for the launches; fuse them (torch.compile) or use "
                  "CUDA graphs.",
                  human_ns(std::llround(mean)))
            : std::string(
                  "look for host work, data loading or synchronisation (.item(), .cpu()) between the "
                  "operators.");
  } else if (other >= 0.5) {
    text += fmt::format(
        "Mostly ({}) the next kernel was launched and waited for something else: another stream, a "
        "collective or a copy.",
        percent(other));
  } else if (ratio(s.kernel_wait, s.stream_idle) >= 0.5) {
    text += fmt::format(
        "Mostly ({}) these are the short gaps between kernels that follow each other; fewer and larger "
        "kernels, or CUDA graphs, make them fewer.",
        percent(ratio(s.kernel_wait, s.stream_idle)));
  } else {
    text += "The gaps have no single cause; see --table idle_time_breakdown.";
  }
  out.push_back(text);
}

// A device that works in a short part of the trace alone: the time around is not idle time by definition.
void say_uncovered(const Facts& f, std::vector<std::string>& out) {
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

// Work that no operator started: mostly replays of CUDA or HIP graphs.
void say_outside(const Facts& f, std::vector<std::string>& out) {
  i64 device = 0, operators = 0;
  for (size_t row = 0; row < f.kernels.rows(); row++)
    device += f.kernels.integer(row, f.kernels.column("sum_ns"));
  for (size_t row = 0; row < f.operators.rows(); row++) {
    operators += f.operators.integer(row, f.operators.column("device_self_ns"));
  }
  if (device == 0 || f.operators.rows() == 0 || ratio(operators, device) > 0.5) return;
  out.push_back(fmt::format(
      "Operators start only {} of the device work; the rest was launched outside any, as replays of "
      "CUDA or HIP graphs are. The kernels tell more than the operators here.",
      percent(ratio(operators, device))));
}

void say_exposed(const Sums& s, std::vector<std::string>& out) {
  const double exposed = ratio(s.exposed, s.device_time);
  if (exposed < kExposed) return;
  out.push_back(fmt::format(
      "Communication that no computation hides takes {} of the device time: larger overlap (bucket "
      "sizes, prefetch) or fewer bytes would give it back.",
      percent(exposed)));
}

void say_ranks(const Facts& f, std::vector<std::string>& out) {
  const RankFacts *slow = nullptr, *fast = nullptr;
  const auto mean = [](const RankFacts& r) { return ratio(r.step_sum, r.steps); };
  const auto own_work = [](const RankFacts& r) { return r.device_time > 0 ? r.compute : 0; };
  for (const RankFacts& r : f.ranks) {
    if (r.steps == 0) continue;
    if (!slow || mean(r) > mean(*slow)) slow = &r;
    if (!fast || mean(r) < mean(*fast)) fast = &r;
  }
  if (slow && fast && mean(*slow) > (1 + kSpread) * mean(*fast)) {
    out.push_back(fmt::format("Steps of {} take {} on average, those of {} {}: the ranks are out of step.",
                              rank_name(*slow), human_ns(std::llround(mean(*slow))), rank_name(*fast),
                              human_ns(std::llround(mean(*fast)))));
  }
  const RankFacts *most = nullptr, *least = nullptr;
  for (const RankFacts& r : f.ranks) {
    if (r.device_time == 0) continue;
    if (!most || own_work(r) > own_work(*most)) most = &r;
    if (!least || own_work(r) < own_work(*least)) least = &r;
  }
  if (most && least &&
      static_cast<double>(own_work(*most)) > (1 + kSpread) * static_cast<double>(own_work(*least))) {
    out.push_back(fmt::format(
        "The device of {} computes for {}, that of {} only for {}: the others wait for it in collectives.",
        rank_name(*most), human_ns(own_work(*most)), rank_name(*least), human_ns(own_work(*least))));
  }
}

void say_steps(const Facts& f, std::vector<std::string>& out) {
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

void say_dominant(const Facts& f, std::vector<std::string>& out) {
  const Table& t = f.has_device_work ? f.kernels : f.operators;
  const std::string_view column = f.has_device_work ? "sum_ns" : "host_self_ns";
  i64 total = 0;
  for (size_t row = 0; row < t.rows(); row++) total += t.integer(row, t.column(column));
  if (t.rows() < 2) return;
  const double share = ratio(t.integer(0, t.column(column)), total);
  if (share < kDominant) return;
  out.push_back(fmt::format(
      "{} of the {} is one {}: {}.", percent(share), f.has_device_work ? "device work" : "operators' time",
      f.has_device_work ? "kernel" : "operator", short_name(t.text(0, t.column("name")))));
}

void say_missing(const Facts& f, const Sums& s, std::vector<std::string>& out) {
  size_t empty = 0;
  for (const RankFacts& r : f.ranks) empty += r.spans == 0;
  if (empty == f.ranks.size()) {
    out.push_back(
        "There are no timed events: this is the trace of a launcher or of a process that did nothing while "
        "it "
        "was traced. The ranks' own traces lie beside it.");
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
