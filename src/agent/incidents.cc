#include "agent/incidents.h"

#include <algorithm>
#include <utility>

#include "agent/incident_words.h"
#include "agent/poll_time.h"
#include "analyze/range_text.h"
#include "base/log.h"
#include "base/utf8.h"
#include "wire/incident.h"

namespace spotter::agent {
namespace {

constexpr i64 kMostQueued = 256;         // batches on their way to the loop's thread
constexpr Ns kCanaryRest = 5 * kSecond;  // of a canary, after its file is there
constexpr double kCanaryRatio = 1.5;     // of its steps to those before, at most
constexpr i64 kMostRanks = 64;           // of a job that is traced whole
constexpr i64 kMostRestored = 1000;      // incidents of before
constexpr Ns kCostKnown = 15 * kSecond;  // after a capture, what it has cost is measured

}  // namespace

// A capture for an incident that is under way.
struct Incidents::Running {
  std::string job;
  respond::CapturePlan plan;
  std::vector<i64> ranks;
  Ns began = 0, until = 0;  // Unix time: from its warm-up to the end of its window
  bool is_canary = false;
  std::unique_ptr<Investigation> investigation;
};

Incidents::Incidents(const Parts& parts, RespondOptions options)
    : parts_(parts),
      options_(std::move(options)),
      post_(parts.loop.poster()),
      rules_({.settings = options_.rules, .host = parts.host_name}),
      incidents_({.cluster = options_.cluster,
                  .host = parts.host_name,
                  .last_n = [this](const std::string& key) { return memory_ ? memory_->last_n(key) : 0; }}),
      budget_(options_.budget),
      tick_(parts.loop) {}

Incidents::~Incidents() = default;

// What was before this process. That it cannot be read is told, and is no reason to be silent about what
// comes.
void Incidents::begin(IncidentMemory& memory) {
  memory_ = &memory;
  const Ns now = parts_.host.unix_now();
  const auto known = memory.store().newest(kMostRestored);
  if (!known) log(Level::warning, "incidents of before: {}", known.error().message);
  std::vector<respond::Incident> restored;
  for (const store::StoredIncident& stored : known.value_or(std::vector<store::StoredIncident>())) {
    auto incident = wire::read_incident(stored.text);
    if (!incident)
      log(Level::warning, "incident {} cannot be read: {}", stored.id, incident.error().message);
    else if (incident->is_open() || now - incident->closed < kDay)
      restored.push_back(std::move(*incident));
  }
  std::ranges::sort(restored, {}, &respond::Incident::opened);
  if (!restored.empty()) budget_.begin_empty();
  for (respond::Incident& incident : restored) incidents_.restore(std::move(incident), now);
  const auto silences = memory.store().silences(now);
  for (const store::Silence& s : silences.value_or(std::vector<store::Silence>()))
    incidents_.restore(silence_of(s));
  pass();
}

void Incidents::offer(const SharedBatch& batch) {
  if (++queued_ > kMostQueued) {
    --queued_;
    ++dropped_;
    return;
  }
  post_([this, batch, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    --queued_;
    ++taken_;
    take(*batch);
  });
}

std::optional<SinkState> Incidents::state() const {
  return SinkState{
      .name = "rules", .queued = queued_, .delivered = taken_, .dropped = dropped_, .rejected = left_out_};
}

void Incidents::take(const Batch& batch) {
  for (const Table& table : batch.tables) paces_.see({.table = table, .at = batch.unix_ns});
  take(rules_.add(batch), batch.unix_ns);
}

void Incidents::pass() {
  const Ns now = parts_.host.unix_now();
  take(rules_.pass(now), now);
  // What lasts is said again, so that who leads knows that it does.
  for (const respond::Condition& firing : rules_.firing()) {
    if (now - firing.at < respond::Rules::kRefresh) continue;
    respond::Condition again = firing;
    again.at = now;
    apply(incidents_.take(again, now));
  }
  apply(incidents_.pass(now));
  left_out_ = rules_.left_out() + incidents_.left_out();
  budget_.pass(now);
  std::erase_if(by_people_, [&](const auto& capture) { return now - capture.second > kHour; });
  tick_.set(kSecond, [this] { pass(); });
}

void Incidents::take(const std::vector<respond::Condition>& conditions, Ns now) {
  for (const respond::Condition& condition : conditions) apply(incidents_.take(condition, now));
}

void Incidents::apply(const Result<respond::Incidents::Changes>& changes) {
  if (changes) apply(*changes);
}

void Incidents::apply(const respond::Incidents::Changes& changes) {
  const Ns now = parts_.host.unix_now();
  for (const respond::IncidentChange& change : changes) {
    remember(change, now);
    if (change.from != change.incident.state)
      parts_.audit.done(Access::own("rules"),
                        fmt::format("incident {}: {}, {}", change.incident.id(),
                                    respond::state_name(change.incident.state), change.why));
    if (change.wants_capture) investigate(change.incident);
  }
}

// What gathers only may be nothing yet; after a restart its conditions are said again.
void Incidents::remember(const respond::IncidentChange& change, Ns now) {
  if (!memory_ || change.incident.state == respond::IncidentState::pending) return;
  std::vector<store::Transition> transitions = {{.at = now,
                                                 .from = respond::state_name(change.from),
                                                 .to = respond::state_name(change.incident.state),
                                                 .why = change.why}};
  memory_->put(change.incident, std::move(transitions), occasion_of(change.word), now);
}

void Incidents::captured(const capture::Capture& capture) {
  if (capture.job.empty()) return;
  const Ns now = parts_.host.unix_now();
  const Ns began = capture.accepted.unix_ms * kMillisecond;
  rules_.captured(capture.job, {.from = began, .until = capture.over() ? now : now + kMinute});
  const bool is_own =
      std::ranges::any_of(running_, [&](const auto& running) { return running.second->job == capture.job; });
  if (!is_own) by_people_[capture.job] = now;
}

// Whether the job's people want to be left alone; empty: they do not say so.
std::string Incidents::why_not_asked(const std::string& job) const {
  for (const auto& [pid, process] : parts_.registry.all()) {
    if (process.identity.job != job) continue;
    const auto word = process.facts.environment.find("SPOTTER_RESPOND");
    if (word != process.facts.environment.end() && word->second == "off")
      return "nothing was traced: the job says SPOTTER_RESPOND=off";
  }
  const auto pace = paces_.of(job);
  if (pace && std::ranges::find(options_.not_traced, pace->user) != options_.not_traced.end())
    return "nothing was traced: the configuration leaves this user's jobs alone";
  return {};
}

Result<respond::CapturePlan> Incidents::plan(const respond::Incident& incident) {
  const std::string& job = incident.job.id;
  if (options_.captures == AutomaticCaptures::off)
    return fail(Code::busy, "nothing was traced: automatic captures are off (respond: captures)");
  if (std::string why = why_not_asked(job); !why.empty()) return fail(Code::denied, "{}", why);
  const auto pace = paces_.of(job);
  if (!pace || pace->step == 0)
    return fail(Code::busy, "nothing was traced: no step of the job was seen here");
  const Ns now = parts_.host.unix_now();
  const auto person = by_people_.find(job);
  return budget_.plan({.job = job,
                       .family = incident.family,
                       .is_critical = incident.urgency == respond::Urgency::critical,
                       .at = now,
                       .age = pace->first == 0 ? 0 : now - pace->first,
                       .steps = pace->steps,
                       .step = pace->step,
                       .last_person = person == by_people_.end() ? 0 : person->second,
                       .last_checkpoint = pace->last_writing});
}

void Incidents::investigate(const respond::Incident& incident) {
  const std::string id = incident.id();
  const auto planned = plan(incident);
  if (!planned) return refuse(id, planned.error().message);
  if (options_.captures == AutomaticCaptures::dry_run) {
    budget_.ended(incident.job.id, parts_.host.unix_now(), {}, {}, {});
    return refuse(
        id,
        fmt::format("nothing was traced (dry run): the job would have been traced for {:.1f} s, "
                    "which costs it {:.1f} s",
                    static_cast<double>(planned->window) / static_cast<double>(kSecond), planned->cost_s));
  }
  std::vector<i64> ranks;
  if (const auto pace = paces_.of(incident.job.id)) ranks.assign(pace->ranks.begin(), pace->ranks.end());
  if (std::ssize(ranks) > kMostRanks) ranks.resize(kMostRanks);
  begin_capture(id, incident.job.id, *planned, std::move(ranks));
}

void Incidents::refuse(const std::string& id, std::string why) {
  apply(incidents_.conclude(
      id, {.against = rules_.ruled_out(parts_.host.unix_now()), .not_known = {std::move(why)}},
      parts_.host.unix_now()));
}

void Incidents::begin_capture(const std::string& id, const std::string& job, respond::CapturePlan plan,
                              std::vector<i64> ranks) {
  const Ns now = parts_.host.unix_now();
  auto running = std::make_unique<Running>();
  running->job = job;
  running->plan = plan;
  running->ranks = ranks;
  running->is_canary = plan.is_canary && ranks.size() > 1;
  const Ns start = now + poll_time(parts_.registry, running->job) + plan.warm_up + kSecond;
  running->began = start - plan.warm_up;
  running->until = start + plan.window;
  InvestigationOrder order{.program = options_.program,
                           .socket = options_.socket,
                           .job = running->job,
                           .ranks = running->is_canary ? std::vector<i64>{ranks.front()} : ranks,
                           .plan = plan,
                           .start_unix_ms = start / kMillisecond};
  rules_.captured(running->job, {.from = now, .until = running->until});
  const respond::CaptureOfIncident capture{.ranks =
                                               analyze::range_text({order.ranks.begin(), order.ranks.end()})};
  auto begun = Investigation::start(parts_.loop, order, [this, id](Result<Investigated> investigated) {
    const auto it = running_.find(id);
    if (it == running_.end()) return;
    const std::unique_ptr<Running> done = std::move(it->second);
    running_.erase(it);
    take(id, *done, std::move(investigated));
  });
  if (!begun) {
    budget_.ended(running->job, now, 0, {}, {});
    return refuse(id, "nothing was traced: " + begun.error().message);
  }
  running->investigation = std::move(*begun);
  running_[id] = std::move(running);
  apply(incidents_.investigate(id, capture, now));
}

void Incidents::take(const std::string& id, const Running& running, Result<Investigated> investigated) {
  const Ns now = parts_.host.unix_now();
  if (!investigated) {
    budget_.ended(running.job, now, {}, {}, {});
    return refuse(id, "the capture failed: " + to_printable(investigated.error().message));
  }
  if (running.is_canary && !capture::folder_of(investigated->receipts).empty()) {
    auto& timer = later_[id];
    timer = std::make_unique<net::Timer>(parts_.loop);
    Running canary{.job = running.job,
                   .plan = running.plan,
                   .ranks = running.ranks,
                   .began = running.began,
                   .until = running.until,
                   .is_canary = true,
                   .investigation = {}};
    const auto pace = paces_.of(running.job);
    const Ns rest = std::max(kCanaryRest, pace ? 2 * pace->step + 2 * kSecond : 0);
    timer->set(rest, [this, id, kept = std::make_shared<Running>(std::move(canary))] { go_on(id, *kept); });
    return;
  }
  const auto pace = paces_.of(running.job);
  const i64 ranks = pace ? pace->world_size : 0;
  respond::Conclusion conclusion =
      investigated->findings ? respond::conclusion_of(*investigated->findings, investigated->receipts, ranks)
                             : respond::without_findings(investigated->receipts);
  conclusion.against = rules_.ruled_out(now);
  apply(incidents_.amend(
      id,
      [&](respond::Incident& incident) {
        incident.job.world_size = ranks;
        if (!incident.captures.empty())
          incident.captures.back().path = capture::folder_of(investigated->receipts);
      },
      now));
  apply(incidents_.conclude(id, std::move(conclusion), now));
  auto& timer = later_[id];
  timer = std::make_unique<net::Timer>(parts_.loop);
  timer->set(kCostKnown, [this, id, job = running.job, from = running.began, until = running.until] {
    settle_cost(job, from, until, id);
  });
}

// What a capture has cost is told by the steps since the job became slow: those before were faster anyhow.
Ns Incidents::slow_since(const std::string& id) const {
  const auto incident = incidents_.find(id);
  return incident ? incident->symptom.since : 0;
}

// After a canary: the others, if it goes on as before.
void Incidents::go_on(const std::string& id, const Running& canary) {
  const respond::CaptureCost cost = paces_.cost(canary.job, slow_since(id), canary.began, canary.until);
  if (!cost.aftermath_ratio) {
    budget_.ended(canary.job, parts_.host.unix_now(), {}, {}, {});
    return refuse(id, "one rank alone was traced: how the job went on after it is not known");
  }
  if (*cost.aftermath_ratio >= kCanaryRatio) {
    budget_.harmed(canary.job, "the job did not go on as before after one rank was traced");
    return refuse(id, "one rank alone was traced: the job did not go on as before");
  }
  const auto incident = incidents_.find(id);
  std::string why = why_not_asked(canary.job);
  if (!incident || !incident->is_open()) why = "nothing more was traced: it was over";
  if (!why.empty()) {
    budget_.ended(canary.job, parts_.host.unix_now(), cost.cost_s, {}, {});
    return refuse(id, std::move(why));
  }
  respond::CapturePlan rest = canary.plan;
  rest.is_canary = false;
  rest.warm_up = options_.budget.warm_up;
  begin_capture(id, canary.job, rest, canary.ranks);
}

void Incidents::settle_cost(const std::string& job, Ns from, Ns until, const std::string& id) {
  const Ns now = parts_.host.unix_now();
  const respond::CaptureCost cost = paces_.cost(job, slow_since(id), from, until);
  const auto overhead = cost.overhead_ratio ? std::optional(*cost.overhead_ratio - 1) : std::nullopt;
  budget_.ended(job, now, cost.cost_s, overhead, cost.aftermath_ratio);
  apply(incidents_.amend(
      id,
      [&](respond::Incident& incident) {
        if (incident.captures.empty()) return;
        incident.captures.back().overhead_ratio = cost.overhead_ratio;
        incident.captures.back().aftermath_ratio = cost.aftermath_ratio;
        incident.captures.back().cost_s = cost.cost_s;
      },
      now));
  post_([this, id, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) later_.erase(id);  // not before it has returned
  });
}

