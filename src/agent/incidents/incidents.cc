#include "agent/incidents/incidents.h"

#include <algorithm>
#include <utility>

#include "agent/incidents/incident_words.h"
#include "base/log.h"
#include "base/text/utf8.h"
#include "wire/incident.h"

namespace spotter::agent {
namespace {

constexpr size_t kMostQueued = 256;  // batches that wait for the next pass
// Between passes while no condition fires: to be woken costs as much as what is then done.
constexpr Ns kCalm = 2 * kSecond;
constexpr i64 kMostRestored = 1000;  // incidents of before

std::set<std::string_view> wanted(const respond::Rules& rules) {
  std::set<std::string_view> names = rules.tables();
  names.insert({"job", "step"});    // JobPaces
  names.insert("log_event");        // JobLines
  names.insert({"uptime", "gpu"});  // Changes
  return names;
}

}  // namespace

Incidents::Incidents(const Parts& parts, RespondOptions options)
    : parts_(parts),
      options_(std::move(options)),
      post_(parts.loop.poster()),
      rules_({.settings = options_.rules, .host = parts.host_name}),
      wanted_(wanted(rules_)),
      changes_({parts.host, parts.host_name, parts.registry, paces_,
                [this](std::function<void()> look, std::function<void()> done) {
                  return aside_.run([look = std::move(look), done = std::move(done), post = post_,
                                     alive = std::weak_ptr(alive_)] {
                    look();
                    post([done, alive] {
                      if (!alive.expired()) done();
                    });
                  });
                }}),
      incidents_({.cluster = options_.cluster,
                  .host = parts.host_name,
                  .last_n = [this](const std::string& key) { return memory_ ? memory_->last_n(key) : 0; },
                  .look_back = [this](respond::Incident& incident) { look_back(incident); }}),
      alerts_({.host = parts.host_name}),
      leading_({parts.loop, parts.host, parts.host_name, *parts.identities, options_, paces_, incidents_,
                [this](const respond::Incidents::Changes& changes) { apply(changes); },
                [this](u64 condition) {
                  alerts_.resolve(condition);
                  take(rules_.resolve(condition, parts_.host.unix_now()), parts_.host.unix_now());
                },
                [this](const respond::Condition& condition) { hangs_.fires(condition); }}),
      shared_([this](const std::string& family, const std::vector<std::string>& jobs) {
        return leading_.speaks_for(family, jobs);
      }),
      captures_({parts.loop, parts.host, parts.host_name, parts.access, parts.registry, *parts.identities,
                 options_, rules_, paces_, leading_, incidents_, reports_,
                 [this](const Result<respond::Incidents::Changes>& changes) { apply(changes); },
                 [this](std::vector<respond::Change> changes) { changes_.learn(std::move(changes)); }}),
      hangs_({parts.loop, parts.host, parts.host_name, parts.registry, parts.identities, parts.analyses,
              rules_, paces_, incidents_, [this](const Batch& batch) { take(batch); },
              [this](const Result<respond::Incidents::Changes>& changes) { apply(changes); }, leading_}),
      waits_({parts.loop, parts.host, parts.host_name, parts.identities,
              [this](const respond::Condition& condition) {
                // It may be over meanwhile.
                const auto is_it = [&](const respond::Condition& each) {
                  return respond::fingerprint(each) == respond::fingerprint(condition);
                };
                if (std::ranges::any_of(rules_.firing(), is_it)) tell(condition, parts_.host.unix_now());
              }}),
      tick_(parts.loop) {}

Incidents::~Incidents() = default;

// What was before this process. That it cannot be read is told, and is no reason to be silent about what
// comes.
Result<void> Incidents::begin(IncidentMemory& memory) {
  TRY(leading_.begin());
  memory_ = &memory;
  changes_.begin(memory.store());
  if (const std::string path = memory.state().path; !path.empty())
    reports_ = std::make_shared<ReportFolder>(ReportFolder::beside(path));
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
  if (!restored.empty()) captures_.begin_empty();
  for (const respond::Incident& incident : restored) {
    for (const respond::Condition& condition : incident.conditions) {
      if (incident.is_open()) alerts_.adopt(condition, now);
    }
    shared_.restore(incident, now);
  }
  for (respond::Incident& incident : restored) incidents_.restore(std::move(incident), now);
  const auto silences = memory.store().silences(now);
  for (const store::Silence& s : silences.value_or(std::vector<store::Silence>()))
    incidents_.restore(silence_of(s));
  pass();
  return {};
}

void Incidents::offer(const SharedBatch& batch) {
  // Most of what is measured is nobody's here.
  const bool is_wanted = std::ranges::any_of(
      batch->tables, [this](const Table& table) { return wanted_.contains(table.name()); });
  if (!is_wanted) return;
  const std::lock_guard lock(mutex_);
  if (queue_.size() < kMostQueued)
    queue_.push_back(batch);
  else
    ++dropped_;
}

std::optional<SinkState> Incidents::state() const {
  const std::lock_guard lock(mutex_);
  return SinkState{.name = "rules",
                   .queued = std::ssize(queue_),
                   .delivered = taken_,
                   .dropped = dropped_,
                   .rejected = left_out_};
}

std::vector<IncidentCount> Incidents::open_counts() const {
  const std::lock_guard lock(mutex_);
  return open_counts_;
}

std::vector<CaptureCount> Incidents::automatic_captures() const {
  const std::lock_guard lock(mutex_);
  return automatic_captures_;
}

void Incidents::take(const Batch& batch) {
  for (const Table& table : batch.tables) {
    paces_.see({.table = table, .at = batch.unix_ns});
    lines_.see({.table = table, .at = batch.unix_ns});
  }
  changes_.see(batch);
  take(rules_.add(batch), batch.unix_ns);
}

// To wake the loop for each batch costs more than its rules do, and none of them is about less than some
// seconds.
void Incidents::take_batches() {
  std::vector<SharedBatch> batches;
  {
    const std::lock_guard lock(mutex_);
    batches.swap(queue_);
    taken_ += std::ssize(batches);
  }
  for (const SharedBatch& batch : batches) take(*batch);
}

void Incidents::pass() {
  take_batches();
  const Ns now = parts_.host.unix_now();
  take(rules_.pass(now), now);
  take(alerts_.pass(now, [this](const std::string& job) { return rules_.has_job(job); }), now);
  changes_.pass(now, [this](const std::string& job) { return incidents_.is_open(job); });
  for (const respond::Condition& again : rules_.again(now)) say(again, now);
  shared_.pass(now);
  leading_.pass(now);
  apply(incidents_.pass(now));
  {
    const std::lock_guard lock(mutex_);
    left_out_ = rules_.left_out() + incidents_.left_out() + leading_.left_out() + shared_.left_out() +
                paces_.left_out();
    open_counts_ = incidents_.open_counts();
    automatic_captures_.clear();
    for (const auto& [result, captures] : captures_.results())
      automatic_captures_.push_back({.result = result, .captures = captures});
  }
  captures_.pass(now);
  hangs_.pass(now);
  if (memory_)
    for (const std::string& told : memory_->take_told()) parts_.audit.done(Access::own("notifiers"), told);
  tick_.set(rules_.firing().empty() ? kCalm : kSecond, [this] { pass(); });
}

void Incidents::take(const std::vector<respond::Condition>& conditions, Ns now) {
  for (const respond::Condition& condition : conditions) {
    say(condition, now);
    if (condition.is_firing) hangs_.fires(condition);
  }
}

// Who leads a job that does not go on has to know what its ranks here do.
void Incidents::say(const respond::Condition& condition, Ns now) {
  const bool is_looked_at = condition.is_firing && condition.rule == respond::kProgressStopped.name &&
                            !leading_.leads(condition.job);
  if (!is_looked_at) return tell(condition, now);
  waits_.add(condition);
}

// To the incident of its job, and to the one that its job shares with others.
void Incidents::tell(respond::Condition condition, Ns now) {
  respond::SharedConditions::Words words = shared_.take(condition);
  for (const respond::Condition& shared : words.shared) apply(incidents_.take(shared, now));
  if (condition.is_firing && shared_.is_shared(condition)) {
    respond::Condition shared = condition;
    shared.is_shared = true;
    if (const auto incident = incidents_.open(shared)) condition.shared_incident = incident->id();
  }
  for (respond::Condition& again : words.again) {
    again.shared_incident = condition.shared_incident;
    leading_.take(again, now);
  }
  leading_.take(condition, now);
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
    if (!change.wants_evidence) continue;
    if (change.incident.family == "progress")
      hangs_.begin(change.incident);
    else
      captures_.begin(change.incident);
  }
}

