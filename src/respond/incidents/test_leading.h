// Many hosts of one job and the network between them, made up, for tests: each has its incidents and its
// relay, and a disk that a restart leaves alone.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "respond/incidents/incidents.h"
#include "respond/incidents/relay.h"

namespace spotter::respond {

inline constexpr Ns kBegin = 1'795'000'000 * kSecond;

class World {
 public:
  struct Told {
    size_t host;
    IncidentChange change;
    Ns at;
  };
  struct Node {
    std::string name;
    std::unique_ptr<Incidents> incidents;
    Relay relay;
    bool is_up = true;
    Ns clock_ahead = 0;
    std::vector<Incident> stored;  // what its disk has
    std::optional<Condition> fires;
    Ns said = 0;
    i64 last_n = 0;  // of before
  };

  explicit World(size_t count, Ns told_again = 4 * kHour) : repeat(told_again) {
    for (size_t i = 0; i < count; ++i) {
      nodes.push_back(std::make_unique<Node>());
      nodes[i]->name = name_of(i);
      start(i);
    }
  }
  static std::string name_of(size_t i) { return fmt::format("gpu{:04}", i); }

  void start(size_t i) {
    Node& node = *nodes[i];
    node.incidents = std::make_unique<Incidents>(IncidentsOptions{
        .cluster = "a", .host = node.name, .repeat = repeat, .last_n = [&node](const std::string&) {
          return node.last_n;
        }});
    node.relay = {};
    node.is_up = true;
    for (const Incident& incident : node.stored) node.incidents->restore(incident, at + node.clock_ahead);
  }
  void kill(size_t i) {
    nodes[i]->is_up = false;
    std::erase_if(later, [&](const Later& each) { return each.host == i; });
  }

