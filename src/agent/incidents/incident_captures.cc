#include "agent/incidents/incident_captures.h"

#include <algorithm>
#include <set>
#include <utility>

#include "agent/captures/poll_time.h"
#include "agent/incidents/capture_command.h"
#include "agent/jobs/job_owner.h"
#include "agent/jobs/left_alone.h"
#include "agent/jobs/room_for_traces.h"
#include "analyze/range_text.h"
#include "base/text/utf8.h"
#include "respond/incidents/conclusion.h"
#include "respond/incidents/waiting_group.h"
#include "respond/measured/compare.h"
#include "wire/change.h"

namespace spotter::agent {
namespace {

constexpr Ns kCanaryRest = 5 * kSecond;     // of a canary, after its file is there
constexpr Ns kHeardRest = 10 * kSecond;     // the same where another host tells of its steps
constexpr Ns kDiskPatience = 15 * kSecond;  // later the capture would be of something else
constexpr std::string_view kTraced = "traced", kFailed = "failed", kRefused = "refused", kDryRun = "dry_run";

}  // namespace

IncidentCaptures::IncidentCaptures(Parts parts)
    : parts_(std::move(parts)),
      post_(parts_.loop.poster()),
      budget_(parts_.options.budget),
      measuring_(parts_.loop, parts_.options),
      rooms_(parts_.loop, kDiskPatience) {}

IncidentCaptures::~IncidentCaptures() = default;

void IncidentCaptures::pass(Ns now) {
  budget_.pass(now);
  for (auto& [job, last] : by_people_) last = std::min(last, now);  // the clock may be set back
  std::erase_if(by_people_, [&](const auto& capture) { return now - capture.second > kHour; });
}

// It may be of several jobs, or of processes of which some are no job's.
void IncidentCaptures::captured(const capture::Capture& capture) {
  std::set<std::string> jobs;
  for (const capture::Receipt& receipt : capture.receipts) {
    const auto process = parts_.registry.all().find(receipt.pid);
    if (process != parts_.registry.all().end()) jobs.insert(process->second.identity.job);
  }
  jobs.insert(capture.job);
  jobs.erase("");
  for (const std::string& job : jobs) captured(capture, job);
}

void IncidentCaptures::captured(const capture::Capture& capture, const std::string& job) {
  const Ns now = parts_.host.unix_now();
  const Ns began = capture.accepted.unix_ms * kMillisecond;
  parts_.rules.captured(job, {.from = began, .until = capture.over() ? now : began + capture.deadline});
  bool is_own = false;
  for (const auto& [id, running] : running_) {
    if (running->job != job) continue;
    const bool is_earlier = began / kMillisecond < running->asked / kMillisecond;  // of the same incident
    if (running->id.empty() && !is_earlier) running->id = capture.id;
    if (running->id != capture.id && !is_earlier) continue;  // a person's, of the same job
    is_own = true;
    for (const capture::Receipt& receipt : capture.receipts) running->users.insert(receipt.uid);
  }
  if (!is_own) by_people_[job] = now;
}

// Whether the job's people want to be left alone; empty: they do not say so.
std::string IncidentCaptures::why_not_asked(const std::string& job) const {
  const auto pace = parts_.leading.pace(job);
  std::string why = why_left_alone(parts_.options, nullptr, pace ? pace->user : "");
  const i64 owner = owner_of(parts_.identities, parts_.registry, job);
  for (const auto& [pid, process] : parts_.registry.all()) {
    if (why.empty() && process.identity.job == job && process.facts.uid == owner)
      why = why_left_alone(parts_.options, &process, parts_.identities.who(pid).user);
  }
  return why;
}

std::vector<i64> IncidentCaptures::traceable(const std::string& job) const {
  std::vector<i64> pids;
  const i64 owner = owner_of(parts_.identities, parts_.registry, job);
  for (const auto& [pid, process] : parts_.registry.all()) {
    if (process.facts.uid == owner && kineto::matches(process, {.job = job})) pids.push_back(pid);
  }
  return pids;
}

// What a person may run instead; empty: none of its processes could be traced so.
std::string IncidentCaptures::how_to_trace(const respond::Incident& incident) const {
  const std::string& job = incident.job.id;
  const auto pace = parts_.leading.pace(job);
  if (traceable(job).empty() || !pace || pace->step == 0) return {};
  return capture_command(
      job, parts_.leading.choose(incident),
      respond::window_of(parts_.options.budget, pace->step, pace->longest_until(parts_.host.unix_now())));
}

// Captures of before this process, or by another host that led the job: incidents tell of them.
void IncidentCaptures::learn_of_before(const std::string& job) {
  int slower_after = 0;
  std::string harm;
  for (const respond::Incident& before : parts_.incidents.all()) {
    if (before.job.id != job || before.captures.empty()) continue;
    if (before.fired != 0) budget_.learn(job, before.family, before.fired);
    if (before.captures.back().aftermath_ratio.value_or(0) > parts_.options.budget.aftermath) ++slower_after;
    for (const respond::CaptureOfIncident& capture : before.captures) {
      if (!capture.harm.empty()) harm = capture.harm;
    }
  }
  budget_.slower_after(job, slower_after);
  if (!harm.empty()) budget_.harmed(job, harm);
}

Result<respond::CapturePlan> IncidentCaptures::plan(const respond::Incident& incident) {
  const std::string& job = incident.job.id;
  if (parts_.options.captures == AutomaticCaptures::off)
    return fail(Code::busy, "nothing was traced: automatic captures are off (respond: captures)");
  if (std::string why = why_not_asked(job); !why.empty()) return fail(Code::denied, "{}", why);
  const auto pace = parts_.leading.pace(job);
  if (!pace || pace->step == 0)
    return fail(Code::busy, "nothing was traced: no step of the job was seen here");
  learn_of_before(job);
  const Ns now = parts_.host.unix_now();
  const auto person = by_people_.find(job);
  return budget_.plan({.job = job,
                       .family = incident.family,
                       .is_critical = incident.urgency == respond::Urgency::critical,
                       .at = now,
                       .age = pace->first == 0 ? 0 : now - pace->first,
                       .steps = pace->steps,
                       .step = pace->step,
                       .longest = pace->longest_until(now),
                       .last_person = person == by_people_.end() ? 0 : person->second,
                       .last_checkpoint = pace->last_writing});
}

void IncidentCaptures::begin(const respond::Incident& incident) {
  const std::string id = incident.id();
  const auto planned = plan(incident);
  if (!planned) {
    const bool is_off = parts_.options.captures == AutomaticCaptures::off;
    if (!is_off) ++results_[kRefused];
    return refuse_measured(incident, planned.error().message,
                           {.to_trace = is_off ? how_to_trace(incident) : ""});
  }
  if (parts_.options.captures == AutomaticCaptures::dry_run) {
    budget_.ended(incident.job.id, parts_.host.unix_now(), {}, {}, {});
    ++results_[kDryRun];
    return refuse_measured(
        incident,
        fmt::format("nothing was traced (dry run): the job would have been traced for {:.1f} s, "
                    "which costs it {:.1f} s",
                    static_cast<double>(planned->window) / static_cast<double>(kSecond), planned->cost_s));
  }
  begin_capture(id, {.job = incident.job.id, .plan = *planned, .whom = parts_.leading.choose(incident)});
}

void IncidentCaptures::add_measured(const Investigated& investigated, const std::string& job,
                                    respond::Conclusion& conclusion) const {
  if (investigated.changes) parts_.learn(wire::read_changes(*investigated.changes));
  if (investigated.measured)
    respond::compare(*investigated.measured, parts_.host_name, parts_.leading.own_name(job), conclusion);
}

void IncidentCaptures::add_ruled_out(respond::Conclusion& conclusion, Ns now) const {
  for (std::string& sentence : parts_.rules.ruled_out(now)) conclusion.against.push_back(std::move(sentence));
}

void IncidentCaptures::refuse_measured(const respond::Incident& incident, std::string why,
                                       respond::Conclusion conclusion) {
  const auto kept = std::make_shared<respond::Conclusion>(std::move(conclusion));
  auto take = [this, id = incident.id(), job = incident.job.id, why = std::move(why),
               kept](const Result<Investigated>& asked) {
    if (asked)
      add_measured(*asked, job, *kept);
    else
      kept->not_known.push_back("what was measured of its ranks: " + to_printable(asked.error().message));
    refuse(id, why, std::move(*kept));
  };
  measuring_.ask(incident, parts_.leading.choose(incident), std::move(take));
}

void IncidentCaptures::refuse(const std::string& id, std::string why, respond::Conclusion conclusion) {
  const Ns now = parts_.host.unix_now();
  add_ruled_out(conclusion, now);
  conclusion.not_known.push_back(std::move(why));
  if (const auto incident = parts_.incidents.find(id)) {
    if (std::string alone = parts_.leading.why_alone(incident->job.id); !alone.empty())
      conclusion.not_known.push_back(std::move(alone));
  }
  parts_.apply(parts_.incidents.conclude(id, std::move(conclusion), now));
}

void IncidentCaptures::begin_capture(const std::string& id, Running wanted) {
  std::vector<i64> pids = traceable(wanted.job);
  if (parts_.options.least_free == 0 || pids.empty()) return begin_now(id, std::move(wanted));
  rooms_.ask(
      [pids = std::move(pids), host = parts_.host, directory = parts_.access.default_directory(),
       least_free = parts_.options.least_free] { return why_no_room(host, pids, directory, least_free); },
      [this, id, running = std::make_shared<Running>(std::move(wanted))](const std::string& why_not) {
        if (!why_not.empty()) return not_begun(id, *running, why_not);
        begin_now(id, std::move(*running));
      });
}

void IncidentCaptures::not_begun(const std::string& id, const Running& running, const std::string& why) {
  ++results_[kRefused];
  if (!running.earlier.empty()) {
    settle_later(id, running.job, running.earlier);
    if (running.first) return refuse(id, "nothing more was traced: " + why, *running.first);
    return refuse(id, who_was_alone(id, running.earlier.back()) + " was traced, and nothing more: " + why);
  }
  budget_.not_begun(running.job, parts_.host.unix_now());
  refuse(id, "nothing was traced: " + why);
}

void IncidentCaptures::begin_now(const std::string& id, Running wanted) {
  const Ns now = parts_.host.unix_now();
  auto running = std::make_unique<Running>(std::move(wanted));
  respond::CapturePlan& plan = running->plan;
  respond::Chosen whom = running->whom;
  std::vector<i64> pids;
  if (plan.is_canary) choose_canary(*running, whom, pids);
  running->before = parts_.leading.pace(running->job);
  const Ns start = now + poll_time(parts_.registry, running->job) + plan.warm_up + kSecond;
  running->asked = now;
  running->span = {.from = start - plan.warm_up, .until = start + plan.window};
  InvestigationOrder order{.program = parts_.options.program,
                           .socket = parts_.options.socket,
                           .job = running->job,
                           .ranks = whom.ranks,
                           .pids = pids,
                           .hosts = whom.hosts,
                           .credentials = parts_.options.credentials,
                           .plan = plan,
                           .start_unix_ms = start / kMillisecond,
                           .wants_report = parts_.reports && !running->is_canary,
                           .slow_since = slow_since(id)};
  parts_.rules.captured(running->job, {.from = now, .until = running->span.until});
  const bool is_host = running->is_canary && pids.empty() && whom.ranks.empty();
  const respond::CaptureOfIncident capture{
      .ranks = !pids.empty()        ? fmt::format("{}{}", respond::kOneProcess, pids.front())
               : is_host            ? std::string(respond::kOneHost)
               : whom.ranks.empty() ? "all"
                                    : analyze::range_text({whom.ranks.begin(), whom.ranks.end()})};
  auto begun = Investigation::start(parts_.loop, order, [this, id](Result<Investigated> investigated) {
    const auto it = running_.find(id);
    if (it == running_.end()) return;
    const std::unique_ptr<Running> done = std::move(it->second);
    running_.erase(it);
    take(id, *done, std::move(investigated));
  });
  if (!begun) return not_begun(id, *running, begun.error().message);
  running->investigation = std::move(*begun);
  if (const auto incident = parts_.incidents.find(id)) running->span.place = incident->captures.size();
  running_[id] = std::move(running);
  parts_.apply(parts_.incidents.investigate(id, capture, now));
}

void IncidentCaptures::take(const std::string& id, const Running& running,
                            Result<Investigated> investigated) {
  const Ns now = parts_.host.unix_now();
  const bool is_traced = investigated && !capture::folder_of(investigated->receipts).empty();
  ++results_[is_traced ? kTraced : kFailed];
  if (!investigated) {
    if (running.first)
      settle_later(id, running.job, running.earlier);
    else
      budget_.ended(running.job, now, {}, {}, {});
    return refuse(id, "the capture failed: " + to_printable(investigated.error().message),
                  running.first.value_or(respond::Conclusion()));
  }
  describe(id, running, *investigated);
  if (running.is_canary && is_traced) {
    auto& timer = later_[id];
    timer = std::make_unique<net::Timer>(parts_.loop);
    Running canary{.job = running.job,
                   .plan = running.plan,
                   .whom = running.whom,
                   .span = running.span,
                   .is_canary = true,
                   .before = running.before};
    const auto pace = parts_.leading.pace(running.job);
    const auto here = parts_.paces.of(running.job);
    const Ns least = here && here->step != 0 ? kCanaryRest : kHeardRest;
    const Ns rest = std::max(least, pace ? 2 * pace->step + 2 * kSecond : 0);
    timer->set(rest, [this, id, kept = std::make_shared<Running>(std::move(canary))] { go_on(id, *kept); });
    return;
  }
  const i64 ranks = parts_.leading.job(running.job).world_size;
  respond::Conclusion conclusion =
      investigated->findings ? respond::conclusion_of(*investigated->findings, investigated->receipts, ranks,
                                                      running.traced_before)
                             : respond::without_findings(investigated->receipts);
  add_measured(*investigated, running.job, conclusion);
  add_ruled_out(conclusion, now);
  std::optional<Running> more = second(id, running, *investigated, conclusion, now);
  if (std::string why = parts_.leading.why_alone(running.job); !why.empty())
    conclusion.not_known.push_back(std::move(why));
  if (!more) parts_.apply(parts_.incidents.conclude(id, std::move(conclusion), now));
  // After it: nobody waits for a disk to be told.
  if (!investigated->report.empty())
    keep_report(id, std::move(investigated->report));
  else if (!investigated->why_no_report.empty() && parts_.reports)
    parts_.reports->lose(id, {Code::io, investigated->why_no_report});
  if (more) return begin_capture(id, std::move(*more));
  settle_later(id, running.job, running.all_spans());
}

// In the record: which capture it was, and that there is a report of it.
void IncidentCaptures::describe(const std::string& id, const Running& running,
                                const Investigated& investigated) {
  parts_.apply(parts_.incidents.amend(
      id,
      [&](respond::Incident& incident) {
        // The last one may be of another host that has led it meanwhile.
        if (running.span.place < incident.captures.size()) {
          respond::CaptureOfIncident& capture = incident.captures[running.span.place];
          capture.id = running.id;
          capture.path = capture::folder_of(investigated.receipts);
          capture.steps = investigated.steps;
        }
        if (investigated.report.empty()) return;
        // Of other hosts it is not known whose processes these were.
        const bool is_ones_alone = running.whom.hosts.empty() && running.users.size() == 1;
        incident.report = respond::ReportOfIncident{
            parts_.host_name, is_ones_alone ? std::optional(*running.users.begin()) : std::nullopt};
      },
      parts_.host.unix_now()));
}

// Where the ranks that were traced of a large job show no cause, but wait for others: those. Nothing: nobody
// else is traced, and where it is for the budget the conclusion says so.
std::optional<IncidentCaptures::Running> IncidentCaptures::second(const std::string& id, const Running& first,
                                                                  const Investigated& investigated,
                                                                  respond::Conclusion& conclusion, Ns now) {
  const auto incident = parts_.incidents.find(id);
  if (conclusion.verdict || first.first || !investigated.findings || first.whom.ranks.empty() || !incident ||
      !incident->is_open())
    return {};
  const auto group = respond::waiting_group(*investigated.findings);
  if (!group) return {};
  respond::Chosen whom = parts_.leading.choose_more(first.job, *group, first.whom.ranks);
  if (whom.ranks.empty()) return {};
  std::string why = why_not_asked(first.job);
  const auto plan =
      why.empty() ? budget_.plan_more(first.job, first.plan, now) : fail(Code::denied, "{}", why);
  if (!plan) {
    conclusion.not_known.push_back("those traced wait for ranks that were not: " + plan.error().message);
    return {};
  }
  return Running{.job = first.job,
                 .plan = *plan,
                 .whom = std::move(whom),
                 .earlier = first.all_spans(),
                 .first = conclusion,
                 .traced_before = respond::ranks_traced(investigated.receipts)};
}

void IncidentCaptures::keep_report(const std::string& id, std::string page) {
  const auto is_lost = [this, id] {
    parts_.apply(parts_.incidents.amend(
        id, [](respond::Incident& incident) { incident.report.reset(); }, parts_.host.unix_now()));
  };
  const bool is_begun = aside_.run([folder = parts_.reports, id, page = std::move(page), post = post_,
                                    is_lost, alive = std::weak_ptr(alive_)] {
    if (folder->keep(id, page)) return;
    post([is_lost, alive] {
      if (!alive.expired()) is_lost();
    });
  });
  if (is_begun) return;
  parts_.reports->lose(id, {Code::busy, "too many wait for the disk"});
  is_lost();
}

}  // namespace spotter::agent
