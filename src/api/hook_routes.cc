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

struct Taken {
  std::vector<AlertAnswer> answers;
  i64 left_out = 0;  // by who sent them
};

// What was changed, and what was not taken: of very many the first, and how many there were.
void write(agent::Agent& agent, const agent::Peer& peer, const Taken& taken) {
  const auto is_news = [](const AlertAnswer& a) {
    return a.outcome == AlertOutcome::begins || a.outcome == AlertOutcome::over;
  };
  if (taken.left_out > 0 && std::ranges::any_of(taken.answers, is_news))
    agent.audit.done(
        peer, fmt::format("{} in one frame, without {} more (max_alerts)",
                          taken.answers.size() == 1 ? "sends an alert"
                                                    : fmt::format("sends {} alerts", taken.answers.size()),
                          taken.left_out));
  std::map<AlertOutcome, size_t> counts;
  for (const AlertAnswer& a : taken.answers) {
    const bool is_done = is_news(a);
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

Result<Taken> take(const RouteCall& call) {
  TRY_ASSIGN(const respond::AlertFrame frame, wire::read_alert_frame(call.http.body));
  const auto latest = call.agent.telemetry.latest();
  TRY_ASSIGN(std::vector<AlertAnswer> answers,
             call.agent.incidents.take(call.peer, frame, agent::residents(call.agent.registry, latest)));
  return Taken{std::move(answers), frame.truncated};
}

}  // namespace

void alertmanager_route(const RouteCall& call, const net::HttpServer::Respond& respond) {
  const auto taken = told(call.agent, call.peer, call.http, take(call));
  if (!taken) {
    net::HttpAnswer refusal = http_error(taken.error());
    if (taken.error().code == Code::busy) refusal.status = kAgain;
    return respond(std::move(refusal));
  }
  write(call.agent, call.peer, *taken);
  const Table table = table_of(taken->answers);
  Notes notes;
  if (taken->left_out > 0)
    notes.add("alerts_left_out", Severity::loss,
              "alerts were left out of the frame by who sent it: raise its max_alerts", -1, taken->left_out);
  net::HttpAnswer answer = answer_of({std::span(&table, 1), notes}, form_of(call.http));
  const bool is_for_later =
      std::ranges::find(taken->answers, AlertOutcome::not_now, &AlertAnswer::outcome) != taken->answers.end();
  answer.status = is_for_later ? kAgain : kAccepted;
  respond(std::move(answer));
}

}  // namespace spotter::api
