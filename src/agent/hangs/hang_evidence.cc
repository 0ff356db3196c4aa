#include "agent/hangs/hang_evidence.h"

#include <algorithm>
#include <set>
#include <utility>

#include "agent/hangs/rank_waits.h"
#include "base/saturated.h"
#include "base/text/utf8.h"
#include "capture/process_root.h"
#include "collect/host/kernel_ticks.h"
#include "collect/values.h"
#include "process/process_facts.h"
#include "wire/recorded_hang.h"

namespace spotter::agent {
namespace {

constexpr size_t kMostConditions = 16;
constexpr Ns kOthers = 5 * kSecond, kLookAgain = kSecond / 2;  // for the other hosts of the job

// Where PyTorch writes the dump of a rank, but for its number: as the environment says, else where versions
// of it do that say nothing.
std::vector<std::string> dump_prefixes(const process::ProcessFacts& facts) {
  const auto value = [&](const char* name) {
    const auto it = facts.environment.find(name);
    return it == facts.environment.end() ? std::string() : it->second;
  };
  for (const char* name : {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"}) {
    if (std::string said = value(name); !said.empty()) return {said};
  }
  std::vector<std::string> prefixes = {"/tmp/nccl_trace_rank_"};
  if (const std::string cache = value("XDG_CACHE_HOME"); !cache.empty())
    prefixes.push_back(cache + "/torch/comm_lib_trace_rank_");
  else if (const std::string home = value("HOME"); !home.empty())
    prefixes.push_back(home + "/.cache/torch/comm_lib_trace_rank_");
  return prefixes;
}

// Unix time.
Ns began(const Host& host, const process::ProcessFacts& facts) {
  const Ns running = subtract_saturated(
      host.steady_now(), collect::scaled(facts.start_ticks, collect::ns_per_tick()).value_or(0));
  return host.unix_now() - std::max<Ns>(running, 0);
}

}  // namespace

struct HangEvidence::Gathering {
  respond::HangFacts facts;
  std::string job;
  Ns last_step = 0;  // Unix time
  Ns until = 0;      // other hosts are waited for
  bool has_looked = false;
  Done done;
  net::Timer patience;
};

struct HangEvidence::Dumps {
  std::vector<capture::Receipt> files;
};

HangEvidence::HangEvidence(Parts parts) : parts_(std::move(parts)), post_(parts_.loop.poster()) {}
HangEvidence::~HangEvidence() = default;

bool HangEvidence::gather(const respond::Incident& incident, bool hears_others, Done done) {
  const std::string id = incident.id();
  if (running_.contains(id)) return false;
  const auto pace = parts_.paces.of(incident.job.id);
  auto gathering = std::make_unique<Gathering>(
      respond::HangFacts{.host = parts_.host_name}, incident.job.id, pace ? pace->last_step : 0,
      parts_.host.unix_now() + (hears_others ? kOthers : 0), false, std::move(done), net::Timer(parts_.loop));
  respond::HangFacts& facts = gathering->facts;
  facts.world_size = pace ? pace->world_size : incident.job.world_size;
  facts.conditions = incident.conditions;
  std::set<u64> known;
  for (const respond::Condition& condition : facts.conditions) known.insert(respond::fingerprint(condition));
  for (const respond::Condition& condition : parts_.rules.firing()) {
    if (condition.job == incident.job.id && condition.family == incident.family &&
        facts.conditions.size() < kMostConditions && known.insert(respond::fingerprint(condition)).second)
      facts.conditions.push_back(condition);
  }
  const RasWatch::Said nccl = parts_.ras.said(incident.job.id);
  if (nccl.is_even) facts.against.push_back("NCCL: all ranks have launched the same collectives");
  if (!nccl.has_answered)
    facts.not_known.push_back("NCCL does not say who is behind: " +
                              (nccl.refusal.empty() ? "it was not asked yet" : nccl.refusal));
  gathering->patience.set(kPatience, [this, id] { conclude(id, false); });
  running_.emplace(id, std::move(gathering));
  look(id);
  return true;
}

void HangEvidence::look(const std::string& id) {
  const bool has_begun =
      threads_.run([this, id, job = running_.at(id)->job, host = parts_.host, host_name = parts_.host_name,
                    identities = parts_.identities, post = post_, alive = std::weak_ptr(alive_)] {
        std::vector<respond::HostedRank> ranks = look_at_ranks(host, host_name, *identities, job);
        post([this, id, alive, ranks = std::move(ranks)] {
          if (!alive.expired()) looked(id, ranks);
        });
      });
  if (has_begun) return;
  running_.at(id)->facts.not_known.emplace_back("what its ranks here do: too much is looked at already");
  running_.at(id)->patience.set(0, [this, id] { conclude(id, true); });
}

void HangEvidence::looked(const std::string& id, std::vector<respond::HostedRank> ranks) {
  Gathering& gathering = *running_.at(id);
  gathering.facts.ranks = std::move(ranks);
  gathering.has_looked = true;
  std::vector<JobRank> here;
  for (const respond::HostedRank& rank : gathering.facts.ranks) here.push_back({rank.rank, rank.pid});
  const bool waits = std::ranges::any_of(gathering.facts.ranks, [](const auto& r) { return r.state == 'D'; });
  const bool has_begun =
      !waits && threads_.run([this, id, here, since = gathering.last_step, host = parts_.host, post = post_,
                              alive = std::weak_ptr(alive_)] {
        Dumps dumps;
        for (const JobRank& rank : here) {
          const auto facts = process::read_process_briefly(host, rank.pid);
          if (!facts) continue;
          const auto root = capture::ProcessRoot::open(host, rank.pid);
          // An older one is of an earlier run of the same rank.
          const Ns not_before = std::max(since, began(host, *facts));
          for (const std::string& prefix : dump_prefixes(*facts)) {
            const std::string path = fmt::format("{}{}", prefix, rank.rank);
            const capture::FileLook look = root.look(path, facts->uid);
            if (!look.written || look.foreign || look.changed < not_before) continue;
            capture::Receipt& file = dumps.files.emplace_back();
            file.pid = rank.pid;
            file.uid = facts->uid;
            file.rank = rank.rank;
            file.file = path;
            file.size_bytes = look.size_bytes;
            break;
          }
        }
        post([this, id, alive, dumps = std::move(dumps)] {
          if (!alive.expired()) found(id, dumps);
        });
      });
  if (has_begun) return;
  gathering.facts.not_known.emplace_back(
      waits ? "dumps of flight recorders were not looked for: a rank waits for a device"
            : "dumps of flight recorders were not looked for: too much is looked at already");
  conclude(id, true);
}

void HangEvidence::found(const std::string& id, const Dumps& dumps) {
  respond::HangFacts& facts = running_.at(id)->facts;
  const Ns last_step = running_.at(id)->last_step;
  if (dumps.files.empty()) {
    facts.not_known.emplace_back(last_step == 0
                                     ? "there is no dump of a flight recorder since its processes began"
                                     : "there is no dump of a flight recorder since the last step");
    return conclude(id, true);
  }
  const auto started = parts_.analyses.start(
      "incidents", dumps.files, std::string(wire::kRecordedHangRequest),
      [this, id, alive = std::weak_ptr(alive_)](const Result<std::string>& text) {
        if (alive.expired()) return;
        respond::HangFacts& to = running_.at(id)->facts;
        auto answer = text ? wire::read_recorded_hang(*text) : tl::unexpected(text.error());
        if (!answer) {
          to.not_known.push_back("dumps of flight recorders: " + to_printable(answer.error().message));
        } else {
          if (!answer->loss.empty()) to.not_known.push_back("dumps of flight recorders: " + answer->loss);
          if (!answer->hang) to.against.emplace_back("flight recorders: no rank waits for another one");
          to.recorded = std::move(answer->hang);
        }
        conclude(id, true);
      });
  if (started) return;
  facts.not_known.push_back("dumps of flight recorders: " + started.error().message);
  conclude(id, true);
}

// What other hosts of the job have said of their ranks.
void HangEvidence::add_others(const std::string& id, respond::HangFacts& facts) const {
  std::set<i64> known;
  for (const respond::HostedRank& rank : facts.ranks) known.insert(rank.rank);
  for (const respond::Condition& condition : parts_.incidents.firing(id)) {
    for (respond::HostedRank& rank : respond::hosted_ranks_of(condition)) {
      if (known.insert(rank.rank).second) facts.ranks.push_back(std::move(rank));
    }
  }
}

void HangEvidence::conclude(const std::string& id, bool is_last) {
  const auto it = running_.find(id);
  if (it == running_.end()) return;
  Gathering& gathering = *it->second;
  respond::HangFacts facts = gathering.facts;
  add_others(id, facts);
  const Ns left = gathering.until - parts_.host.unix_now();
  if (is_last && std::ssize(facts.ranks) < facts.world_size && left > 0 && left <= kOthers)
    return gathering.patience.set(kLookAgain, [this, id] { conclude(id, true); });
  if (!gathering.has_looked)
    facts.not_known.emplace_back("what its ranks here do: it could not be told in time");
  respond::Conclusion conclusion = respond::conclusion_of(facts);
  const Done done = gathering.done;
  if (is_last)
    // Not before the timer that may have called this has returned.
    post_([kept = std::shared_ptr(std::move(it->second))] {}), running_.erase(it);
  done(std::move(conclusion));
}

}  // namespace spotter::agent
