// IncidentCaptures: what captures have cost their job, by its own steps, and what follows from it.
#include <algorithm>
#include <utility>

#include "agent/incidents/incident_captures.h"
#include "agent/jobs/job_leaders.h"

namespace spotter::agent {
namespace {

constexpr const char* kStands = "the job has not gone on since it was traced";
constexpr Ns kCostKnown = 15 * kSecond;  // after a capture, what it has cost is measured

constexpr double kCanaryRatio = 1.5;  // of steps after a canary to those before, at most

}  // namespace

std::vector<IncidentCaptures::Span> IncidentCaptures::Running::all_spans() const {
  std::vector<Span> spans = earlier;
  spans.push_back(span);
  return spans;
}

void IncidentCaptures::settle_later(const std::string& id, const std::string& job, std::vector<Span> spans) {
  auto& timer = later_[id];
  timer = std::make_unique<net::Timer>(parts_.loop);
  timer->set(kCostKnown, [this, id, job, spans = std::move(spans)] { settle_cost(job, spans, id); });
}

// What a capture has cost is told by the steps since the job became slow: those before were faster anyhow.
Ns IncidentCaptures::slow_since(const std::string& id) const {
  const auto incident = parts_.incidents.find(id);
  return incident ? incident->symptom.since : 0;
}

// Whether its processes are there, and none of its steps has ended since a capture did.
bool IncidentCaptures::stands_since(const std::string& job, Ns until, Ns now) const {
  constexpr i64 kSteps = 10;
  const auto pace = parts_.paces.of(job);
  if (!pace || pace->last_step >= until) return false;
  if (now - pace->last_step <= std::max(kSteps * pace->step, 3 * pace->between)) return false;
  return !traceable(job).empty();
}

// Each by its own steps: between two of them the job goes as it does.
void IncidentCaptures::settle_cost(const std::string& job, const std::vector<Span>& spans,
                                   const std::string& id) {
  const Ns now = parts_.host.unix_now();
  std::vector<respond::CaptureCost> costs;
  std::optional<double> cost_s = 0;
  for (const Span& span : spans) {
    costs.push_back(parts_.paces.cost(job, slow_since(id), span.from, span.until));
    cost_s = cost_s && costs.back().cost_s ? std::optional(*cost_s + *costs.back().cost_s) : std::nullopt;
  }
  const respond::CaptureCost& last = costs.back();
  const auto overhead = last.overhead_ratio ? std::optional(*last.overhead_ratio - 1) : std::nullopt;
  budget_.ended(job, now, cost_s, overhead, last.aftermath_ratio);
  const bool goes_on = !stands_since(job, spans.back().until, now);
  if (!goes_on) budget_.harmed(job, kStands);
  parts_.apply(parts_.incidents.amend(
      id,
      [&](respond::Incident& incident) {
        for (size_t i = 0; i < costs.size(); ++i) {
          if (spans[i].place >= incident.captures.size()) continue;
          respond::CaptureOfIncident& capture = incident.captures[spans[i].place];
          capture.overhead_ratio = costs[i].overhead_ratio;
          capture.aftermath_ratio = costs[i].aftermath_ratio;
          capture.cost_s = costs[i].cost_s;
        }
        if (goes_on) return;
        incident.not_known.push_back("whether the capture did it harm: " + std::string(kStands));
        if (spans.back().place < incident.captures.size())
          incident.captures[spans.back().place].harm = kStands;
      },
      now));
  post_([this, id, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) later_.erase(id);  // not before it has returned
  });
}

// How steps after a canary were to those before. Where none is seen here: as another host has told of them
// since.
std::optional<double> IncidentCaptures::aftermath(const std::string& id, const Running& canary,
                                                  const respond::CaptureCost& cost) const {
  const auto here = parts_.paces.of(canary.job);
  if (!canary.before || (here && here->step != 0)) return cost.aftermath_ratio;
  respond::JobPace before = *canary.before;
  // What was heard before may be of before it became slow.
  const auto incident = parts_.incidents.find(id);
  if (incident && incident->symptom.unit == "s" && incident->symptom.now)
    before.step =
        std::max(before.step, static_cast<Ns>(*incident->symptom.now * static_cast<double>(kSecond)));
  return respond::heard_ratio(before, parts_.leading.pace(canary.job), canary.span.until);
}

