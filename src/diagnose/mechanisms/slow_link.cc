#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyze/replay/unnamed_calls.h"
#include "analyze/replay/usual_links.h"
#include "base/saturated.h"
#include "diagnose/mechanisms/alike.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

using analyze::JobCall;
using analyze::kLargeMessage;
using analyze::kSlowLink;
using analyze::Member;

constexpr std::string_view kArrow = " -> ";  // in the names of what two ranks send

// Groups that do the same: of one size, over as many hosts, with the same operations. Where nobody knows the
// hosts, neighbours in rank are closer to each other than others.
struct Sort {
  size_t ranks, hosts;
  i64 spread;  // of rank numbers, where the hosts are not known
  bool is_send;
  auto operator<=>(const Sort&) const = default;
};

struct Group {
  std::string name;
  std::set<u32> ranks;
  Sort sort{};
  bool knows_hosts = true;               // else nobody knows what joins its ranks
  bool has_absent = false;               // ranks without a file
  std::vector<u32> calls, step_of_call;  // of the job; kNone: in none
  double bytes = 0, time = 0;            // of large messages
  std::vector<double> bytes_by_step, time_by_step;
  double bandwidth() const { return time > 0 ? bytes / time : 0; }  // bytes/ns
};

i64 bytes_of(const JobModel& model, const JobCall& call) {
  return model.job.row(model.job.members_of(call)[0]).count;
}

// Of each rank. Where no trace names its host: ranks are placed host by host, one for each device, so that a
// host ends where the devices' numbers begin again.
std::vector<std::string> hosts_of(const JobModel& model) {
  std::vector<std::string> hosts;
  for (const analyze::RankProgram& rank : model.job.ranks) hosts.push_back(rank.host);
  if (std::ranges::any_of(hosts, [](const std::string& host) { return !host.empty(); })) return hosts;
  std::vector<u32> by_rank = all_ranks(model);
  std::ranges::sort(by_rank, {}, [&](u32 r) { return model.job.ranks[r].rank; });
  i64 host = 0, before = -1;
  for (const u32 r : by_rank) {
    const analyze::RankProgram& rank = model.job.ranks[r];
    if (!rank.rank || rank.streams == 0) return hosts;
    if (rank.device <= std::exchange(before, rank.device)) ++host;
    hosts[r] = std::to_string(host);
  }
  return hosts;
}

// Of the job.
std::vector<u32> step_by_call(const JobModel& model) {
  std::vector<u32> steps(model.job.calls.size(), kNone);
  for (const analyze::RankProgram& rank : model.job.ranks) {
    u32 step = kNone, own = 0;
    for (u32 i = 0; i < rank.rows().size(); ++i) {
      if (rank.rows()[i].op == analyze::SkeletonOp::step) step = rank.job_steps[own++];
      if (rank.call[i] != kNone && steps[rank.call[i]] == kNone) steps[rank.call[i]] = step;
    }
  }
  return steps;
}

std::vector<Group> groups_of(const JobModel& model) {
  std::map<std::string, Group> groups;
  const std::vector<u32> steps = step_by_call(model);
  for (u32 c = 0; c < model.job.calls.size(); ++c) {
    const JobCall& call = model.job.calls[c];
    const auto members = model.job.members_of(call);
    if (members.size() < 2 || bytes_of(model, call) < kLargeMessage || call.transfer <= 0) continue;
    const analyze::Skeleton& skeleton = model.job.ranks[members[0].rank].skeleton;
    std::string name(skeleton.strings[skeleton.rows[members[0].row].group]);
    if (call.is_send) {
      name = fmt::format("{}{}{}", model.job.ranks[members[0].rank].rank.value_or(-1), kArrow,
                         model.job.ranks[members[1].rank].rank.value_or(-1));
    } else if (analyze::is_unnamed(name)) {
      std::vector<u32> ranks;
      for (const Member& m : members) ranks.push_back(m.rank);
      name = fmt::format("{} of ranks {}", name, ranks_text(model, ranks));
    }
    Group& group = groups[name];
    group.name = name;
    group.sort.is_send = call.is_send;
    for (const Member& m : members) group.ranks.insert(m.rank);
    group.has_absent = group.has_absent || call.before != kNone || call.waited > 0;
    group.calls.push_back(c);
    group.step_of_call.push_back(steps[c]);
    group.bytes_by_step.resize(static_cast<size_t>(model.steps));
    group.time_by_step.resize(static_cast<size_t>(model.steps));
    const auto bytes = static_cast<double>(bytes_of(model, call)), time = static_cast<double>(call.transfer);
    group.bytes += bytes;
    group.time += time;
    if (steps[c] < model.steps) {
      group.bytes_by_step[steps[c]] += bytes;
      group.time_by_step[steps[c]] += time;
    }
  }
  const std::vector<std::string> all_hosts = hosts_of(model);
  std::vector<Group> all;
  for (auto& [name, group] : groups) {
    std::set<std::string> hosts;
    for (const u32 r : group.ranks) hosts.insert(all_hosts[r]);
    group.knows_hosts = !hosts.contains("") && !group.has_absent;
    group.sort.ranks = group.ranks.size();
    group.sort.hosts = hosts.size();
    if (!group.knows_hosts)
      group.sort.spread = model.job.ranks[*group.ranks.rbegin()].rank.value_or(0) -
                          model.job.ranks[*group.ranks.begin()].rank.value_or(0);
    all.push_back(std::move(group));
  }
  return all;
}

