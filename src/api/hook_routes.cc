#include "api/hook_routes.h"

#include <algorithm>
#include <map>

#include "agent/jobs/residents.h"
#include "wire/alert_frame.h"

namespace spotter::api {
namespace {

using respond::AlertAnswer;
using respond::AlertOutcome;

constexpr int kAccepted = 202, kAgain = 503;
constexpr size_t kMostShown = 3;  // of one kind, in the audit

constexpr Field kColumns[] = {
    {"alert", Type::text, Unit::none, Role::key, "Its name."},
    {"outcome", Type::text, Unit::none, Role::value,
     "begins, goes_on, over: a condition of the job; linked, left_alone, not_taken: nothing is done; not_now: nothing "
     "yet, it is to be sent again."},
    {"job", Type::text, Unit::none, Role::value, "The job that it is about."},
    whole({"why", Type::text, Unit::none, Role::detail, "Why that became of it."}),
};

Table table_of(const std::vector<AlertAnswer>& answers) {
  Table table("alerts", kColumns);
  for (const AlertAnswer& a : answers)
    table.append({or_null(std::string_view(a.name)),
                  std::string_view(respond::kAlertOutcomeNames[static_cast<size_t>(a.outcome)]),
                  or_null(std::string_view(a.job)), or_null(std::string_view(a.why))});
  return table;
}

// What was changed, and what was not taken: of very many the first, and how many there were.
void write(agent::Agent& agent, const agent::Peer& peer, const std::vector<AlertAnswer>& answers) {
  std::map<AlertOutcome, size_t> counts;
  for (const AlertAnswer& a : answers) {
    const bool is_done = a.outcome == AlertOutcome::begins || a.outcome == AlertOutcome::over;
    if (!is_done && a.outcome != AlertOutcome::not_taken && a.outcome != AlertOutcome::not_now) continue;
    if (++counts[a.outcome] > kMostShown) continue;
    if (is_done)
      agent.audit.done(peer, fmt::format("says that alert {} of job {} {}", a.name, a.job,
                                         a.outcome == AlertOutcome::over ? "is over" : "fires"));
    else
      agent.audit.refused(peer, fmt::format("says that alert {} fires", a.name), {Code::not_found, a.why});
  }
  for (const auto& [outcome, count] : counts) {
    if (count > kMostShown)
      agent.audit.done(peer, fmt::format("and {} more alerts of the same time: {}", count - kMostShown,
                                         respond::kAlertOutcomeNames[static_cast<size_t>(outcome)]));
  }
}

Result<std::vector<AlertAnswer>> take(const RouteCall& call) {
  TRY_ASSIGN(const respond::AlertFrame frame, wire::read_alert_frame(call.http.body));
  const auto latest = call.agent.telemetry.latest();
  return call.agent.incidents.take(call.peer, frame, agent::residents(call.agent.registry, latest));
}

}  // namespace

void alertmanager_route(const RouteCall& call, const net::HttpServer::Respond& respond) {
  const auto answers = told(call.agent, call.peer, call.http, take(call));
  if (!answers) {
    net::HttpAnswer refusal = http_error(answers.error());
    if (answers.error().code == Code::busy) refusal.status = kAgain;
    return respond(std::move(refusal));
  }
  write(call.agent, call.peer, *answers);
  const Table table = table_of(*answers);
  net::HttpAnswer answer = answer_of({std::span(&table, 1), {}}, form_of(call.http));
  const bool is_for_later =
      std::ranges::find(*answers, AlertOutcome::not_now, &AlertAnswer::outcome) != answers->end();
  answer.status = is_for_later ? kAgain : kAccepted;
  respond(std::move(answer));
}

}  // namespace spotter::api