// After a canary: the others, if it goes on as before.
void IncidentCaptures::go_on(const std::string& id, const Running& canary) {
  const respond::CaptureCost cost =
      parts_.paces.cost(canary.job, slow_since(id), canary.span.from, canary.span.until);
  const auto ratio = aftermath(id, canary, cost);
  if (!ratio) {
    budget_.ended(canary.job, parts_.host.unix_now(), {}, {}, {});
    return refuse(id,
                  who_was_alone(id, canary.span) + " was traced: how the job went on after it is not known");
  }
  if (*ratio >= kCanaryRatio) {
    const std::string harm =
        fmt::format("the job did not go on as before after {} was traced", who_was_alone(id, canary.span));
    budget_.harmed(canary.job, harm);
    parts_.apply(parts_.incidents.amend(
        id,
        [&](respond::Incident& incident) {
          if (canary.span.place < incident.captures.size()) incident.captures[canary.span.place].harm = harm;
        },
        parts_.host.unix_now()));
    return refuse(id, who_was_alone(id, canary.span) + " was traced: the job did not go on as before");
  }
  const auto incident = parts_.incidents.find(id);
  std::string why = why_not_asked(canary.job);
  if (!incident || !incident->is_open()) why = "nothing more was traced: it was over";
  if (!why.empty()) {
    budget_.ended(canary.job, parts_.host.unix_now(), cost.cost_s, {}, {});
    return refuse(id, std::move(why));
  }
  respond::CapturePlan rest = canary.plan;
  rest.is_canary = false;
  rest.warm_up = parts_.options.budget.warm_up;
  begin_capture(id, {.job = canary.job, .plan = rest, .whom = canary.whom, .earlier = canary.all_spans()});
}

std::string IncidentCaptures::who_was_alone(const std::string& id, const Span& canary) const {
  const auto incident = parts_.incidents.find(id);
  const bool is_known = incident && canary.place < incident->captures.size();
  const std::string ranks = is_known ? incident->captures[canary.place].ranks : "";
  return ranks.starts_with(respond::kOneProcess) ? "one process alone"
         : ranks == respond::kOneHost            ? "one host alone"
                                                 : "one rank alone";
}

// One rank, of this host if it has one; where ranks are not known (Ray, vLLM), one process of this host, with
// a GPU if any has one; where this host has none of the job's processes, those of one that has.
void IncidentCaptures::choose_canary(Running& running, respond::Chosen& whom, std::vector<i64>& pids) const {
  const auto here = parts_.paces.of(running.job);
  const bool is_here = here && !here->ranks.empty();
  const auto pace = is_here ? here : parts_.leading.pace(running.job);
  const bool are_known = is_here || !whom.ranks.empty() || (pace && !pace->ranks.empty());
  if (are_known) {
    running.is_canary = whom.ranks.size() > 1 || whom.hosts.size() > 1;
    if (!running.is_canary) return;
    // Of hosts that are asked.
    whom.ranks = {is_here || whom.ranks.empty() ? *pace->ranks.begin() : whom.ranks.front()};
    if (is_here) whom.hosts.clear();
    return;
  }
  const std::vector<i64> all = traceable(running.job);
  running.is_canary = all.size() > 1 || whom.hosts.size() > 1;
  if (!running.is_canary) return;
  if (all.empty()) {
    std::erase_if(whom.hosts, [&](const std::string& address) {
      return is_this_host(address.substr(0, address.rfind(':')), parts_.host_name);
    });
    whom.hosts.resize(std::min<size_t>(whom.hosts.size(), 1));
    return;
  }
  // With a process those are meant that it has begun.
  const auto& processes = parts_.registry.all();
  const auto has_begun_another = [&](i64 pid) {
    return std::ranges::any_of(
        all, [&](i64 other) { return std::ranges::count(processes.at(other).ancestors, pid) != 0; });
  };
  i64 one = all.front();
  for (const i64 pid : all) {
    const auto has_gpu = [&](i64 which) { return processes.at(which).facts.has_gpu; };
    if (has_begun_another(one) || (has_gpu(pid) && !has_gpu(one) && !has_begun_another(pid))) one = pid;
  }
  pids = {one};
  whom.hosts.clear();
}

}  // namespace spotter::agent
