#include "respond/alerts/alerts.h"

#include <algorithm>
#include <utility>

#include "base/text/utf8.h"

namespace spotter::respond {
namespace {

constexpr std::string_view kDevice = "alert ";  // what a condition is of has what it is kept by

Urgency urgency_of(std::string_view severity) {
  if (severity == "critical" || severity == "page" || severity == "fatal") return Urgency::critical;
  return severity == "info" || severity == "none" ? Urgency::info : Urgency::warning;
}

// Our own come back by any receiver that gets all alerts.
bool is_ours(const Alert& alert) {
  return !alert.label("incident").empty() || alert.label("alertname").starts_with("Spotter");
}

Condition condition_of(const AlertFrame& frame, const Alert& alert, const std::string& key,
                       const AlertTarget& target, const std::string& host, Ns at) {
  Condition condition;
  condition.rule = condition.family = kAlert;
  condition.urgency = urgency_of(alert.label("severity"));
  condition.job = target.job;
  condition.user = target.user;
  condition.host = host;
  condition.rank = target.rank;
  condition.device = std::string(kDevice) + key;
  condition.no_capture = alert.label("spotter_action") == "diagnose";
  condition.since = std::min(alert.starts, at);
  condition.at = at;
  condition.source = fmt::format("{}:{}", frame.sender, alert.label("alertname"));
  condition.text = alert.summary;
  return condition;
}

}  // namespace

Result<std::vector<AlertAnswer>> Alerts::take(const AlertFrame& frame, const Caller& caller,
                                              std::span<const Resident> residents, Ns at,
                                              std::vector<Condition>& conditions) {
  // What is over is always taken: it makes room.
  if (kept_.size() >= options_.most && std::ranges::all_of(frame.alerts, &Alert::is_firing) && !make_room())
    return fail(Code::busy, "{} alerts fire already, and there is no room for more", kept_.size());
  std::vector<AlertAnswer> answers;
  for (const Alert& alert : frame.alerts)
    answers.push_back(take(frame, alert, caller, residents, at, conditions));
  return answers;
}

AlertAnswer Alerts::take(const AlertFrame& frame, const Alert& alert, const Caller& caller,
                         std::span<const Resident> residents, Ns at, std::vector<Condition>& conditions) {
  AlertAnswer answer{.name = std::string(alert.label("alertname"))};
  const auto say = [&](AlertOutcome outcome, std::string why = {}) {
    answer.outcome = outcome;
    answer.why = std::move(why);
    return answer;
  };
  if (is_ours(alert)) return say(AlertOutcome::linked, "it is Spotter's own, and begins nothing");
  const std::string key = caller.is_limited ? caller.name + " " + alert.fingerprint : alert.fingerprint;
  auto known = kept_.find(key);
  // An alert may outlive its job (a host that is hot): it is about whoever is there now.
  if (known != kept_.end() && known->second.was_job_here &&
      std::ranges::find(residents, known->second.condition.job, &Resident::job) == residents.end()) {
    end_with_job(known->second, at, conditions);
    kept_.erase(known);
    known = kept_.end();
  }
  if (known != kept_.end()) {
    Kept& kept = known->second;
    answer.job = kept.condition.job;
    if (const auto may = caller.may(answer.job); !may)
      return say(AlertOutcome::not_taken, may.error().message);
    if (!alert.is_firing && alert.starts >= kept.starts && kept.condition.is_firing) {
      kept.condition.is_firing = false;
      kept.condition.at = kept.heard = at;
      conditions.push_back(kept.condition);
      return say(AlertOutcome::over);
    }
    if (!alert.is_firing) return say(AlertOutcome::left_alone, "it did not fire here");
    if (alert.starts < kept.starts) return say(AlertOutcome::left_alone, "it began anew since");
    if (alert.starts == kept.starts) {
      if (!kept.condition.is_firing) return say(AlertOutcome::left_alone, "it is over already");
      kept.heard = at;
      return say(AlertOutcome::goes_on);
    }
  }
  if (!alert.is_firing) return say(AlertOutcome::left_alone, "it did not fire here");
  const std::string_view action = alert.label("spotter_action");
  if (action == "none") return say(AlertOutcome::left_alone, "it says spotter_action none");
  if (!action.empty() && action != "trace" && action != "diagnose")
    return say(AlertOutcome::not_taken, "spotter_action is one of trace, diagnose and none");
  const auto target = target_of(alert, residents, options_.host);
  if (!target) return say(AlertOutcome::not_taken, target.error().message);
  answer.job = target->job;
  if (const auto may = caller.may(answer.job); !may) return say(AlertOutcome::not_taken, may.error().message);
  if (known == kept_.end() && kept_.size() >= options_.most && !make_room())
    return say(AlertOutcome::not_now, "too many alerts fire already");
  if (!has_room_for(caller.name, at)) {
    // Of a job that has an alert already this one says little; another job would be looked at hours later.
    const bool is_known = std::ranges::any_of(kept_, [&](const auto& kept) {
      return kept.second.condition.is_firing && kept.second.condition.job == answer.job;
    });
    return say(is_known ? AlertOutcome::not_taken : AlertOutcome::not_now,
               fmt::format("{} have begun in this minute already for {}", options_.most_a_minute,
                           to_printable(caller.name)));
  }
  Kept& kept = kept_[key];
  // The one before may have been about another job.
  if (kept.condition.is_firing && !kept.condition.rule.empty()) {
    kept.condition.is_firing = false;
    conditions.push_back(kept.condition);
  }
  kept = {.starts = alert.starts,
          .heard = at,
          .condition = condition_of(frame, alert, key, *target, options_.host, at)};
  conditions.push_back(kept.condition);
  return say(AlertOutcome::begins);
}

bool Alerts::has_room_for(const std::string& caller, Ns at) {
  std::erase_if(minutes_,
                [&](const auto& m) { return at - m.second.began >= kMinute || at < m.second.began; });
  Minute& minute = minutes_.try_emplace(caller, Minute{.began = at}).first->second;
  if (minute.count >= options_.most_a_minute) return false;
  ++minute.count;
  return true;
}

// The one that is over the longest goes.
bool Alerts::make_room() {
  auto oldest = kept_.end();
  for (auto it = kept_.begin(); it != kept_.end(); ++it) {
    if (it->second.condition.is_firing) continue;
    if (oldest == kept_.end() || it->second.heard < oldest->second.heard) oldest = it;
  }
  if (oldest == kept_.end()) return false;
  kept_.erase(oldest);
  return true;
}

void Alerts::end_with_job(Kept& kept, Ns at, std::vector<Condition>& conditions) {
  if (!kept.condition.is_firing) return;
  kept.condition.is_firing = false;
  kept.condition.has_job_ended = true;
  kept.condition.at = at;
  conditions.push_back(kept.condition);
}

std::vector<Condition> Alerts::pass(Ns at, const std::function<bool(const std::string&)>& is_here) {
  std::vector<Condition> conditions;
  for (auto it = kept_.begin(); it != kept_.end();) {
    Kept& kept = it->second;
    const bool is_job_here = is_here(kept.condition.job);
    if (kept.was_job_here && !is_job_here) {
      end_with_job(kept, at, conditions);
      it = kept_.erase(it);
      continue;
    }
    kept.was_job_here = is_job_here;
    const bool is_forgotten = at - kept.heard > options_.forget;
    if (kept.condition.is_firing && (is_forgotten || at - kept.condition.at >= options_.refresh)) {
      kept.condition.at = at;
      kept.condition.is_firing = !is_forgotten;
      conditions.push_back(kept.condition);
    }
    it = is_forgotten ? kept_.erase(it) : std::next(it);
  }
  return conditions;
}

void Alerts::adopt(const Condition& condition, Ns at) {
  if (condition.rule != kAlert || condition.host != options_.host || !condition.is_firing) return;
  if (!condition.device.starts_with(kDevice) || kept_.size() >= options_.most) return;
  kept_[condition.device.substr(kDevice.size())] = {
      .starts = condition.since, .heard = at, .condition = condition};
}

void Alerts::resolve(const std::string& job) {
  for (auto& [fingerprint, kept] : kept_) {
    if (kept.condition.job == job) kept.condition.is_firing = false;
  }
}

void Alerts::resolve(u64 condition) {
  for (auto& [fingerprint, kept] : kept_) {
    if (respond::fingerprint(kept.condition) == condition) kept.condition.is_firing = false;
  }
}

}  // namespace spotter::respond