  Leaders leaders(size_t self) const {
    Leaders leaders;
    for (size_t i = 0; i < nodes.size() && i < 8; ++i) leaders.hosts.push_back(name_of(i));
    leaders.own = std::min(self, leaders.hosts.size());
    if (are_crossed) {
      leaders.hosts = {name_of(1 - self), name_of(self)};
      leaders.own = 1;
    }
    return leaders;
  }
  void slow(size_t i, bool is_slow) {
    Node& node = *nodes[i];
    const Ns now = at + node.clock_ahead;
    if (is_slow) {
      node.fires = Condition{.rule = "step_time_up",
                             .family = "speed",
                             .job = "4711",
                             .host = node.name,
                             .rank = static_cast<i64>(i),
                             .since = now,
                             .at = now,
                             .value = 4.42,
                             .baseline = 3.1,
                             .unit = "s"};
      say(i, *node.fires);
    } else if (node.fires) {
      Condition over = *node.fires;
      node.fires.reset();
      over.is_firing = false;
      over.at = now;
      say(i, over);
    }
  }
  void all_slow(bool is_slow) {
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i]->is_up) slow(i, is_slow);
  }
  bool can_reach(size_t from, size_t to) const {
    return nodes[to]->is_up && nodes[from]->is_up &&
           !(is_parted && (from < nodes.size() / 2) != (to < nodes.size() / 2));
  }

  // What the leader has of the job; nothing: no incident yet.
  std::optional<Incident> at_leader() const {
    const auto all = nodes[0]->incidents->all();
    return all.empty() ? std::nullopt : std::optional(all[0]);
  }
  // Whether the leader's incident has come so far, within a quarter of an hour.
  bool pass_until(IncidentState state) {
    for (const Ns end = at + 15 * kMinute; at < end;) {
      if (const auto incident = at_leader(); incident && incident->state == state) return true;
      pass(kSecond);
    }
    return false;
  }
  // What a person does on one host.
  void act(size_t i, const std::function<Result<Incidents::Changes>(Incidents&, Ns)>& what) {
    apply(i, what(*nodes[i]->incidents, at + nodes[i]->clock_ahead));
  }

  void pass(Ns time) {
    for (const Ns end = at + time; at < end;) {
      at += kSecond;
      for (size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i]->is_up) pass_one(i);
    }
  }

  std::vector<Word> words() const {
    std::vector<Word> words;
    for (const Told& each : told) words.push_back(each.change.word);
    return words;
  }
  size_t open() const {
    size_t count = 0;
    for (const auto& node : nodes) {
      if (!node->is_up) continue;
      for (const Incident& incident : node->incidents->all()) count += incident.is_open();
    }
    return count;
  }

  const Ns repeat;
  Ns at = kBegin;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Told> told, renewed;
  bool is_parted = false;
  Ns evidence_takes = 12 * kSecond;
  std::optional<size_t> finds = {};  // whose captures alone name a cause; nothing: everybody's
  bool captures = true;              // evidence is what captures say
  bool are_crossed = false;          // of two each takes the other for the leader
  Ns told_each = 30 * kSecond;       // what lasts
  size_t reports = 0;

 private:
  void say(size_t i, const Condition& condition) {
    Node& node = *nodes[i];
    node.said = at;
    if (leaders(i).is_own())
      apply(i, node.incidents->take(condition, at + node.clock_ahead));
    else
      node.relay.put(condition, leaders(i), at + node.clock_ahead);
    take_own(i);
  }
  void take_own(size_t i) {
    Node& node = *nodes[i];
    for (const Condition& own : node.relay.own())
      apply(i, node.incidents->take(own, at + node.clock_ahead, true));
  }
  void apply(size_t i, const Result<Incidents::Changes>& changes) {
    ASSERT_TRUE(changes);
    Node& node = *nodes[i];
    std::vector<std::string> wanted;
    for (const IncidentChange& change : *changes) {
      if (change.word == Word::renewed)
        renewed.push_back({i, change, at});
      else if (change.word != Word::none)
        told.push_back({i, change, at});
      std::erase_if(node.stored, [&](const Incident& s) { return s.id() == change.incident.id(); });
      if (change.incident.state != IncidentState::pending) node.stored.push_back(change.incident);
      if (!change.wants_evidence) continue;
      later.push_back({i, change.incident.id(), at + evidence_takes});
      if (captures) wanted.push_back(change.incident.id());
    }
    for (const std::string& id : wanted)
      apply(i, node.incidents->investigate(id, {.ranks = "0"}, at + node.clock_ahead));
  }
  void pass_one(size_t i) {
    Node& node = *nodes[i];
    const Ns now = at + node.clock_ahead;
    if (node.fires && at - node.said >= told_each) {
      node.fires->at = now;
      say(i, *node.fires);
    }
    std::map<std::string, Leaders> standing;
    for (const Incident& incident : node.incidents->all())
      if (!leaders(i).is_own() && incident.is_open()) standing.emplace(incident.job.id, leaders(i));
    node.relay.stand_in(standing, now);
    auto awaited = node.incidents->awaited(now);
    std::map<std::string, Leaders> watched;
    for (const auto& [job, led] : awaited)
      if (!leaders(i).is_own()) watched.emplace(job, leaders(i));
    node.relay.watch(watched, now);
    for (const auto& [job, led] : awaited)
      if (node.relay.leads(job)) node.incidents->inherit(job, led, now);
    for (const Relay::Errand& errand : node.relay.pass(now)) {
      const size_t to = std::stoul(errand.to.substr(3));
      if (!can_reach(i, to)) {
        node.relay.answered(errand, false, now);
        continue;
      }
      ++reports;
      Report report{
          .host = node.name, .sent = now, .job = {.id = errand.job}, .conditions = errand.conditions};
      if (errand.place == 0) report.incidents = node.incidents->to_hand_over(errand.job);
      if (errand.place != 0) report.awaited = awaited[errand.job];
      Node& leader = *nodes[to];
      apply(to, leader.incidents->receive(report, at + leader.clock_ahead, nullptr, !leaders(to).is_own()));
      const auto led = leader.incidents->led(errand.job, at + leader.clock_ahead);
      node.relay.answered(errand, true, now);
      node.incidents->learn(errand.job, led, now, errand.place == 0);
      if (errand.place == 0) apply(i, node.incidents->hand_over(report.incidents, led, leader.name, now));
    }
    take_own(i);
    for (auto it = later.begin(); it != later.end();) {
      if (it->host != i || it->at > at) {
        ++it;
        continue;
      }
      const Conclusion conclusion{.verdict = Verdict{.cause = "slow_device",
                                                     .confidence = Confidence::medium,
                                                     .suspects = {{.rank = 3}},
                                                     .sentence = "rank 3"}};
      const bool finds_it = !finds || *finds == i;
      if (node.incidents->find(it->id))
        apply(i, node.incidents->conclude(it->id, finds_it ? conclusion : Conclusion(), now));
      it = later.erase(it);
    }
    apply(i, node.incidents->pass(now));
  }
  struct Later {
    size_t host;
    std::string id;
    Ns at;
  };
  std::vector<Later> later;
};

}  // namespace spotter::respond
