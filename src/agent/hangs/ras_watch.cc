#include "agent/hangs/ras_watch.h"

#include <sys/stat.h>

#include <utility>

#include "agent/hangs/ras_table.h"
#include "base/text/utf8.h"
#include "process/process_facts.h"
#include "process/process_stat.h"

namespace spotter::agent {
namespace {

constexpr Ns kKept = 10 * kMinute;  // how long it was asked is known, so that it is not asked too often
constexpr Ns kRetry = kMinute;      // where nobody listens

// Ports are those of a network namespace. Where it may not be looked at, who listens is known by his user.
bool is_of_other_network(const Host& host, i64 pid) {
  struct stat own, theirs;
  if (::stat("/proc/self/ns/net", &own) != 0) return false;
  if (::stat(fmt::format("{}/{}/ns/net", host.proc, pid).c_str(), &theirs) != 0) return false;
  return own.st_ino != theirs.st_ino || own.st_dev != theirs.st_dev;
}

}  // namespace

// What is known already is taken first: to read the environment of a process that hangs in a driver may hang.
Result<RasWatch::Place> RasWatch::place_of(const std::string& name, const std::vector<JobRank>& here) const {
  for (const JobRank& rank : here) {
    const auto known = parts_.registry.all().find(rank.pid);
    if (known == parts_.registry.all().end() || known->second.identity.job != name) continue;
    if (is_of_other_network(parts_.host, rank.pid)) continue;
    const auto& environment = known->second.facts.environment;
    const auto said = environment.find("NCCL_RAS_ADDR");
    return Place{.address = said == environment.end() ? kUsualRasAddress : said->second,
                 .uid = known->second.facts.uid};
  }
  for (const JobRank& rank : here) {
    const auto stat = process::read_stat(parts_.host, rank.pid);
    if (!stat || stat->has_ended || stat->state == 'D' || is_of_other_network(parts_.host, rank.pid))
      continue;
    const auto facts = process::read_process_briefly(parts_.host, rank.pid);
    if (facts) return Place{.address = ras_address_of(parts_.host, rank.pid), .uid = facts->uid};
  }
  return fail(Code::not_found,
              "the job's network is another one than the agent's, or none of its ranks is here");
}

void RasWatch::pass(const std::map<std::string, Suspected>& suspected) {
  const Ns now = parts_.loop.now();
  for (const auto& [name, what] : suspected) {
    Job& job = jobs_[name];
    job.suspected = now;
    if (!job.ras) job.ras = std::make_unique<AskRas>(parts_.loop);
    if (now >= job.next && job.ras->may_ask(now)) ask(name, job, what);
  }
  std::erase_if(jobs_, [&](const auto& job) { return now - job.second.suspected > kKept; });
}

void RasWatch::ask(const std::string& name, Job& job, const Suspected& suspected) {
  const auto place = place_of(name, ranks_of(parts_.identities, name));
  const auto asked = place ? job.ras->ask(place->address, place->uid,
                                          [this, name, suspected](Result<wire::RasAnswer> answer) {
                                            answered(name, suspected, std::move(answer));
                                          })
                           : tl::unexpected(place.error());
  if (!asked) answered(name, suspected, tl::unexpected(asked.error()));
}

void RasWatch::answered(const std::string& name, const Suspected& suspected, Result<wire::RasAnswer> answer) {
  const auto it = jobs_.find(name);
  if (it == jobs_.end()) return;
  Job& job = it->second;
  if (!answer) {
    job.said = {.refusal = to_printable(answer.error().message)};
    job.next = parts_.loop.now() + kRetry;
    return;
  }
  const std::vector<JobRank> here = ranks_of(parts_.identities, name);
  Batch batch{.unix_ns = parts_.host.unix_now(), .by = "nccl_ras"};
  batch.tables.push_back(ras_table(*answer, {.name = name,
                                             .user = suspected.user,
                                             .world_size = suspected.world_size,
                                             .host = parts_.host_name,
                                             .here = here}));
  const bool is_even = !answer->communicators.empty() && batch.tables[0].rows() == 1;
  job.said = {.has_answered = true, .is_even = is_even};
  parts_.take(batch);
}

RasWatch::Said RasWatch::said(const std::string& job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? Said() : it->second.said;
}

}  // namespace spotter::agent
