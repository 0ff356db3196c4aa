#include "respond/incidents/incidents.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/fnv.h"
#include "base/text/utf8.h"
#include "respond/capture_wish.h"
#include "respond/incidents/symptoms.h"

namespace spotter::respond {
namespace {

constexpr Ns kRemembered = kDay;         // resolved ones
constexpr size_t kDescribedAtOnce = 16;  // conditions
// After a restart: until the first samples tell of the job's steps and processes.
constexpr Ns kSeenAgain = 10 * kSecond;

// Of one who stands in: who should lead may count the same incident from 0, and what is told of it under one
// number is one message to who receives it.
i64 first_sequence(const std::string& host) {
  constexpr i64 kPlaces = 1000, kEach = 1000;
  return (1 + static_cast<i64>(fnv1a(host) % kPlaces)) * kEach;
}

const char* why_it_ends(const Incident& incident) {
  if (incident.ending == Ending::over && incident.has_job_ended) return "the job ended or began anew";
  constexpr const char* kWhy[] = {"all conditions are over", "it stays so, which is normal now",
                                  "nobody says any more that it goes on"};
  return kWhy[static_cast<size_t>(incident.ending)];
}

}  // namespace

void Incidents::restore(Incident incident, Ns at) {
  i64& n = numbers_[incident.key()];
  n = std::max(n, incident.n);
  Kept& kept = incidents_.emplace_back();
  kept.grace = at + options_.grace;
  kept.began = incident.state == IncidentState::resolved ? incident.closed : incident.updated;
  kept.asked = incident.fired;
  const bool waits =
      incident.state == IncidentState::firing || incident.state == IncidentState::investigating;
  if (waits && at - incident.fired < options_.patience) kept.ask_again = at + kSeenAgain;
  // By a silence that was another host's, or of a host whose condition it does not show. What several jobs
  // share is heard again when a job that nobody has silenced joins.
  if (!incident.shared_by) kept.silenced = incident.silenced_until.value_or(0);
  if (incident.is_open() && incident.state != IncidentState::recovering) {
    for (Condition condition : incident.conditions) {
      condition.is_shared = incident.shared_by.has_value();
      if (condition.is_firing && kept.firing.emplace(fingerprint(condition), condition).second) ++conditions_;
    }
  }
  kept.incident = std::move(incident);
}

Incidents::Changes Incidents::take(const Condition& condition, Ns at, bool stands_in) {
  Changes changes;
  if (condition.is_firing && is_mended(condition)) return changes;
  Kept* kept = kept_for(condition, at);
  if (!condition.is_firing) {
    if (kept && kept->firing.erase(fingerprint(condition)) > 0) {
      --conditions_;
      Ending& ending = kept->incident.ending;
      if (condition.is_new_normal)
        ending = Ending::new_normal;
      else if (condition.is_unheard)
        ending = Ending::not_known;
      else if (ending == Ending::not_known)
        ending = Ending::over;  // who is left knows
      // The last to end decides: of a job that loses a host and goes on the others may be mended.
      if (condition.has_job_ended || kept->firing.empty())
        kept->incident.has_job_ended = condition.has_job_ended;
    }
    return changes;
  }
  const bool is_new = !kept;
  if (is_new) kept = begin(condition, at, stands_in);
  if (!kept) return changes;
  Incident& incident = kept->incident;
  const bool rose = add(*kept, condition) && !is_new;
  if (rose) kept->silenced = 0;  // that was of something less
  const bool has_joined = incident.shared_incident.empty() && !condition.shared_incident.empty();
  if (has_joined) incident.shared_incident = condition.shared_incident;
  if (incident.state == IncidentState::resolved || incident.state == IncidentState::recovering) {
    const bool was_resolved = incident.state == IncidentState::resolved;
    const auto led = learnt_.find(incident.key());
    const bool is_led = incident.led_by != options_.host && led != learnt_.end() && led->second.led.is_open &&
                        at - led->second.at < kMinute;
    if (incident.led_by != options_.host) take_over(*kept);
    const IncidentState before = std::exchange(incident.before, IncidentState::pending);
    const IncidentState to = before == IncidentState::pending ? IncidentState::inconclusive : before;
    incident.closed = 0;
    if (was_resolved) {
      incident.acknowledged.reset();  // that was of what is over
      incident.fired_again = at;
    }
    move(*kept, to, "it fires again", !is_led && (was_resolved || rose) ? Word::changed : Word::none, at,
         changes);
  } else if (rose && incident.state != IncidentState::pending) {
    if (incident.urgency == Urgency::critical) incident.part_of.clear();  // no longer only said with that one
    const bool is_settled =
        incident.state == IncidentState::verdict || incident.state == IncidentState::inconclusive;
    const Word first = is_settled ? Word::verdict : Word::opened;
    move(*kept, incident.state, "it is more urgent", incident.told == 0 ? first : Word::changed, at, changes);
  } else if (is_new) {
    move(*kept, IncidentState::pending, "a condition fires", Word::none, at, changes);
  } else if (has_joined) {
    move(*kept, incident.state, "other jobs share it", Word::none, at, changes);
  }
  return changes;
}

// Of its key: the one that is open, or was not long ago.
Incidents::Kept* Incidents::kept_for(const Condition& condition, Ns at) {
  const std::string key = incident_key(options_.cluster, condition);
  for (auto it = incidents_.rbegin(); it != incidents_.rend(); ++it) {
    if (it->incident.key() != key) continue;
    const auto other = learnt_.find(key);
    if (other != learnt_.end() && other->second.led.n > it->incident.n) return nullptr;
    const bool is_led = other != learnt_.end() && other->second.led.is_open &&
                        other->second.led.n == it->incident.n && at - other->second.at <= options_.reopen;
    if (it->incident.is_open() || is_led || at - it->incident.closed <= options_.reopen) return &*it;
    return nullptr;
  }
  return nullptr;
}

Incidents::Kept* Incidents::begin(const Condition& condition, Ns at, bool stands_in) {
  forget(at);
  const bool is_critical = condition.urgency == Urgency::critical;
  if (incidents_.size() >= options_.most + (is_critical ? options_.more_critical : 0)) {
    ++left_out_;
    return nullptr;
  }
  Kept& kept = incidents_.emplace_back();
  kept.began = at;
  Incident& incident = kept.incident;
  incident = begun_by(options_.cluster, condition);
  incident.led_by = options_.host;
  incident.urgency = condition.urgency;
  incident.opened = at;
  const std::string key = incident.key();
  i64& n = numbers_[key];
  for (const std::string& counted : {key, incident.namesake_key()}) {
    if (const auto number = numbers_.find(counted); number != numbers_.end()) n = std::max(n, number->second);
    if (options_.last_n) n = std::max(n, options_.last_n(counted));
  }
  const auto learnt = learnt_.find(key);
  const bool is_led =
      learnt != learnt_.end() && learnt->second.led.n > n &&
      at - (learnt->second.led.is_open ? learnt->second.at : learnt->second.closed) <= options_.reopen;
  if (is_led) {
    // Another host led it and does not answer: it is the same one.
    n = learnt->second.led.n;
    go_on_with(kept, learnt->second);
  } else {
    if (learnt != learnt_.end()) n = std::max(n, learnt->second.led.n);
    ++n;
    if (stands_in) incident.sequence = first_sequence(options_.host);
  }
  incident.n = n;
  return &kept;
}

bool Incidents::add(Kept& kept, const Condition& condition) {
  const u64 key = fingerprint(condition);
  if (!kept.firing.contains(key)) {
    if (conditions_ >= options_.most_conditions) {
      ++left_out_;
      return false;
    }
    ++conditions_;
    if (kept.firing.empty()) {
      kept.incident.ending = Ending::over;
      kept.incident.has_job_ended = false;
      kept.incident.resolved_by.clear();
    }
  }
  kept.firing[key] = condition;
  const Urgency before = kept.incident.urgency;
  // Of many hosts that all tell at once it is enough once a second.
  if (kept.firing.size() <= kDescribedAtOnce) {
    describe(kept.incident, kept.firing);
  } else {
    kept.is_changed = true;
    kept.incident.urgency = std::max(before, condition.urgency);
  }
  return kept.incident.urgency > before;
}

// Those that were resolved long ago, and of too many the oldest resolved ones.
void Incidents::forget(Ns at) {
  size_t most = options_.most - std::min<size_t>(options_.most, 1);
  std::erase_if(incidents_, [&](const Kept& kept) {
    return !kept.incident.is_open() && at - kept.incident.closed > kRemembered;
  });
  for (auto it = incidents_.begin(); it != incidents_.end() && incidents_.size() > most;) {
    it = it->incident.is_open() ? std::next(it) : incidents_.erase(it);
  }
}

// Where the clock was set back nothing waits until it is again what it was.
void Incidents::set_back(Ns at) {
  for (Kept& kept : incidents_) {
    for (Ns* time : {&kept.began, &kept.asked, &kept.ask_again}) *time = std::min(*time, at);
    kept.grace = std::min(kept.grace, at + options_.grace);
    for (Ns* time : {&kept.incident.fired, &kept.incident.told, &kept.incident.closed})
      *time = std::min(*time, at);
    for (auto& [key, condition] : kept.firing) condition.at = std::min(condition.at, at);
  }
  for (auto& [key, learnt] : learnt_) {
    learnt.at = std::min(learnt.at, at);
    learnt.closed = std::min(learnt.closed, at);
  }
  for (auto& [key, mended] : mended_) mended = std::min(mended, at);
}

Incidents::Changes Incidents::pass(Ns at) {
  Changes changes;
  if (at < last_pass_ - kMinute) set_back(at);
  last_pass_ = at;
  for (Kept& kept : incidents_) {
    if (kept.incident.is_open()) pass(kept, at, changes);
  }
  end_orphans(at, changes);
  // What was nothing has no number.
  std::erase_if(incidents_, [&](const Kept& kept) {
    const bool is_gone = kept.incident.state == IncidentState::pending && kept.firing.empty();
    if (is_gone) take_back(kept.incident);
    return is_gone;
  });
  silences_.pass(at);
  return changes;
}

void Incidents::take_back(const Incident& incident) {
  const auto number = numbers_.find(incident.key());
  if (number != numbers_.end() && --number->second <= 0) numbers_.erase(number);
}

void Incidents::pass(Kept& kept, Ns at, Changes& changes) {
  Incident& incident = kept.incident;
  if (std::exchange(kept.is_changed, false)) describe(incident, kept.firing);
  if (at >= kept.grace) {
    const size_t forgotten = std::erase_if(kept.firing, [&](const auto& c) {
      return at - c.second.at > options_.forget && !is_by_hand(c.second);
    });
    conditions_ -= forgotten;
    if (forgotten > 0) incident.ending = Ending::not_known;
  }
  const bool is_quiet = kept.firing.empty() && at >= kept.grace;
  switch (incident.state) {
    case IncidentState::pending:
      if (is_quiet) {
        changes.push_back({.incident = incident, .why = "it was over at once", .is_gone = true});
      } else if (at - kept.began >= options_.gather) {
        fire(kept, at, changes);
      }
      break;
    case IncidentState::firing:
    case IncidentState::investigating:
      if (kept.ask_again != 0) {
        if (at < kept.ask_again) break;
        kept.ask_again = 0;
        kept.asked = at;
        move(kept, IncidentState::firing, "the agent was restarted meanwhile", Word::none, at, changes);
        changes.back().wants_evidence = true;
        break;
      }
      if (at - std::min(kept.asked, incident.fired + options_.patience) >= options_.patience)
        settle(kept, {.not_known = {kNoAnswer}}, "no verdict in time", at, changes);
      break;
    case IncidentState::verdict:
    case IncidentState::inconclusive:
      if (is_quiet) {
        incident.before = incident.state;
        move(kept, IncidentState::recovering, why_it_ends(incident), Word::none, at, changes);
      } else if (has_late_cause(kept, at)) {
        settle(kept, {}, "something else is wrong as well", at, changes);
      } else if (incident.told == 0) {
        if (!incident.part_of.empty() && std::ranges::none_of(incidents_, [&](const Kept& other) {
              return other.incident.is_open() && other.incident.id() == incident.part_of;
            }))
          incident.part_of.clear();
        if (said(kept, Word::verdict, at) != Word::none)
          move(kept, incident.state, "it is silenced no more", Word::verdict, at, changes);
      } else if (at - incident.told >= options_.repeat && !incident.acknowledged &&
                 incident.part_of.empty() && !silenced(kept, at)) {
        incident.repeated = at;
        move(kept, incident.state, "it goes on", Word::changed, at, changes);
      }
      break;
    case IncidentState::recovering:
      if (at - kept.began < options_.calm || at < kept.grace) break;
      incident.closed = at;
      move(kept, IncidentState::resolved, "it was calm", incident.told != 0 ? Word::resolved : Word::none, at,
           changes);
      break;
    case IncidentState::resolved:
      break;
  }
}

// Of a symptom without a cause: rules that wait for longer may name one after it was told.
bool Incidents::has_late_cause(const Kept& kept, Ns at) const {
  const Incident& incident = kept.incident;
  const bool may_have = (incident.shared_by || is_symptom_family(incident.family)) && !incident.verdict;
  return may_have && at - incident.fired <= options_.together && verdict_of(related(kept, at));
}

void Incidents::fire(Kept& kept, Ns at, Changes& changes) {
  Incident& incident = kept.incident;
  incident.fired = kept.asked = at;
  if (options_.look_back) options_.look_back(incident);
  // What may be the cause of a larger incident is told with that one.
  if (!is_symptom_family(incident.family) && incident.urgency != Urgency::critical) {
    for (const Kept& other : incidents_) {
      const bool is_larger = is_symptom_family(other.incident.family) && other.incident.is_open() &&
                             !incident.job.id.empty() && other.incident.job.id == incident.job.id;
      if (is_larger && at - other.incident.opened <= options_.together)
        incident.part_of = other.incident.id();
    }
  }
  const bool hangs = incident.family == "progress" && !incident.job.id.empty();
  std::string why =
      hangs ? "" : why_not_traced(incident, kept.firing, is_open_in("progress", incident.job.id));
  if (!why.empty())
    return settle(kept, {.not_known = {std::move(why)}}, "there is nothing to trace", at, changes);
  // What is found out of a job that hangs is there within seconds: it is told with that.
  move(kept, IncidentState::firing, "conditions hold",
       incident.urgency == Urgency::critical && !hangs ? Word::opened : Word::none, at, changes);
  changes.back().wants_evidence = true;
}

bool Incidents::is_open_in(const std::string& family, const std::string& job) const {
  return std::ranges::any_of(incidents_, [&](const Kept& kept) {
    return kept.incident.is_open() && kept.incident.family == family && kept.incident.job.id == job;
  });
}

std::optional<Ns> Incidents::silenced(const Kept& kept, Ns at) const {
  const std::optional<Ns> until = silences_.until(kept.incident, kept.firing, at);
  return kept.silenced > at ? std::max(kept.silenced, until.value_or(0)) : until;
}

// Whether it is told: not what is silenced, or a part of a larger one.
Word Incidents::said(Kept& kept, Word word, Ns at) const {
  Incident& incident = kept.incident;
  incident.silenced_until = silenced(kept, at);
  if (word == Word::resolved) return word;  // of what was told: whoever waits for its end is not left with it
  if (word == Word::none || incident.silenced_until || !incident.part_of.empty()) return Word::none;
  return word;
}

void Incidents::move(Kept& kept, IncidentState to, std::string why, Word word, Ns at, Changes& changes) {
  Incident& incident = kept.incident;
  const IncidentState from = std::exchange(incident.state, to);
  if (from != to) kept.began = at;
  const bool is_over = to == IncidentState::recovering || to == IncidentState::resolved;
  incident.over = !is_over ? 0 : incident.over == 0 ? at : incident.over;
  incident.updated = at;
  word = said(kept, word, at);
  if (word != Word::none && word != Word::renewed) {
    incident.told = at;
    ++incident.sequence;
  }
  changes.push_back({.incident = incident, .from = from, .why = std::move(why), .word = word});
}

Result<Incidents::Kept*> Incidents::named(const std::string& id) {
  for (Kept& kept : incidents_) {
    if (kept.incident.id() == id) return &kept;
  }
  return fail(Code::not_found, "there is no incident {}", to_printable(id));
}

}  // namespace spotter::respond
