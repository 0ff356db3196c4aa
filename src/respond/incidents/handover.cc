// Incidents that more than one host has led: how they become one again.
#include <algorithm>
#include <utility>

#include "respond/alerts/alert.h"
#include "respond/incidents/incidents.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr size_t kMostLearnt = 10'000, kMostCaptures = 16;
constexpr Ns kOrphanKept = kMinute;  // since somebody has said that it is one

bool is_family(const std::string& family) {
  return family == kAlert ||
         std::ranges::any_of(all_rules(), [&](const Rule* rule) { return family == rule->family; });
}

// "<cluster>/<job>/<family>": neither of the outer two has a slash.
std::string job_of(const std::string& key) {
  const size_t first = key.find('/'), last = key.rfind('/');
  return first < last && last != key.npos ? key.substr(first + 1, last - first - 1) : std::string();
}

std::string family_of(const std::string& key) { return key.substr(key.rfind('/') + 1); }

bool may_be_handed_over(const Incident& incident) {
  return incident.is_open() && incident.state != IncidentState::pending &&
         incident.state != IncidentState::firing && incident.state != IncidentState::investigating;
}

}  // namespace

void Incidents::learn(const std::string& job, const std::vector<LedIncident>& led, Ns at, bool is_all) {
  for (auto& [key, learnt] : learnt_) {
    if (!is_all || !learnt.led.is_open || job_of(key) != job) continue;
    learnt.led.is_open = false;
    learnt.closed = at;
  }
  for (const LedIncident& theirs : led) {
    if (job.empty() || job_of(theirs.key) != job) continue;
    if (learnt_.size() >= kMostLearnt && !learnt_.contains(theirs.key)) learnt_.erase(learnt_.begin());
    const Ns closed = theirs.is_open ? 0 : at;
    const auto [known, is_new] = learnt_.try_emplace(theirs.key, Learnt{theirs, at, closed});
    if (is_new) continue;
    const bool is_same = known->second.led.n == theirs.n && known->second.closed != 0 && closed != 0;
    known->second = {theirs, at, is_same ? known->second.closed : closed};
  }
}

std::vector<Incident> Incidents::to_hand_over(const std::string& job) const {
  std::vector<Incident> all;
  for (const Kept& kept : incidents_) {
    if (kept.incident.job.id == job && may_be_handed_over(kept.incident)) all.push_back(kept.incident);
  }
  return all;
}

// Those by key; of what another host ended or has now, it is that one's to say so.
std::vector<std::pair<const std::string, Incidents::Learnt>*> Incidents::all_awaited(Ns at) {
  std::map<std::string, i64> here;
  for (const Kept& kept : incidents_) {
    const Incident& incident = kept.incident;
    if (!incident.is_open() && incident.led_by != options_.host) continue;
    i64& n = here[incident.key()];
    n = std::max(n, incident.n);
  }
  std::vector<std::pair<const std::string, Learnt>*> all;
  for (auto& each : learnt_) {
    const auto& [key, learnt] = each;
    if (!learnt.led.is_open || at - learnt.at > options_.reopen) continue;
    if (const auto own = here.find(key); own != here.end() && own->second >= learnt.led.n) continue;
    all.push_back(&each);
  }
  return all;
}

std::map<std::string, std::vector<LedIncident>> Incidents::awaited(Ns at) {
  std::map<std::string, std::vector<LedIncident>> by_job;
  for (const auto* each : all_awaited(at)) by_job[job_of(each->first)].push_back(each->second.led);
  return by_job;
}

void Incidents::inherit(const std::string& job, const std::vector<LedIncident>& awaited, Ns at) {
  for (const LedIncident& theirs : awaited) {
    const std::string& key = theirs.key;
    if (theirs.told == 0 || !theirs.is_open) continue;  // nobody waits for its end
    if (job_of(key) != job || !is_family(family_of(key)) || !key.starts_with(options_.cluster + "/"))
      continue;
    const auto known = learnt_.find(key);
    if (known == learnt_.end() || known->second.led.n < theirs.n || known->second.led.told == 0)
      learn(job, {theirs}, at);
    Learnt& learnt = learnt_[key];
    if (learnt.led.n == theirs.n && theirs.state == IncidentState::recovering)
      learnt.led.state = theirs.state;
    if (at > learnt.orphan_until) learnt.orphan_since = at;
    learnt.orphan_until = at + kOrphanKept;
  }
}