Result<respond::Incident> Incidents::find(const std::string& id) const {
  auto incident = incidents_.find(id);
  if (!incident) return fail(Code::not_found, "there is no incident {}", to_printable(id));
  return *std::move(incident);
}

Result<void> Incidents::may_change(const Peer& peer, const std::string& job) const {
  if (!peer.only_uid) return {};
  // A launcher's id may be made up: who calls his process by another's job has not all of it.
  i64 own = 0, others = 0;
  for (const auto& [pid, process] : parts_.registry.all()) {
    if (process.identity.job != job) continue;
    ++(process.facts.uid == *peer.only_uid ? own : others);
  }
  if (!job.empty() && own > 0 && others == 0) return {};
  return fail(Code::denied, "the processes of that job here are not all of {}", to_printable(peer.name));
}

Result<respond::Incident> Incidents::acknowledge(const Peer& peer, const std::string& id) {
  TRY_ASSIGN(const respond::Incident incident, find(id));
  TRY(may_change(peer, incident.job.id));
  TRY_ASSIGN(const auto changes,
             incidents_.acknowledge(id, {.by = peer.name, .where = peer.from, .at = parts_.host.unix_now()}));
  apply(changes);
  return find(id);
}

Result<respond::Incident> Incidents::resolve(const Peer& peer, const std::string& id) {
  const Ns now = parts_.host.unix_now();
  TRY_ASSIGN(const respond::Incident incident, find(id));
  TRY(may_change(peer, incident.job.id));
  TRY_ASSIGN(const auto changes, incidents_.resolve(id, peer.name, now));
  apply(changes);
  // What nothing else ends is mended, says he who resolves it.
  for (const respond::Condition& condition : rules_.firing()) {
    if (condition.family == incident.family && condition.job == incident.job.id)
      rules_.resolve(respond::fingerprint(condition), now);
  }
  return find(id);
}

Result<void> Incidents::silence(const Peer& peer, respond::Silence silence) {
  TRY(may_change(peer, silence.job));
  silence.by = peer.name;
  TRY_ASSIGN(const auto changes, incidents_.silence(silence, parts_.host.unix_now()));
  if (memory_) {
    TRY(memory_->store().silence(kept_of(silence, parts_.host.unix_now())));
  }
  apply(changes);
  return {};
}

std::vector<respond::Silence> Incidents::silences() const {
  return incidents_.silences(parts_.host.unix_now());
}

}  // namespace spotter::agent