void Incidents::look_back(respond::Incident& incident) const {
  changes_.look_back(incident);
  if (incident.shared_by) {
    incident.shared_by->hosts = leading_.common_hosts(shared_.jobs(incident.family));
    incident.shared_by->hosts.resize(
        std::min(incident.shared_by->hosts.size(), respond::SharedBy::kMostNamed));
  }
  if (incident.job.id.empty()) return;
  const respond::JobOfIncident job = leading_.job(incident.job.id);
  if (!job.name.empty()) incident.job.name = job.name;
  if (!job.user.empty()) incident.job.user = job.user;
  incident.job.world_size = std::max(incident.job.world_size, job.world_size);
  incident.job.hosts = std::max(incident.job.hosts, job.hosts);
  for (const auto& [pid, process] : parts_.registry.all()) {
    if (process.identity.job == incident.job.id && process.identity.role == process::Role::rank)
      incident.job.has_gpus = incident.job.has_gpus.value_or(false) || process.facts.has_gpu;
  }
  constexpr Ns kLinesBefore = 2 * kMinute;
  const Ns since = incident.symptom.since;
  incident.logs = lines_.since(
      incident.job.id, (since == 0 ? incident.opened : std::min(incident.opened, since)) - kLinesBefore);
}

// What gathers only may be nothing yet; after a restart its conditions are said again.
void Incidents::remember(const respond::IncidentChange& change, Ns now) {
  if (!memory_ || change.incident.state == respond::IncidentState::pending) return;
  std::vector<store::Transition> transitions = {{.at = now,
                                                 .from = respond::state_name(change.from),
                                                 .to = respond::state_name(change.incident.state),
                                                 .why = change.why}};
  memory_->put(change.incident, std::move(transitions), occasion_of(change.word), now,
               change.word == respond::Word::renewed);
}

