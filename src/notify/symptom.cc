#include "notify/symptom.h"

#include <fmt/format.h>

#include <algorithm>

#include "notify/words.h"
#include "respond/alerts/alert.h"
#include "respond/rules/list.h"
#include "respond/steps/step_blocks.h"

namespace spotter::notify {
namespace {

using respond::Condition;
using respond::Incident;

constexpr size_t kMostName = 40;   // characters of a host's or device's name
constexpr size_t kMostFault = 80;  // of what a driver says

// "gpu 5" as people write it, without the metric that a rule looks at; other devices as they are.
std::string device_text(const Condition& c) {
  constexpr std::string_view kGpu = "gpu ";
  const std::string name = clean(c.device, kMostName);
  if (!name.starts_with(kGpu)) return name;
  return "GPU " + name.substr(kGpu.size(), name.find(' ', kGpu.size()) - kGpu.size());
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
  if (c.value && c.unit == "s") return rank_text(c) + " gave up a collective after " + value_text(c);
  if (c.rank && c.value)
    return fmt::format("a collective is stuck: {} has not arrived{}", rank_text(c),
                       *c.value > 1 ? fmt::format(" (of {:.0f} such ranks)", *c.value) : "");
  if (c.value && c.unit == "count" && *c.value >= 1)
    return fmt::format("a collective is stuck ({} missing)",
                       count_text(static_cast<i64>(*c.value), "rank is", "ranks are"));
  return "a collective is stuck";
}
std::string rank_gone(const Condition& c) { return rank_text(c) + " ended while others of its job go on"; }
std::string rank_outlier(const Condition& c) {
  if (!has_both(c)) return rank_text(c) + " differs from its peers";
  if (c.unit == "generation")
    return fmt::format("{}: PCIe of generation {:.0f}, its peers {:.0f}", rank_text(c), *c.value,
                       *c.baseline);
  const bool is_memory = c.device.find("memory") != c.device.npos;
  const char* what = c.unit == "Hz"      ? (is_memory ? ": memory clock" : ": SM clock")
                     : c.unit == "lanes" ? ": PCIe"
                                         : ":";
  return fmt::format("{}{} {}, its peers {}", rank_text(c), what, value_text(c), baseline_text(c));
}
std::string gpu_throttled(const Condition& c) {
  return gpu_text(c) + " is throttled" +
         (has_both(c) ? fmt::format(": clock {} of {}", value_text(c), baseline_text(c)) : "");
}
std::string gpu_fault(const Condition& c) {
  // What the driver says of it: "XID 79: the GPU has fallen off the bus".
  const std::string what = !c.text.empty()              ? clean(c.text, kMostFault)
                           : c.value && c.unit == "xid" ? fmt::format("XID {:.0f}", *c.value)
                                                        : std::string();
  return gpu_text(c) + " has a fault" + (what.empty() ? "" : " (" + what + ")");
}
std::string gpu_memory_rows(const Condition& c) {
  return c.text.empty() ? gpu_text(c) + " has lost a row of its memory"
                        : gpu_text(c) + ": " + clean(c.text, kMostFault);
}
std::string gpu_idle_in_job(const Condition& c) {
  if (!has_both(c)) return gpu_text(c) + " is idle";
  return fmt::format("{} is idle: busy {} of the time, limit {}", gpu_text(c), value_text(c),
                     baseline_text(c));
}
std::string gpu_shared(const Condition& c) {
  const std::string who =
      c.text.empty() ? "another process" : clean(c.text, kMostName) + ", not of this job,";
  if (!c.value) return gpu_text(c) + " is used by " + who;
  return fmt::format("{}: {} takes {} of its time", gpu_text(c), who, value_text(c));
}
std::string link_errors(const Condition& c) {
  const std::string place = place_text(c, "a link");
  const std::string what = c.text.empty() ? "errors" : clean(c.text, kMostName);
  if (!c.value) return fmt::format("{}: {}", place, what);
  // "the link went down" is what happened, "symbol errors" what there are so many of.
  if (c.text.starts_with("the ")) return fmt::format("{}: {} ({:.0f} ×, usual 0)", place, what, *c.value);
  const std::string count = c.text.empty() ? count_text(static_cast<i64>(*c.value), "error", "errors")
                                           : fmt::format("{:.0f} {}", *c.value, what);
  return fmt::format("{}: {} (usual 0)", place, count);
}
std::string rdma_congestion(const Condition& c) {
  const std::string text = place_text(c, "the network") + " is congested";
  if (!has_both(c)) return text;
  return fmt::format("{}: {:.0f} retransmits and congestion notices a second, its peers {:.0f}", text,
                     *c.value, *c.baseline);
}
std::string host_starved(const Condition& c) {
  const std::string for_what = c.device == "cpu"  ? "a processor"
                               : c.device == "io" ? "disks"
                               : c.device.empty() ? "memory, a processor or disks"
                                                  : device_text(c);
  const std::string text = on_host("tasks", c) + " wait for " + for_what;
  if (!has_both(c)) return text;
  return fmt::format("{} {} of the time, limit {}", text, value_text(c), baseline_text(c));
}
// A path of a control group says little to people, and its end most.
std::string cpu_throttled(const Condition& c) {
  const std::string group = clean(c.device.substr(c.device.rfind('/') + 1), kMostName);
  const std::string what = c.rank ? rank_text(c) : on_host(group, c);
  return (what.empty() ? "a control group" : what) + " is stopped by its CPU limit" +
         (c.value && c.unit == "ratio" ? " in " + value_text(c) + " of its periods" : "");
}
std::string oom_kill(const Condition& c) {
  const bool are_many = c.value && *c.value > 1;
  const std::string whose = are_many ? fmt::format("{:.0f} processes", *c.value) : "a process";
  return fmt::format("{} {} killed (out of memory)", c.rank ? rank_text(c) : on_host(whose, c),
                     are_many && !c.rank ? "were" : "was");
}
std::string storage_hangs(const Condition& c) {
  const std::string device = c.text.empty() ? "" : " (" + clean(c.text, kMostName) + ")";
  const std::string path = c.device.empty() ? "a file system" : clean(c.device, kMostName);
  return on_host(path + device, c) + " does not answer";
}
// The kind of line is ours, the line a job's.
std::string log_error(const Condition& c) {
  std::string kind = clean(c.device, kMostName);
  std::ranges::replace(kind, '_', ' ');
  const std::string what = kind.empty() ? "an error" : "“" + kind + "”";
  if (c.rank) return fmt::format("{} logs {}", rank_text(c), what);
  return fmt::format("{} has {}", on_host("a log of the job", c), what);
}
// Its name and who sent it; whom it is about, where it says so.
std::string alert(const Condition& c) {
  const std::string name = clean(c.source.substr(c.source.find(':') + 1), kMostName);
  return fmt::format("alert {} fires{}", name, c.rank ? fmt::format(" (rank {})", *c.rank) : "");
}

// Of rules whose conditions say different things: what each says, and what they are called.
struct Kinds {
  const char* rule;
  const char *one, *many;
  std::string (*kind)(const Condition&);
};
constexpr Kinds kKinds[] = {
    {respond::kAlert, "other alert", "other alerts", [](const Condition& c) { return c.source; }},
    {"log_error", "other error", "other errors", [](const Condition& c) { return c.device; }},
    {"gpu_fault", "other fault", "other faults",
     [](const Condition& c) { return c.text.empty() && c.value ? fmt::format("{}", *c.value) : c.text; }},
};

const Kinds* kinds_of(const std::string& rule) {
  const auto* it = std::ranges::find_if(kKinds, [&](const Kinds& each) { return rule == each.rule; });
  return it == std::end(kKinds) ? nullptr : it;
}

struct RuleWords {
  const char* rule;
  std::string (*says)(const Condition&);
  bool is_moment = false;   // it happened at a time, and does not go on
  const char* remedy = "";  // of a symptom; a rule that names a cause has its own
};
constexpr RuleWords kWords[] = {
    {"step_time_up", step_time_up},
    {"step_time_creep", step_time_creep},
    {"step_time_spikes", step_time_spikes},
    {"progress_stopped", progress_stopped, false,
     "see which ranks wait, and for whom, before you restart it"},
    {"collective_stuck", collective_stuck},
    {"rank_gone", rank_gone, true},
    {"rank_outlier", rank_outlier},
    {"gpu_throttled", gpu_throttled},
    {"gpu_fault", gpu_fault, true},
    {"gpu_memory_rows", gpu_memory_rows},
    {"gpu_idle_in_job", gpu_idle_in_job},
    {"gpu_shared", gpu_shared},
    {"link_errors", link_errors},
    {"rdma_congestion", rdma_congestion},
    {"host_starved", host_starved},
    {"cpu_throttled", cpu_throttled},
    {"oom_kill", oom_kill, true},
    {"storage_hangs", storage_hangs},
    {respond::kAlert, alert},
    {"log_error", log_error, true},
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

bool says_the_same(const Condition& a, const Condition& b) {
  const Kinds* kinds = kinds_of(a.rule);
  return a.rule == b.rule && (!kinds || kinds->kind(a) == kinds->kind(b));
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
  // Steps are the whole job's: who else says so is in the count of hosts. A collective counts its own ranks.
  const bool is_of_job = incident.family == "speed" || incident.family == "progress";
  if (is_of_job && worst.rule != respond::kRankOutlier.name && worst.rule != respond::kRankGone.name)
    return text;
  const i64 shown = std::ranges::count(incident.conditions, worst.rule, &Condition::rule);
  const bool are_all = shown == std::ssize(incident.conditions);
  const i64 all = are_all ? std::max(incident.condition_count, shown) : shown;
  const i64 other = std::ranges::count_if(incident.conditions, [&](const Condition& c) {
    return c.rule == worst.rule && !says_the_same(c, worst);
  });
  // What those say that are not shown is not known.
  const i64 same = other > 0 ? shown - other : all;
  std::string more = same > 1 ? fmt::format("; the same on {} more", same - 1) : "";
  const Kinds* kinds = kinds_of(worst.rule);
  if (kinds && other > 0) more += "; and " + count_text(all - same, kinds->one, kinds->many);
  return text + more;
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

bool quotes_others(const Condition& c) { return c.rule == respond::kAlert || c.source.starts_with("log"); }

std::string first_remedy(const Incident& incident) {
  const respond::Rule* rule = respond::find_rule(incident.symptom.rule);
  if (rule && *rule->remedy) return rule->remedy;
  const RuleWords* words = words_of(incident.symptom.rule);
  return words ? words->remedy : "";
}

}  // namespace spotter::notify
