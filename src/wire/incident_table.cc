#include "wire/incident_table.h"

#include <fmt/format.h>

namespace spotter::wire {
namespace {

using namespace respond;

constexpr Field kColumns[] = {
    {"id", Type::text, Unit::none, Role::key, "Its name, as messages of it show it."},
    {"job", Type::text, Unit::none, Role::key,
     "The job that it is of; null: of a host, or of several of its jobs."},
    {"family", Type::text, Unit::none, Role::key,
     "What kind of trouble: speed, progress, gpu, network, host, storage or log."},
    {"state", Type::text, Unit::none, Role::value,
     "pending, firing, investigating, verdict, inconclusive, recovering or resolved."},
    {"ending", Type::text, Unit::none, Role::value,
     "Of one that recovers or is resolved: over, by_hand, job_ended, new_normal or not_known; null: it goes on."},
    {"severity", Type::text, Unit::none, Role::value, "info, warning or critical."},
    {"opened", Type::integer, Unit::ns, Role::time, "When it began, Unix time."},
    {"updated", Type::integer, Unit::ns, Role::time, "When something of it changed last, Unix time."},
    {"mechanism", Type::text, Unit::none, Role::value,
     "The cause: a mechanism of the table findings, or a rule; null: none is known."},
    whole({"suspects", Type::text, Unit::none, Role::value,
           "Ranks, GPUs and hosts that it comes from, by commas; null: none are known."}),
    {"confidence", Type::text, Unit::none, Role::value, "In the cause: low, medium or high."},
    whole({"sentence", Type::text, Unit::none, Role::detail,
           "What is known of it: of the cause, else the rule that it began with."}),
};

// Of the cause, else what it began with.
std::string sentence_of(const Incident& i) {
  if (i.verdict && !i.verdict->sentence.empty()) return i.verdict->sentence;
  return i.shared_by ? fmt::format("{} of {} jobs at once", i.symptom.rule, i.shared_by->job_count)
                     : i.symptom.rule;
}

Value ending_of(const Incident& i) {
  if (i.state != IncidentState::recovering && i.state != IncidentState::resolved) return {};
  if (!i.resolved_by.empty()) return "by_hand";
  if (i.ending == Ending::over && i.has_job_ended) return "job_ended";
  return kEndingNames[static_cast<size_t>(i.ending)];
}

std::string suspects_text(const std::vector<Suspect>& suspects) {
  std::string all;
  for (const Suspect& s : suspects) {
    std::string one = s.rank ? fmt::format("rank {}", *s.rank) : "";
    if (!s.host.empty()) one += (one.empty() ? "" : " on ") + s.host;
    if (s.gpu) one += fmt::format("{}GPU {}", one.empty() ? "" : " ", *s.gpu);
    all += (all.empty() || one.empty() ? "" : ", ") + one;
  }
  return all;
}

}  // namespace

std::span<const Field> incidents_columns() { return kColumns; }

Table incidents_table(std::span<const Incident> incidents) {
  Table table("incidents", kColumns);
  for (const Incident& i : incidents) {
    const Verdict* verdict = i.verdict ? &*i.verdict : nullptr;
    const std::string suspects = verdict ? suspects_text(verdict->suspects) : std::string();
    const std::string id = i.id();
    table.append({id, or_null(i.job.id), i.family, state_name(i.state), ending_of(i), urgency_name(i.urgency),
                  i.opened, i.updated, verdict ? or_null(verdict->cause) : Value(), or_null(suspects),
                  verdict ? Value(confidence_name(verdict->confidence)) : Value(), or_null(sentence_of(i))});
  }
  return table;
}

}  // namespace spotter::wire