Result<respond::Incident> Incidents::find(const std::string& id) const {
  auto incident = incidents_.find(id);
  if (!incident) return fail(Code::not_found, "there is no incident {}", to_printable(id));
  return *std::move(incident);
}

Result<std::shared_ptr<const ReportFolder>> Incidents::report(const Peer& peer, const std::string& id) const {
  TRY_ASSIGN(const respond::Incident incident, find(id));
  if (!incident.report) return fail(Code::not_found, "it has no report: {}", why_no_report(incident));
  if (peer.only_uid && incident.report->uid != peer.only_uid)
    return fail(Code::denied, "its report is not of processes of {} alone", to_printable(peer.name));
  if (incident.report->host != parts_.host_name || !reports_)
    return fail(Code::not_found, "its report is on {}: ask the agent there (--host)",
                to_printable(incident.report->host));
  return reports_;
}

std::string Incidents::why_no_report(const respond::Incident& incident) const {
  if (!reports_) return "this agent keeps none, as it has no file for incidents (history)";
  if (incident.captures.empty()) return "nothing was traced for it";
  if (incident.state == respond::IncidentState::investigating) return "it is being traced";
  return "none was made of what was traced";
}

std::optional<ReportFolderState> Incidents::report_state() const {
  return reports_ ? std::optional(reports_->state()) : std::nullopt;
}

Result<void> Incidents::may_change(const Peer& peer, const std::string& job) const {
  if (!peer.only_uid) return {};
  // A launcher's id may be made up: who calls his process by another's job has not all of it.
  i64 own = 0, others = 0;
  for (const auto& [pid, process] : parts_.registry.all()) {
    if (process.identity.job != job) continue;
    ++(process.facts.uid == *peer.only_uid ? own : others);
  }
  // Also those that do not poll; root's are Slurm's own.
  for (const i64 pid : parts_.identities->in_jobs()) {
    const collect::Who who = parts_.identities->who(pid);
    others += who.job == job && who.uid > 0 && who.uid != *peer.only_uid ? 1 : 0;
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
  parts_.audit.done(peer, fmt::format("has acknowledged incident {}", to_printable(id)));
  return find(id);
}

Result<respond::Incident> Incidents::resolve(const Peer& peer, const std::string& id) {
  const Ns now = parts_.host.unix_now();
  TRY_ASSIGN(const respond::Incident incident, find(id));
  TRY(may_change(peer, incident.job.id));
  TRY_ASSIGN(const auto changes, incidents_.resolve(id, peer.name, now));
  apply(changes);
  parts_.audit.done(peer, fmt::format("has resolved incident {}", to_printable(id)));
  // What each of several jobs has is that one's to resolve.
  if (incident.shared_by) return find(id);
  if (incident.family == respond::kAlert) alerts_.resolve(incident.job.id);
  // What nothing else ends is mended, says he who resolves it.
  for (const respond::Condition& condition : rules_.firing()) {
    if (condition.family == incident.family && condition.job == incident.job.id)
      take(rules_.resolve(respond::fingerprint(condition), now), now);
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
  parts_.audit.done(
      peer, fmt::format("has silenced what fires of rule \"{}\", job \"{}\", host \"{}\", user \"{}\"",
                        to_printable(silence.rule), to_printable(silence.job), to_printable(silence.host),
                        to_printable(silence.user)));
  return {};
}

Result<std::vector<respond::AlertAnswer>> Incidents::take(const Peer& peer, const respond::AlertFrame& frame,
                                                          std::span<const respond::Resident> residents) {
  if (!options_.is_on)
    return fail(Code::unsupported, "this agent watches no jobs (respond), and takes no alerts");
  const Ns now = parts_.host.unix_now();
  std::vector<respond::Condition> conditions;
  TRY_ASSIGN(auto answers,
             alerts_.take(frame,
                          {.name = peer.name,
                           .is_limited = peer.only_uid.has_value(),
                           .may = [&](const std::string& job) { return may_change(peer, job); }},
                          residents, now, conditions));
  take(conditions, now);
  return answers;
}

Result<void> Incidents::add(const Peer& peer, respond::Change& change) {
  TRY(may_change(peer, change.job));
  if (change.change.by.empty()) change.change.by = peer.name;
  TRY(changes_.add(change));
  parts_.audit.done(peer,
                    fmt::format("says that something was changed: {}", change.change.what.substr(0, 100)));
  return {};
}

Result<respond::ReportAnswer> Incidents::receive(const Peer& peer, const respond::Report& report) {
  if (peer.only_uid)
    return fail(Code::denied, "conditions are told by agents, who may trace all processes; {} may not",
                to_printable(peer.name));
  return leading_.receive(report);
}

std::vector<respond::Silence> Incidents::silences() const {
  return incidents_.silences(parts_.host.unix_now());
}

}  // namespace spotter::agent
