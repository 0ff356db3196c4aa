#include "respond/rules.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/fnv.h"
#include "base/text/quantity.h"
#include "base/text/suggestion.h"
#include "base/text/utf8.h"
#include "respond/incidents/ruled_out.h"

namespace spotter::respond {

struct Rules::At {
  const Rule* rule;
  std::unique_ptr<Watch> watch;
  Ns hold, recover;
  Settings settings;
  Ns last_sign = 0;
};

struct Rules::Watched {
  const At* rule = nullptr;
  Condition condition = {};
  std::string_view table = {};  // by which it was wrong last
  bool is_firing = false;
  bool was_job_here = false;
  Ns wrong_since = 0;  // without a good sign between; 0: the last sign was a good one
  Ns last_wrong = 0, last_sign = 0, said = 0;
  std::deque<Ns> beginnings = {};  // of the last flap_window
};

namespace {

constexpr Ns kForGood = std::numeric_limits<Ns>::max();
constexpr Ns kSilence = kMinute;  // nobody tells of it any more

// Two users may call their jobs by one name.
u64 key_of(const Condition& condition) {
  return fingerprint(condition) ^ (condition.user.empty() ? 0 : fnv1a(condition.user));
}

// What is of the whole host is the same, whichever job it is of for the time being.
u64 key_of(Sign& sign) {
  if (!sign.is_of_host) return key_of(sign.condition);
  std::string job = std::exchange(sign.condition.job, {}), user = std::exchange(sign.condition.user, {});
  const u64 key = key_of(sign.condition);
  sign.condition.job = std::move(job);
  sign.condition.user = std::move(user);
  return key;
}

// Such a table comes when there is something to tell; others come as long as their collector looks.
bool has_events(std::string_view table) { return table.ends_with("_event"); }

}  // namespace

Result<void> check(const RuleSettings& settings) {
  for (const auto& [name, said] : settings) {
    const Rule* rule = find_rule(name);
    if (!rule) {
      std::vector<std::string> known;
      for (const Rule* each : all_rules()) known.emplace_back(each->name);
      return fail(Code::invalid, "there is no rule \"{}\"{}", to_printable(name), did_you_mean(name, known));
    }
    TRY(check(*rule, said));
  }
  return {};
}

Rules::Rules(RulesOptions options) : options_(std::move(options)) {
  for (const Rule* rule : all_rules()) {
    const auto said = options_.settings.find(rule->name);
    const Settings settings =
        whole_settings(*rule, said == options_.settings.end() ? Settings() : said->second);
    if (settings.at("enabled") == "false") continue;
    const std::string& recover = settings.at("recover");
    rules_.push_back({.rule = rule,
                      .watch = rule->make(settings),
                      .hold = duration_of(settings, "for"),
                      .recover = recover == kByHand ? kForGood : duration_of(settings, "recover"),
                      .settings = settings});
  }
  for (At& rule : rules_)
    for (const char* table : rule.rule->tables) by_table_[table].push_back(&rule);
}

Rules::~Rules() = default;

std::set<std::string_view> Rules::tables() const {
  std::set<std::string_view> names = {"job"};  // of HostFacts
  for (const At& rule : rules_) names.insert(rule.rule->tables.begin(), rule.rule->tables.end());
  return names;
}

std::vector<Condition> Rules::add(const Batch& batch) {
  std::vector<Condition> changes;
  // A collector that hung hands on what it saw before others did: that is no clock that was set back.
  Ns& last = last_at_[batch.by];
  if (batch.unix_ns < last - kMinute) {
    begin_anew(batch.unix_ns, changes);
    for (auto& [by, at] : last_at_) at = std::min(at, batch.unix_ns);
  }
  last = batch.unix_ns;
  for (const Table& table : batch.tables) facts_.see({.table = table, .at = batch.unix_ns});
  for (const Table& table : batch.tables) {
    const auto looked_at = by_table_.find(table.name());
    if (looked_at == by_table_.end()) continue;
    Ns& seen = tables_seen_[looked_at->first];
    seen = std::max(seen, batch.unix_ns);
    for (At* rule : looked_at->second) {
      signs_.clear();
      rule->watch->see({.table = table, .at = batch.unix_ns}, facts_, signs_);
      if (!signs_.empty()) rule->last_sign = batch.unix_ns;
      for (Sign& sign : signs_) {
        if (sign.is_wrong || !watched_.empty())
          take(*rule, looked_at->first, std::move(sign), batch.unix_ns, changes);
      }
    }
  }
  std::vector<Condition> over = pass(batch.unix_ns);
  changes.insert(changes.end(), std::make_move_iterator(over.begin()), std::make_move_iterator(over.end()));
  return changes;
}

void Rules::begin_anew(Ns at, std::vector<Condition>& changes) {
  for (At& rule : rules_) {
    rule.watch = rule.rule->make(rule.settings);
    rule.last_sign = 0;
  }
  tables_seen_.clear();
  // What was measured before is forgotten, so that no good sign would mean that anything was mended.
  const auto stays = [](const Watched& watched) {
    return watched.is_firing && watched.rule->recover == kForGood;
  };
  for (auto& [key, watched] : watched_) {
    watched.last_wrong = watched.last_sign = watched.said = at;
    if (!watched.is_firing || stays(watched)) continue;
    watched.condition.is_unheard = true;
    end(watched, at, changes);
  }
  std::erase_if(watched_, [&](const auto& entry) { return !stays(entry.second); });
}

void Rules::take(const At& rule, std::string_view table, Sign sign, Ns at, std::vector<Condition>& changes) {
  Condition& condition = sign.condition;
  condition.rule = rule.rule->name;
  condition.family = rule.rule->family;
  if (condition.host.empty()) condition.host = options_.host;
  condition.urgency = sign.urgency.value_or(rule.rule->urgency);
  const u64 key = key_of(sign);
  auto it = watched_.find(key);
  if (it == watched_.end()) {
    if (!sign.is_wrong) return;
    if (watched_.size() >= options_.most) {
      ++left_out_;
      return;
    }
    it = watched_.emplace(key, Watched()).first;
    it->second.rule = &rule;
  }
  Watched& watched = it->second;
  if (sign.is_of_host && watched.is_firing && watched.condition.job != condition.job) {
    const bool is_anothers = sign.is_wrong && !condition.job.empty() && !watched.condition.job.empty() &&
                             !facts_.has(watched.condition.job);
    if (is_anothers) {
      watched.condition.has_job_ended = true;
      end(watched, at, changes);
    } else {
      condition.job = watched.condition.job;
      condition.user = watched.condition.user;
    }
  }
  if (at - std::exchange(watched.last_sign, at) > kSilence) watched.wrong_since = 0;
  if (!sign.is_wrong) {
    watched.wrong_since = 0;
    watched.condition.is_new_normal = condition.is_new_normal;
    watched.condition.has_job_ended = condition.has_job_ended;
    return;
  }
  if (watched.wrong_since == 0) watched.wrong_since = at;
  watched.last_wrong = at;
  watched.table = table;
  watched.was_job_here = facts_.has(condition.job);
  const Ns began = watched.is_firing ? watched.condition.since : 0;
  condition.at = at;
  condition.since = began != 0 ? began : condition.since != 0 ? condition.since : watched.wrong_since;
  condition.is_flapping = watched.condition.is_flapping;
  watched.condition = std::move(condition);
  const bool begins = !watched.is_firing && at - watched.wrong_since >= rule.hold;
  if (begins) {
    watched.is_firing = true;
    watched.beginnings.push_back(at);
    while (at - watched.beginnings.front() > options_.flap_window) watched.beginnings.pop_front();
    watched.condition.is_flapping = std::ssize(watched.beginnings) >= options_.flaps;
  }
  if (!watched.is_firing || (!begins && at - watched.said < kRefresh)) return;
  watched.said = at;
  changes.push_back(watched.condition);
}

// A good sign ends it, or none at all for long.
bool Rules::is_over(const Watched& watched, Ns calm, Ns at) {
  const Ns recover = watched.rule->recover;
  if (recover == kForGood) return false;
  const Ns silence = std::max(recover, kSilence);
  const bool is_quiet = watched.wrong_since == 0 || at - watched.last_wrong >= silence;
  return is_quiet &&
         at - watched.last_wrong >= (watched.condition.is_flapping ? std::max(recover, calm) : recover);
}

void Rules::end(Watched& watched, Ns at, std::vector<Condition>& changes) {
  watched.is_firing = false;
  watched.wrong_since = 0;
  watched.condition.is_firing = watched.condition.is_flapping = false;
  watched.condition.at = at;
  changes.push_back(watched.condition);
}

std::vector<Condition> Rules::pass(Ns at) {
  std::vector<Condition> changes;
  for (auto& [key, watched] : watched_) {
    if (!watched.is_firing || !is_over(watched, options_.calm, at)) continue;
    Condition& condition = watched.condition;
    if (watched.was_job_here && !facts_.has(condition.job)) condition.has_job_ended = true;
    const auto seen = tables_seen_.find(watched.table);
    const bool is_heard =
        has_events(watched.table) || (seen != tables_seen_.end() && at - seen->second < kSilence);
    condition.is_unheard = watched.wrong_since != 0 && !is_heard;
    end(watched, at, changes);
  }
  // Those that are over are remembered for as long as they may flap.
  std::erase_if(watched_, [&](const auto& entry) {
    return !entry.second.is_firing && at - entry.second.last_wrong > options_.flap_window;
  });
  return changes;
}

std::vector<Condition> Rules::resolve(u64 fingerprint, Ns at) {
  std::vector<Condition> over;
  std::erase_if(watched_, [&](const auto& entry) {
    const auto& [key, watched] = entry;
    if (!watched.is_firing || respond::fingerprint(watched.condition) != fingerprint) return false;
    Watched ended = watched;
    end(ended, at, over);
    return true;
  });
  return over;
}

std::vector<Condition> Rules::again(Ns at) {
  std::vector<Condition> all;
  for (auto& [key, watched] : watched_) {
    if (!watched.is_firing || at - watched.said < kRefresh) continue;
    watched.said = at;
    all.push_back(watched.condition);
    all.back().at = at;
  }
  return all;
}

std::vector<Condition> Rules::firing() const {
  std::vector<Condition> all;
  for (const auto& [key, watched] : watched_) {
    if (watched.is_firing) all.push_back(watched.condition);
  }
  return all;
}

std::vector<std::string> Rules::ruled_out(Ns at) const {
  std::set<std::string> looked, firing;
  for (const At& rule : rules_) {
    if (rule.last_sign != 0 && at - rule.last_sign <= kMinute) looked.insert(rule.rule->name);
  }
  for (const auto& [key, watched] : watched_) {
    if (watched.is_firing) firing.insert(watched.condition.rule);
  }
  return respond::ruled_out(looked, firing, options_.host);
}

}  // namespace spotter::respond