// What recovered, or of which no host has said for long that it goes on: its leader's own host may be where
// it does. It recovers here, too: who led it may be back before it ends, or what was wrong may be.
void Incidents::end_orphans(Ns at, Changes& changes) {
  const auto is_due = [&](const Learnt& learnt) {
    const Ns wait = learnt.led.state == IncidentState::recovering ? kOrphanKept : options_.forget;
    return learnt.led.told != 0 && at <= learnt.orphan_until && at - learnt.orphan_since >= wait;
  };
  if (std::ranges::none_of(learnt_, [&](const auto& each) { return is_due(each.second); })) return;
  for (auto* each : all_awaited(at)) {
    auto& [key, learnt] = *each;
    if (!is_due(learnt)) continue;
    Kept* kept = nullptr;  // which was handed over from here
    for (Kept& one : incidents_) {
      if (one.incident.key() == key && one.incident.n == learnt.led.n) kept = &one;
    }
    const bool is_new = !kept;
    if (is_new) {
      forget(at);
      if (incidents_.size() >= options_.most) {
        ++left_out_;
        continue;
      }
      kept = &incidents_.emplace_back();
      kept->incident = begun_by(options_.cluster, {.family = family_of(key), .job = job_of(key)});
      kept->incident.n = learnt.led.n;
      kept->incident.urgency = learnt.led.urgency;
      kept->incident.opened = learnt.led.opened == 0 ? at : learnt.led.opened;
      kept->incident.before = IncidentState::inconclusive;
      kept->incident.not_known.push_back("what it was: the host that led it does not answer");
      i64& n = numbers_[key];
      n = std::max(n, learnt.led.n);
    }
    Incident& incident = kept->incident;
    incident.led_by = options_.host;
    incident.told = at;
    incident.closed = 0;
    incident.over = 0;
    // How one ends that recovered elsewhere its leader knew.
    if (is_new || learnt.led.state != IncidentState::recovering) incident.ending = Ending::not_known;
    incident.state = incident.before;
    go_on_with(*kept, learnt);
    if (options_.look_back) options_.look_back(incident);
    move(*kept, IncidentState::recovering, "who led it does not answer, and nobody says that it goes on",
         Word::none, at, changes);
  }
}

std::vector<LedIncident> Incidents::led(const std::string& job, Ns at) const {
  std::map<std::string, LedIncident> last;
  for (const Kept& kept : incidents_) {
    const Incident& incident = kept.incident;
    if (incident.job.id != job || incident.state == IncidentState::pending) continue;
    LedIncident& led = last[incident.key()];
    led = {.key = incident.key(),
           .n = incident.n,
           .sequence = incident.sequence,
           .is_open = incident.is_open(),
           .state = incident.state,
           .opened = incident.opened,
           .closed = incident.closed,
           .told = incident.told,
           .urgency = incident.urgency,
           .acknowledged = incident.acknowledged};
    if (const auto until = silenced(kept, at)) led.silenced = *until - at;
  }
  std::vector<LedIncident> all;
  for (auto& [key, led] : last) all.push_back(std::move(led));
  return all;
}

Incidents::Changes Incidents::adopt(Incident theirs, Ns at) {
  Changes changes;
  const std::string key = theirs.key();
  Kept* kept = nullptr;
  for (Kept& each : incidents_) {
    if (each.incident.key() == key && each.incident.is_open()) kept = &each;
  }
  if (!kept) {
    const bool was_ours = std::ranges::any_of(incidents_, [&](const Kept& each) {
      return each.incident.key() == key && each.incident.led_by == theirs.led_by &&
             theirs.led_by != options_.host && at - each.incident.closed < options_.reopen;
    });
    // It was handed over to whoever hands it over now: each takes the other for the leader.
    if (was_ours) return changes;
    // Its end was told here; one of an earlier day may have had the same number.
    const bool is_over = std::ranges::any_of(incidents_, [&](const Kept& each) {
      return each.incident.key() == key && each.incident.n >= theirs.n &&
             each.incident.closed >= theirs.opened;
    });
    if (is_over && theirs.state == IncidentState::recovering) return changes;
    forget(at);
    if (incidents_.size() >= options_.most) {
      ++left_out_;
      return changes;
    }
    i64& n = numbers_[key];
    if (options_.last_n) n = std::max(n, options_.last_n(key));
    // Where both have counted on by themselves its number is taken: who receives it is told that the other
    // one is over.
    const bool is_taken = std::ranges::any_of(incidents_, [&](const Kept& each) {
      return each.incident.key() == key && each.incident.n >= theirs.n;
    });
    if (is_taken || (theirs.n <= n && n > 0 && !learnt_.contains(key))) {
      theirs.n = n + 1;
      theirs.told = 0;
      theirs.report.reset();  // there it has another name
    }
    theirs.led_by = options_.host;
    theirs.told_elsewhere = theirs.told != 0;
    const IncidentState state = theirs.state;
    restore(std::move(theirs), at);
    Kept& adopted = incidents_.back();
    adopted.incident.sequence += kStep;
    move(adopted, state, "another host has led it",
         adopted.incident.told == 0 ? Word::verdict : Word::renewed, at, changes);
    return changes;
  }
  Incident& mine = kept->incident;
  mine.sequence = std::max(mine.sequence, theirs.sequence + kStep);
  mine.opened = std::min(mine.opened, theirs.opened);
  if (theirs.n == mine.n) {
    mine.told = std::max(mine.told, theirs.told);
    mine.told_elsewhere = mine.told_elsewhere || theirs.told != 0;
  }
  if (!mine.acknowledged) mine.acknowledged = theirs.acknowledged;
  kept->silenced = std::max(kept->silenced, theirs.silenced_until.value_or(0));
  if (mine.shared_incident.empty()) mine.shared_incident = theirs.shared_incident;
  for (CaptureOfIncident& capture : theirs.captures) {
    const bool is_known = std::ranges::any_of(
        mine.captures, [&](const CaptureOfIncident& own) { return own.path == capture.path; });
    if (!is_known && mine.captures.size() < kMostCaptures) mine.captures.push_back(std::move(capture));
  }
  if (!mine.report && theirs.n == mine.n) mine.report = theirs.report;
  const bool is_better =
      theirs.verdict && (!mine.verdict || theirs.verdict->confidence > mine.verdict->confidence);
  if (!is_better) {
    move(*kept, mine.state, "another host has led it, too", Word::none, at, changes);
    return changes;
  }
  Conclusion conclusion{.verdict = std::move(theirs.verdict),
                        .evidence = std::move(theirs.evidence),
                        .against = std::move(theirs.against),
                        .not_known = std::move(theirs.not_known)};
  settle(*kept, std::move(conclusion), "another host has led it, too", at, changes);
  return changes;
}