struct Reference {
  double bandwidth = 0;
  std::string words;
  bool is_of_device = false;
};

std::vector<Reference> references_of(const JobModel& model, const std::vector<Group>& all,
                                     const Group& group) {
  std::vector<Reference> references;
  std::vector<double> peers;
  for (const Group& other : all)
    if (&other != &group && other.sort == group.sort) peers.push_back(other.bandwidth());
  if (peers.size() >= 2) {
    std::ranges::sort(peers);
    references.push_back(
        {peers[peers.size() / 2], fmt::format("{} other groups of its kind move", peers.size())});
  }
  double best = 0;
  for (size_t s = 0; s < group.time_by_step.size(); ++s)
    if (group.time_by_step[s] > 0) best = std::max(best, group.bytes_by_step[s] / group.time_by_step[s]);
  if (best > 0) references.push_back({best, "it moves in its best step"});
  if (!group.sort.is_send && group.sort.hosts == 1 && group.knows_hosts) {
    std::vector<double> inside;
    for (const Group& other : all)
      if (&other != &group && !other.sort.is_send && other.sort.hosts == 1 && other.knows_hosts &&
          other.sort != group.sort)
        inside.push_back(other.bandwidth());
    if (!inside.empty())
      references.push_back({*std::ranges::max_element(inside), "other groups within hosts move"});
  }
  // What one message takes at least would count as bandwidth.
  constexpr double kLargeOnAverage = 8e6;
  const bool are_large = group.bytes >= kLargeOnAverage * static_cast<double>(group.calls.size());
  if (group.sort.is_send || !are_large) return references;
  if (const auto usual = analyze::usual_link(model.job.ranks[*group.ranks.begin()])) {
    // Where nobody knows the hosts each rank may be on one of its own.
    const auto per_host =
        group.knows_hosts ? static_cast<double>(group.sort.ranks) / static_cast<double>(group.sort.hosts) : 1;
    const bool is_inside = group.knows_hosts && group.sort.hosts == 1;
    references.push_back(
        {is_inside ? usual->inside : usual->network * per_host, "such devices usually move", true});
  }
  return references;
}

// Of the job, in which it is slow against a reference, where the others are as they should be; else empty.
std::set<u32> slow_steps(const Group& group, double reference) {
  constexpr double kWell = 0.8;  // of the reference, as the others move together
  std::set<u32> slow;
  double bytes = 0, time = 0;
  for (u32 s = 0; s < group.time_by_step.size(); ++s) {
    if (group.time_by_step[s] <= 0) continue;
    if (group.bytes_by_step[s] < kSlowLink * reference * group.time_by_step[s]) {
      slow.insert(s);
      continue;
    }
    bytes += group.bytes_by_step[s];
    time += group.time_by_step[s];
  }
  return time > 0 && bytes >= kWell * reference * time ? slow : std::set<u32>();
}

// A group that is slow, or one direction of two ranks.
struct Slow {
  const Group* group;
  Reference reference;
  bool is_confirmed = false;  // by another reference
  std::set<u32> steps = {};   // of the job; empty: all
  double bandwidth = 0;       // in these
  Ns transfer = 0;
  std::vector<std::pair<u32, Ns>> as_reference = {};  // its calls, and what they would take
};

