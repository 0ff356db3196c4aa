// get_incident: one, whole.
#include <algorithm>

#include "diagnose/diagnose.h"
#include "mcp/ask.h"
#include "mcp/cells.h"
#include "mcp/list.h"
#include "mcp/record.h"
#include "render/render.h"
#include "respond/rules_table.h"
#include "table/ops.h"
#include "wire/incident.h"
#include "wire/json.h"
#include "wire/target.h"

namespace spotter::mcp {
namespace {

constexpr size_t kMostRecord = 11'000;  // bytes: the rest of an answer has its own

constexpr ToolParam kParams[] = {
    {.name = "id", .help = "the incident, as list_incidents names it", .required = true},
};

// What other agents and alerts call a rule or a cause is their word.
bool is_rule(const std::string& name) {
  const Table rules = respond::rules_table({});
  for (size_t row = 0; row < rules.rows(); ++row)
    if (table::text_or_empty(rules, row, "rule") == name) return true;
  return false;
}

bool is_cause(const std::string& name) {
  return is_rule(name) ||
         std::ranges::any_of(diagnose::rule_meanings(), [&](const auto& rule) { return rule.first == name; });
}

std::string sentence_of(const respond::Incident& incident) {
  std::string said = fmt::format("The incident is {}, of severity {}", respond::state_name(incident.state),
                                 respond::urgency_name(incident.urgency));
  if (is_rule(incident.symptom.rule)) said += fmt::format("; it began by the rule {}", incident.symptom.rule);
  if (incident.shared_by)
    said += fmt::format("; {} jobs of one host share it", incident.shared_by->job_count);
  said += " [s1].";
  if (!incident.verdict) return said + " No cause is known.";
  const respond::Verdict& verdict = *incident.verdict;
  said += fmt::format(" The cause is {}", is_cause(verdict.cause) ? verdict.cause : "in the record");
  std::string ranks;
  for (const respond::Suspect& suspect : verdict.suspects)
    if (suspect.rank) ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", *suspect.rank);
  if (!ranks.empty()) said += fmt::format(" of rank {}", ranks);
  if (verdict.at_stake_s_per_step)
    said += fmt::format(", worth {} of a step",
                        render::human_ns(static_cast<Ns>(*verdict.at_stake_s_per_step * 1e9)));
  return said + fmt::format(" (confidence {}).", respond::confidence_name(verdict.confidence));
}

// The capture that it had, which may be asked for more.
std::optional<Capture> capture_of_incident(const Call& call, const respond::Incident& incident) {
  if (incident.job.id.empty()) return std::nullopt;
  const auto capture = capture_of(call.world, "", incident.job.id, call.patience);
  return capture && !incident.captures.empty() ? std::optional(*capture) : std::nullopt;
}

Result<Answer> get_incident(const Call& call) {
  const std::string id = call.arguments.text("id");
  if (!is_id(id)) return fail(Code::invalid, "id: it is none of an incident; list_incidents has them");
  const auto body =
      ask_first(call.world, {"GET", "/v1/incidents/" + wire::escaped_parameter(id), {}, {}}, call.patience);
  if (!body && body.error().code == Code::not_found)
    return fail(Code::not_found, "id: there is no such incident; list_incidents has those that there are");
  if (!body) return tl::unexpected(body.error());
  TRY_ASSIGN(const respond::Incident incident, wire::read_incident(*body));
  Answer answer{.sentence = sentence_of(incident),
                .as_of = incident.updated,
                .record = record_of(wire::to_json(incident), kMostRecord)};
  answer.sources.push_back({"the incident as its agent has it", "incidents",
                            agents_command(call.world, "incidents " + command_word(id))});
  if (const auto capture = capture_of_incident(call, incident))
    answer.next.push_back({"why_slow", {{"capture", capture->id}}});
  if (is_id(incident.job.id))
    answer.next.push_back(
        {"query_metrics", {{"metric", json_list({"step_ns"})}, {"job", incident.job.id}, {"since", "1h"}}});
  else
    answer.next.push_back(
        {"query_metrics", {{"metric", json_list({"cpu_*", "pressure_*"})}, {"since", "1h"}}});
  if (is_rule(incident.symptom.rule)) answer.next.push_back({"describe", {{"name", incident.symptom.rule}}});
  return answer;
}

}  // namespace

constexpr Tool kGetIncident = {
    .name = "get_incident",
    .title = "One incident",
    .description =
        "The record of an incident: symptom, cause with confidence, suspects, evidence with commands, what speaks against "
        "it, what is not known, what changed before, captures. Lists are cut at 10. Next: why_slow on its capture, "
        "query_metrics of its job.",
    .params = kParams,
    .call = get_incident,
    .has_record = true,
    .has_rows = false,
};

}  // namespace spotter::mcp