// Another host led it and does not answer any more. What is told of it here is not what has been told
// already.
void Incidents::go_on_with(Kept& kept, const Learnt& learnt) {
  const LedIncident& led = learnt.led;
  kept.incident.sequence = std::max(kept.incident.sequence, led.sequence + kStep);
  if (led.told != 0) kept.incident.told_elsewhere = true;
  if (!kept.incident.acknowledged) kept.incident.acknowledged = led.acknowledged;
  if (led.silenced)
    kept.silenced = std::max(kept.silenced, learnt.at + std::min(*led.silenced, Silences::kLongest));
}

// It was handed over.
void Incidents::take_over(Kept& kept) const {
  kept.incident.led_by = options_.host;
  const auto learnt = learnt_.find(kept.incident.key());
  if (learnt != learnt_.end()) go_on_with(kept, learnt->second);
}

Incidents::Changes Incidents::receive(const Report& report, Ns at, std::vector<u64>* mended, bool stands_in) {
  Changes changes;
  const auto keep = [&](Changes more) {
    changes.insert(changes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  // Clocks differ: what counts is how long ago it was.
  const auto here = [&](Ns there) {
    return there == 0 ? 0 : at - std::clamp<Ns>(report.sent - there, 0, at);
  };
  for (Incident incident : report.incidents) {
    incident.shared_by.reset();  // what jobs of a host share is that host's to tell
    if (incident.job.id != report.job.id || incident.cluster != options_.cluster) continue;
    if (!incident.is_open() || !is_family(incident.family)) continue;
    for (Condition& condition : incident.conditions) {
      condition.at = here(condition.at);
      condition.since = here(condition.since);
    }
    for (Ns* time : {&incident.opened, &incident.over, &incident.fired, &incident.told, &incident.updated})
      *time = here(*time);
    if (auto& until = incident.silenced_until)
      until = at + std::clamp<Ns>(*until - report.sent, 0, Silences::kLongest);
    keep(adopt(std::move(incident), at));
  }
  inherit(report.job.id, report.awaited, at);
  for (Condition condition : report.conditions) {
    if (condition.job != report.job.id) continue;
    condition.host = report.host;
    condition.at = here(condition.at);
    condition.since = here(condition.since);
    if (mended && condition.is_firing && is_mended(condition)) mended->push_back(fingerprint(condition));
    keep(take(condition, at, stands_in));
  }
  return changes;
}

Incidents::Changes Incidents::hand_over(const std::vector<Incident>& sent,
                                        const std::vector<LedIncident>& led, const std::string& host, Ns at) {
  Changes changes;
  for (const LedIncident& theirs : led) {
    for (Kept& kept : incidents_) {
      Incident& incident = kept.incident;
      if (!incident.is_open() || incident.key() != theirs.key) continue;
      const auto is_as_sent = [&](const Incident& one) {
        return one.id() == incident.id() && one.key() == incident.key() && one.updated == incident.updated;
      };
      if (std::ranges::none_of(sent, is_as_sent)) continue;
      // What they have no more is not there with them, unless they have told its end; what is being looked
      // into is told of first.
      const bool is_ended = !theirs.is_open && theirs.n >= incident.n && theirs.closed >= incident.opened &&
                            incident.state == IncidentState::recovering;
      if ((!theirs.is_open && !is_ended) || !may_be_handed_over(incident)) continue;
      conditions_ -= kept.firing.size();
      kept.firing.clear();
      if (incident.state != IncidentState::recovering) incident.before = incident.state;
      incident.closed = at;
      incident.led_by = host;
      const bool is_another = incident.n != theirs.n && incident.told != 0;
      move(kept, IncidentState::resolved, fmt::format("{} leads it", host),
           is_another ? Word::resolved : Word::none, at, changes);
    }
  }
  return changes;
}

}  // namespace spotter::respond
