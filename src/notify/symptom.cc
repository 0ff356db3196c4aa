#include "notify/symptom.h"

#include <fmt/format.h>

#include <algorithm>

#include "notify/words.h"
#include "respond/alerts/alert.h"
#include "respond/steps/step_blocks.h"

namespace spotter::notify {
namespace {

using respond::Condition;
using respond::Incident;

constexpr size_t kMostName = 40;  // characters of a host's or device's name

// "gpu 5" as people write it, other devices as they are.
std::string device_text(const Condition& c) {
  const std::string name = clean(c.device, kMostName);
  return name.starts_with("gpu") ? "GPU" + name.substr(3) : name;
}

std::string on_host(const std::string& what, const Condition& c) {
  if (c.host.empty()) return what;
  return what.empty() ? clean(c.host, kMostName) : what + " on " + clean(c.host, kMostName);
}

// "rank 37 on gpu05"; without a rank the device, or the host.
std::string rank_text(const Condition& c) {
  if (c.rank) return on_host(fmt::format("rank {}", *c.rank), c);
  const std::string place = on_host(device_text(c), c);
  return place.empty() ? "a rank" : place;
}

// "GPU 5 on gpu05"; without a device the rank's.
std::string gpu_text(const Condition& c) {
  if (!c.device.empty()) return on_host(device_text(c), c);
  return c.rank ? "the GPU of " + rank_text(c) : on_host("a GPU", c);
}

std::string place_text(const Condition& c, const char* otherwise) {
  const std::string place = on_host(device_text(c), c);
  return place.empty() ? otherwise : place;
}

std::string value_text(const Condition& c) { return number_text(*c.value, c.unit); }
std::string baseline_text(const Condition& c) { return number_text(*c.baseline, c.unit); }
bool has_both(const Condition& c) { return c.value && c.baseline; }

// ": NOW", and with a baseline ", WHOSE BEFORE".
std::string numbers_text(const Condition& c, const char* whose) {
  if (!c.value) return {};
  return ": " + value_text(c) + (c.baseline ? fmt::format(", {} {}", whose, baseline_text(c)) : "");
}

std::string step_time_up(const Condition& c) {
  return has_both(c) ? "steps " + change_text(*c.baseline, *c.value, c.unit) : "steps are slower";
}
std::string step_time_creep(const Condition& c) {
  if (c.value && c.unit == "ratio") return fmt::format("steps get {} slower each hour", value_text(c));
  return has_both(c) ? "steps creep up, " + change_text(*c.baseline, *c.value, c.unit)
                     : "steps get slower little by little";
}
std::string step_time_spikes(const Condition& c) {
  if (c.value && c.unit == "count")
    return fmt::format("{:.0f} of 100 steps take at least twice as long", *c.value);
  return has_both(c) ? fmt::format("single steps take {}, the usual {}", value_text(c), baseline_text(c))
                     : "single steps take far longer";
}
std::string progress_stopped(const Condition& c) {
  if (!c.value || c.unit != "s") return "no step any more";
  return "no step for " + value_text(c) + (c.baseline ? fmt::format(" (usual: {})", baseline_text(c)) : "");
}
std::string collective_stuck(const Condition& c) {
  if (c.value && c.unit == "s") return "a collective has not ended for " + value_text(c);
  if (c.value && c.unit == "count" && *c.value >= 1)
    return fmt::format("a collective is stuck ({} missing)",
                       count_text(static_cast<i64>(*c.value), "rank is", "ranks are"));
  return "a collective is stuck";
}
std::string rank_gone(const Condition& c) { return rank_text(c) + " is gone (the others run)"; }
std::string rank_outlier(const Condition& c) {
  if (!has_both(c)) return rank_text(c) + " differs from its peers";
  if (c.unit == "generation")
    return fmt::format("{}: PCIe of generation {:.0f}, its peers {:.0f}", rank_text(c), *c.value,
                       *c.baseline);
  const char* what = c.unit == "Hz" ? ": clock" : c.unit == "lanes" ? ": PCIe" : ":";
  return fmt::format("{}{} {}, its peers {}", rank_text(c), what, value_text(c), baseline_text(c));
}
std::string gpu_throttled(const Condition& c) {
  return gpu_text(c) + " is throttled" +
         (c.value && c.unit == "ratio" ? " " + value_text(c) + " of the time" : "");
}
std::string gpu_fault(const Condition& c) {
  if (c.value && c.unit == "xid") return fmt::format("{} has a fault (XID {:.0f})", gpu_text(c), *c.value);
  return gpu_text(c) + " has a fault" + numbers_text(c, "before");
}
std::string gpu_idle_in_job(const Condition& c) {
  return gpu_text(c) + " does nothing" +
         (c.value && c.unit == "ratio" ? " (SMs active: " + value_text(c) + ")" : "");
}
std::string gpu_shared(const Condition& c) {
  return gpu_text(c) + " is used by another process" +
         (c.value && c.unit == "ratio" ? " for " + value_text(c) + " of the time" : "");
}
std::string link_errors(const Condition& c) {
  const std::string place = place_text(c, "a link");
  if (!c.value) return "errors of " + place;
  if (c.unit != "count") return fmt::format("errors of {}{}", place, numbers_text(c, "usual"));
  return fmt::format("{}: {} in 10 min", place, count_text(static_cast<i64>(*c.value), "error", "errors"));
}
std::string rdma_congestion(const Condition& c) {
  return place_text(c, "the network") + " is congested" + numbers_text(c, "its peers");
}
std::string host_starved(const Condition& c) {
  const std::string for_what = c.device.empty() ? "memory, CPU or disk" : device_text(c);
  const std::string host = c.host.empty() ? "a host" : clean(c.host, kMostName);
  return fmt::format("{} waits for {}{}", host, for_what,
                     c.value && c.unit == "ratio" ? " " + value_text(c) + " of the time" : "");
}
// A path of a control group says little to people, and its end most.
std::string cpu_throttled(const Condition& c) {
  const std::string group = clean(c.device.substr(c.device.rfind('/') + 1), kMostName);
  const std::string what = c.rank ? rank_text(c) : on_host(group, c);
  return (what.empty() ? "a control group" : what) + " is stopped by its CPU limit" +
         (c.value && c.unit == "ratio" ? " in " + value_text(c) + " of its periods" : "");
}
std::string oom_kill(const Condition& c) {
  const std::string whose = c.rank ? rank_text(c) : on_host("a process", c);
  return whose + " was killed (out of memory)";
}
std::string storage_hangs(const Condition& c) { return place_text(c, "a file system") + " does not answer"; }
std::string log_error(const Condition& c) {
  return (c.rank || !c.host.empty() ? rank_text(c) : "a rank") + " logs an error";
}
// Its name and who sent it; whom it is about, where it says so.
std::string alert(const Condition& c) {
  const std::string name = clean(c.source.substr(c.source.find(':') + 1), kMostName);
  return fmt::format("alert {} fires{}", name, c.rank ? fmt::format(" (rank {})", *c.rank) : "");
}

struct RuleWords {
  const char* rule;
  std::string (*says)(const Condition&);
  const char* remedy;
  bool is_moment = false;  // it happened at a time, and does not go on
};
constexpr RuleWords kWords[] = {
    {"step_time_up", step_time_up, ""},
    {"step_time_creep", step_time_creep, ""},
    {"step_time_spikes", step_time_spikes, ""},
    {"progress_stopped", progress_stopped, "see which ranks wait, and for whom, before you restart it."},
    {"collective_stuck", collective_stuck,
     "look at the ranks that have not arrived, not at those that wait."},
    {"rank_gone", rank_gone, "read its log; restart the job, the others wait for it.", true},
    {"rank_outlier", rank_outlier, ""},
    {"gpu_throttled", gpu_throttled, "look at the cooling and the power of the host."},
    {"gpu_fault", gpu_fault, "drain the host, then reset or replace the GPU.", true},
    {"gpu_idle_in_job", gpu_idle_in_job, "see whether its process waits for data or for other ranks."},
    {"gpu_shared", gpu_shared, "end that process, or give each its own GPU."},
    {"link_errors", link_errors, "look at the cable and the port at both of its ends."},
    {"rdma_congestion", rdma_congestion, "see what else uses the same switches."},
    {"host_starved", host_starved, "see what else runs on the host."},
    {"cpu_throttled", cpu_throttled, "raise the CPU limit of its container or job, or lower what it does."},
    {"oom_kill", oom_kill, "lower what the host's processes need, data loader workers first.", true},
    {"storage_hangs", storage_hangs, "see whether other hosts reach that file system."},
    {respond::kAlert, alert, ""},
    {"log_error", log_error, "read the log around that line.", true},
};

const RuleWords* words_of(const std::string& rule) {
  const auto* it = std::ranges::find_if(kWords, [&](const RuleWords& w) { return rule == w.rule; });
  return it == std::end(kWords) ? nullptr : it;
}

}  // namespace

std::string of_job(const Condition& c) {
  if (c.job.empty()) return {};
  return " in job " + clean(c.job, kMostName) + (c.user.empty() ? "" : " (" + clean(c.user, kMostName) + ")");
}

std::string condition_text(const Condition& c) {
  if (const RuleWords* words = words_of(c.rule)) return words->says(c);
  std::string name = clean(c.rule.empty() ? "something is not as it should be" : c.rule, kMostName);
  std::ranges::replace(name, '_', ' ');
  const std::string place = c.rank ? rank_text(c) : place_text(c, "");
  return name + (place.empty() ? "" : " of " + place) + numbers_text(c, "before");
}

Condition worst_condition(const Incident& incident) {
  const respond::Symptom& symptom = incident.symptom;
  const auto it = std::ranges::find(incident.conditions, symptom.rule, &Condition::rule);
  Condition worst = it == incident.conditions.end() ? Condition{} : *it;
  worst.rule = symptom.rule;
  if (symptom.before || symptom.now) {
    worst.baseline = symptom.before;
    worst.value = symptom.now;
    worst.unit = symptom.unit;
  }
  return worst;
}

std::string symptom_text(const Incident& incident) {
  const Condition worst = worst_condition(incident);
  const std::string text = condition_text(worst);
  if (incident.shared_by) return text + of_job(worst);
  // Steps are the whole job's: who else says so is in the count of hosts.
  if (!worst.rank && worst.device.empty()) return text;
  const i64 more = std::ranges::count(incident.conditions, worst.rule, &Condition::rule) - 1;
  return more > 0 ? fmt::format("{}; {} more like it", text, more) : text;
}

std::string measured_by(const Incident& incident) {
  const respond::Symptom& symptom = incident.symptom;
  const bool is_speed = incident.family == "speed";
  if (symptom.source.empty() || (!is_speed && incident.family != "progress")) return {};
  std::string text = "measured by " + clean(symptom.source, kMostName);
  if (symptom.spreads) text += fmt::format(", {:.0f} × the usual spread", *symptom.spreads);
  if (symptom.since_step)
    text += fmt::format(", since step {}", number_text(static_cast<double>(*symptom.since_step), "count"));
  const double slow_s = static_cast<double>(respond::BlockOptions().slow_step) / static_cast<double>(kSecond);
  if (is_speed && symptom.unit == "s" && symptom.before > slow_s)
    text += "; such long steps are judged by few of them";
  return text;
}

bool is_moment(const Incident& incident) {
  const RuleWords* words = words_of(incident.symptom.rule);
  return words && words->is_moment;
}

std::string first_remedy(const Incident& incident) {
  const RuleWords* words = words_of(incident.symptom.rule);
  return words ? words->remedy : "";
}

}  // namespace spotter::notify
