#include "api/dynolog_rpc.h"

#include <algorithm>
#include <set>

#include "agent/jobs/job_owner.h"
#include "base/version.h"
#include "kineto/config.h"
#include "wire/json.h"

namespace spotter::api {
namespace {

namespace json = boost::json;

constexpr i64 kProcessLimit = 1000;  // where a request names none

// Somebody on another host comes this far only where the configuration says so.
agent::Peer peer_of(const RpcSite& site, const net::TcpEnds& ends) {
  const std::string from = fmt::format("Dynolog's RPC, port {}", ends.local_port);
  const i64 uid = net::uid_of_connection(ends);
  if (uid < 0 && site.is_for_all) return {agent::AccessRole::trace, {}, false, "an unknown client", from};
  return site.agent.access.local(uid, from);
}

// Keys in alphabetical order, as Dynolog writes them: scripts compare texts.
json::object sorted(json::object object) {
  std::vector<std::pair<std::string, json::value>> members;
  for (auto& [key, value] : object) members.emplace_back(std::string(key), value);
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  json::object out;
  for (auto& [key, value] : members) out.emplace(key, std::move(value));
  return out;
}

using Reply = Result<json::object>;

Reply status(const RpcSite&, const json::object&, const net::TcpEnds&) { return json::object{{"status", 1}}; }

Reply version(const RpcSite&, const json::object&, const net::TcpEnds&) {
  return json::object{{"version", kVersion}};
}

json::array list(const std::vector<i64>& numbers) { return json::array(numbers.begin(), numbers.end()); }

// Which of the registered processes a request is for. Launchers and workers count only where they are named.
std::vector<const kineto::Process*> matching(agent::Agent& agent, const std::vector<i64>& pids, i64 job_id) {
  kineto::Target target;
  const bool all = pids.empty() || pids == std::vector<i64>{0};
  if (!all) target.pids = pids;
  std::vector<const kineto::Process*> found;
  std::set<i64> known;
  const auto add = [&](const kineto::Process* p) {
    if (p && p->poll.job_id == job_id && known.insert(p->facts.pid).second) found.push_back(p);
  };
  for (const kineto::Process* p : agent.processes.registry().matching(target)) add(p);
  for (const i64 pid : pids) add(agent.processes.registry().find(pid));
  return found;
}

// Those in containers that have one of these numbers for themselves; else those whose ancestors there do, as
// they say themselves. For where nobody on the host has such a number.
std::vector<const kineto::Process*> matching_inside(agent::Agent& agent, const std::vector<i64>& pids,
                                                    i64 job_id) {
  std::vector<const kineto::Process*> found, begun;
  for (const auto& [pid, process] : agent.processes.registry().all()) {
    const bool is_inside = process.facts.inner_pid != process.facts.pid;
    if (!is_inside || process.poll.job_id != job_id) continue;
    const auto is_named = [&](i64 number) {
      return number > 0 && std::ranges::find(pids, number) != pids.end();
    };
    if (is_named(process.facts.inner_pid)) found.push_back(&process);
    if (std::ranges::any_of(process.poll.pids, is_named)) begun.push_back(&process);
  }
  return found.empty() ? begun : found;
}

// Those that the peer may trace, and of a job its owner's; one that was named is meant, and where there is no
// other it is to be told why not. What counts to a limit is left.
void leave_out_foreign(agent::Agent& agent, const agent::Peer& peer, const std::vector<i64>& named,
                       i64 job_id, std::vector<const kineto::Process*>& matched) {
  const bool is_job = job_id != 0 && !peer.only_uid;
  const i64 owner =
      is_job ? agent::owner_of(*agent.identities, agent.registry, std::to_string(job_id)) : i64{-1};
  const auto is_foreign = [&](const kineto::Process* p) {
    if (std::ranges::find(named, p->facts.pid) != named.end()) return false;
    return !agent.access.may_trace(peer, *p) || (is_job && p->facts.uid != owner);
  };
  if (!std::ranges::all_of(matched, is_foreign)) std::erase_if(matched, is_foreign);
}

// A process is told by the number that it has for itself, as Dynolog tells it: its file is named by it.
Reply trace(const RpcSite& site, const json::object& request, const net::TcpEnds& ends) {
  TRY_ASSIGN(const auto text, wire::text_of(request, "config"));
  TRY_ASSIGN(const auto pids, wire::integers_of(request, "pids"));
  TRY_ASSIGN(const auto job_id, wire::integer_of(request, "job_id"));
  TRY_ASSIGN(const auto process_limit, wire::integer_of(request, "process_limit"));
  if (!text || !pids) return fail(Code::invalid, "\"config\" and \"pids\" are needed");
  const i64 limit = process_limit.value_or(kProcessLimit);
  Notes notes;
  TRY_ASSIGN(const kineto::Config config, kineto::read_config(*text, notes));

  const agent::Peer peer = peer_of(site, ends);
  std::vector<const kineto::Process*> matched = matching(site.agent, *pids, job_id.value_or(0));
  const bool is_inside = matched.empty();
  if (is_inside) matched = matching_inside(site.agent, *pids, job_id.value_or(0));
  leave_out_foreign(site.agent, peer, *pids, job_id.value_or(0), matched);
  const auto is_of_another = [&](const auto* p) { return p->facts.uid != matched.front()->facts.uid; };
  if (is_inside && std::ranges::any_of(matched, is_of_another)) matched.clear();  // whose is meant?
  std::vector<i64> all, triggered, told;
  i64 busy = 0;
  for (const kineto::Process* process : matched) {
    all.push_back(process->facts.inner_pid);
    if (limit >= 0 && static_cast<i64>(triggered.size()) >= limit) continue;
    const bool is_free = site.agent.captures.why_busy(process->facts.pid, site.agent.clock.now()).empty();
    if (!is_free) {
      ++busy;
      continue;
    }
    triggered.push_back(process->facts.pid);
    told.push_back(process->facts.inner_pid);
  }
  if (!triggered.empty()) {
    capture::Request wanted{triggered, config, {}, *text, 0, {}};
    TRY(site.agent.control.begin(peer, wanted, "setKinetOnDemandRequest"));
  }
  return json::object{{"activityProfilersBusy", busy},
                      {"activityProfilersTriggered", list(told)},
                      {"eventProfilersBusy", 0},
                      {"eventProfilersTriggered", json::array()},
                      {"processesMatched", list(all)}};
}

bool has_dcgm(const agent::Agent& agent) {
  return std::ranges::any_of(agent.telemetry.collectors(), [](const collect::CollectorState& state) {
    return state.is_open && std::string_view(state.name) == "dcgm";
  });
}

// Of DCGM's profiling, which is all that a profiler in a process has to fear.
Reply dcgm_pause(const RpcSite& site, const json::object& request, const net::TcpEnds& ends) {
  constexpr i64 kMostSeconds = 86'400;
  TRY_ASSIGN(const auto duration, wire::integer_of(request, "duration_s"));
  if (!duration) return fail(Code::invalid, "\"duration_s\" is needed");
  if (!has_dcgm(site.agent)) return json::object{{"status", false}};
  const i64 seconds = std::clamp<i64>(*duration, 0, kMostSeconds);
  TRY(site.agent.control.pause_profiling(peer_of(site, ends), seconds * 1'000'000'000));
  return json::object{{"status", true}};
}
Reply dcgm_resume(const RpcSite& site, const json::object&, const net::TcpEnds& ends) {
  if (!has_dcgm(site.agent)) return json::object{{"status", false}};
  TRY(site.agent.control.pause_profiling(peer_of(site, ends), 0));
  return json::object{{"status", true}};
}

struct Function {
  std::string_view name;
  Reply (*call)(const RpcSite&, const json::object&, const net::TcpEnds&);
};
constexpr Function kFunctions[] = {
    {"getStatus", status},
    {"getVersion", version},
    {"setKinetOnDemandRequest", trace},  // so it is spelled
    {"dcgmProfPause", dcgm_pause},
    {"dcgmProfResume", dcgm_resume},
};

Reply call(const RpcSite& site, const Result<std::string>& text, const net::TcpEnds& ends) {
  if (!text) return tl::unexpected(text.error());
  TRY_ASSIGN(const json::object request, wire::read_object(*text));
  TRY_ASSIGN(const auto name, wire::text_of(request, "fn"));
  if (!name) return fail(Code::invalid, "\"fn\" is needed");
  for (const Function& f : kFunctions) {
    if (f.name == *name) return f.call(site, request, ends);
  }
  return fail(Code::invalid, "there is no function of that name");
}

}  // namespace

std::string answer_rpc(const RpcSite& site, const Result<std::string>& request, const net::TcpEnds& ends) {
  Reply reply = call(site, request, ends);
  if (!reply) reply = json::object{{"status", "failed: " + reply.error().message}};
  return json::serialize(sorted(std::move(*reply)));
}

}  // namespace spotter::api
