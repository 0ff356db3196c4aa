#include "respond/incidents/says.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "respond/alerts/alert.h"

namespace spotter::respond {
namespace {

// Of a GPU the metric that a rule looks at is not said; a kind of line is no device.
std::string device_of(const Condition& c) {
  if (c.rule == kAlert || c.rule == "log_error") return {};
  const bool is_gpu = c.device.starts_with("gpu ");
  return is_gpu ? "GPU " + c.device.substr(4, c.device.find(' ', 4) - 4) : c.device;
}

// The condition's own words, by its rule.
std::string what(const Condition& c) {
  const std::string value = c.value ? amount(*c.value, c.unit) : "";
  const std::string baseline = c.baseline ? amount(*c.baseline, c.unit) : "";
  if (c.rule == "step_time_up" && c.value && c.baseline)
    return fmt::format("steps {} → {} ({:+.0f} %)", baseline, value, (*c.value / *c.baseline - 1) * 100);
  if (c.rule == "step_time_creep") return fmt::format("steps become slower by {} an hour", value);
  if (c.rule == "step_time_spikes")
    return fmt::format("{} of 100 steps took far longer than the others", value);
  if (c.rule == "progress_stopped") return fmt::format("no step for {} (usual: {})", value, baseline);
  if (c.rule == "collective_stuck") {
    if (c.unit == "count")
      return c.rank ? "it has not arrived" : fmt::format("{} ranks have not arrived", value);
    return c.value ? fmt::format("it has waited {} for a collective, and given up", value)
                   : "it has given up a collective";
  }
  // The line itself is a job's text.
  if (c.rule == "log_error") return "its log has an error";
  if (c.rule == "rank_gone") return "its processes have ended while the others go on";
  if (c.rule == "gpu_throttled")
    return fmt::format("the clocks are held down for heat or power: {} of {}", value, baseline);
  if (c.rule == "gpu_idle_in_job") return fmt::format("the GPU has had work in {} of the time", value);
  if (c.rule == "gpu_shared")
    return fmt::format("{} takes {} of the GPU's time, and is not of the job", c.text, value);
  if (c.rule == "rank_outlier" && c.unit == "lanes")
    return fmt::format("PCIe has {} lanes, the others {}", value, baseline);
  if (c.rule == "rank_outlier" && c.unit == "generation")
    return fmt::format("PCIe is of generation {}, the others' {}", value, baseline);
  if (c.rule == "rank_outlier")
    return fmt::format("the {} clock is {}, the others' {}",
                       c.device.find("memory") == std::string::npos ? "SM" : "memory", value, baseline);
  if (c.rule == "link_errors") return fmt::format("{} ({})", c.text, value);
  if (c.rule == "rdma_congestion")
    return fmt::format("sent again or congested {}, others {}", value, baseline);
  if (c.rule == "host_starved") return fmt::format("tasks wait for {} in {} of the time", c.device, value);
  if (c.rule == "cpu_throttled") return fmt::format("its CPU limit stops it in {} of its periods", value);
  if (c.rule == "oom_kill")
    return fmt::format("the kernel ended {} for want of memory",
                       value == "1" ? "a process" : value + " processes");
  if (c.rule == "storage_hangs") return "the file system does not answer";
  if (c.rule == kAlert) return fmt::format("the alert {} fires", c.source);
  if (!c.text.empty()) return c.text;
  return value.empty() ? c.rule : fmt::format("{} {}", c.rule, value);
}

}  // namespace

std::string amount(double value, std::string_view unit) {
  if (unit == "s") return value < 1 ? fmt::format("{:.3g} ms", value * 1e3) : fmt::format("{:.3g} s", value);
  if (unit == "Hz") return fmt::format("{:.0f} MHz", value / 1e6);
  if (unit == "ratio") return fmt::format("{:.0f} %", value * 100);
  if (unit == "celsius") return fmt::format("{:.0f} °C", value);
  if (unit == "per_s") return fmt::format("{:.0f} a second", value);
  return fmt::format("{:.0f}", value);
}

std::string whom(const Condition& c) {
  const std::string device = device_of(c);
  std::string name = c.rank ? fmt::format("rank {}", *c.rank) : device;
  if (!c.host.empty()) name += (name.empty() ? "" : " on ") + c.host;
  if (c.rank && !device.empty()) name += fmt::format(" ({})", device);
  return name;
}

std::string says(const Condition& condition) {
  const std::string name = whom(condition);
  return name.empty() ? what(condition) : fmt::format("{}: {}", name, what(condition));
}

std::string why_not_the_cause(const Verdict& verdict, const Symptom& symptom) {
  constexpr double kLeast = 0.25;
  if (!verdict.suspects.empty() || symptom.unit != "s" || !symptom.before || !symptom.now ||
      !verdict.at_stake_s_per_step)
    return {};
  const double slower = *symptom.now - *symptom.before;
  if (*verdict.at_stake_s_per_step >= kLeast * slower) return {};
  return fmt::format("{} explains {} of the {} that a step takes longer", verdict.cause,
                     amount(*verdict.at_stake_s_per_step, symptom.unit), amount(slower, symptom.unit));
}

}  // namespace spotter::respond