std::optional<Slow> slow_group(const JobModel& model, const std::vector<Group>& all, const Group& group) {
  std::vector<Reference> references;
  for (Reference& reference : references_of(model, all, group))
    if (group.bandwidth() < kSlowLink * reference.bandwidth) references.push_back(std::move(reference));
  if (references.empty()) return {};
  const Reference best = *std::ranges::max_element(references, {}, &Reference::bandwidth);
  Slow slow{.group = &group,
            .reference = best,
            .is_confirmed = references.size() > 1,
            .steps = slow_steps(group, best.bandwidth)};
  const Ns round = group.sort.hosts == 1 && group.knows_hosts ? analyze::kRound : analyze::kRoundOfHosts;
  double bytes = 0;
  for (size_t i = 0; i < group.calls.size(); ++i) {
    if (!slow.steps.empty() && !slow.steps.contains(group.step_of_call[i])) continue;
    const JobCall& call = model.job.calls[group.calls[i]];
    const auto size = static_cast<double>(bytes_of(model, call));
    bytes += size;
    slow.transfer = add_saturated(slow.transfer, call.transfer);
    slow.as_reference.emplace_back(group.calls[i], static_cast<Ns>(size / best.bandwidth) + round);
  }
  slow.bandwidth = bytes / static_cast<double>(slow.transfer);
  return slow;
}

bool are_directions_of_one(const Slow& a, const Slow& b) {
  return a.group->sort.is_send && b.group->sort.is_send && a.group->ranks == b.group->ranks &&
         a.steps == b.steps;
}

std::string link_text(const JobModel& model, const Group& group, bool has_both) {
  const std::string hosts =
      group.knows_hosts ? fmt::format(" ({} host{})", group.sort.hosts, group.sort.hosts == 1 ? "" : "s")
                        : "";
  const size_t arrow = group.name.find(kArrow);
  if (group.sort.is_send && !has_both)
    return fmt::format("from rank {} to rank {}{}", group.name.substr(0, arrow),
                       group.name.substr(arrow + kArrow.size()), hosts);
  return fmt::format("of ranks {}{}", ranks_text(model, {group.ranks.begin(), group.ranks.end()}), hosts);
}

// Of one group, or of two that are one link's directions.
Candidate candidate_of(const JobModel& model, const std::vector<Slow>& link) {
  const Slow& worst = *std::ranges::min_element(link, {}, &Slow::bandwidth);
  const Group& group = *worst.group;
  Candidate c;
  c.ranks = {group.ranks.begin(), group.ranks.end()};
  c.group = group.name;
  c.subject = group.name;
  for (const u32 step : worst.steps) c.steps.push_back(model.job.step_numbers[step]);
  const std::string steps =
      c.steps.empty() ? ""
                      : fmt::format(" in {} {}", c.steps.size() == 1 ? "step" : "steps", steps_text(c.steps));
  c.what = fmt::format("The link {} moves {:.1f} GB/s{}, where {} {:.1f} GB/s",
                       link_text(model, group, link.size() > 1), worst.bandwidth, steps,
                       worst.reference.words, worst.reference.bandwidth);
  c.is_confirmed = std::ranges::any_of(link, &Slow::is_confirmed);
  if (!c.is_confirmed && worst.reference.is_of_device)
    c.against = "no other group of the job tells: the network may be just that";
  c.most = 0;
  std::vector<std::pair<u32, Ns>> as_reference;
  for (const Slow& slow : link) {
    if (slow.group != &group) c.group += ", " + slow.group->name;
    c.most = add_saturated(c.most, slow.transfer);
    as_reference.insert(as_reference.end(), slow.as_reference.begin(), slow.as_reference.end());
  }
  c.undo = [as_reference](analyze::Scenario& s) {
    for (const auto& [call, transfer] : as_reference) s.transfer[call] = std::min(s.transfer[call], transfer);
  };
  return c;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  const std::vector<Group> all = groups_of(model);
  std::vector<Slow> slow;
  for (const Group& group : all)
    if (auto one = slow_group(model, all, group)) slow.push_back(std::move(*one));
  std::vector<Candidate> found;
  for (const std::vector<Slow>& link : diagnose::groups_of(std::move(slow), are_directions_of_one))
    found.push_back(candidate_of(model, link));
  return found;
}

}  // namespace

const Mechanism kSlowLink = {
    .name = "slow_link",
    .summary =
        "A group of ranks moves messages of 1 MB or more at under 60 % of a reference: what two or more groups of its size and number of hosts move, "
        "what it moves itself in its best step (where only some steps are slow, these are told), what other groups within hosts move, or what the device's link does. Bus "
        "bandwidth, of transfers alone: waiting for a rank is none.",
    .remedy =
        "Look at that link: spotter metrics --metric 'rdma_*,network_*,gpu_nvlink_*' of its hosts (errors, retransmissions, rate, a "
        "missing rail), NCCL_DEBUG=INFO for the path that NCCL took.",
    .evidence = "--table collectives",
    .candidates = find_candidates,
    .compares_ranks = true,
};

}  // namespace spotter::diagnose
