#include "analyze/replay/job_calls.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyze/communication/collective_names.h"
#include "analyze/communication/matching.h"
#include "analyze/replay/mix.h"
#include "analyze/replay/unnamed_calls.h"
#include "base/fnv.h"

namespace spotter::analyze {
namespace {

// What rows of one call have in common, hashed.
struct Keyed {
  u64 key;
  Member member;
  bool is_send = false;
  u64 unnumbered = 0;  // of a group's collectives without numbers: what they have in common
};

class Keys {
 public:
  Keys(const RankProgram& rank, u32 index) : rank_(rank), index_(index) {}

  std::vector<Keyed> collect() {
    std::vector<Keyed> keyed;
    u64 step = 0;  // of the job, from 1 on
    u32 own_step = 0;
    for (u32 i = 0; i < rank_.rows().size(); ++i) {
      const SkeletonRow& row = rank_.rows()[i];
      if (row.op == SkeletonOp::step) step = rank_.job_steps[own_step++] + u64{1};
      if (row.op == SkeletonOp::collective && !is_unnamed(rank_, row)) keyed.push_back(key_of(row, i, step));
    }
    return keyed;
  }

 private:
  Keyed key_of(const SkeletonRow& row, u32 i, u64 step) {
    Keyed keyed{.key = 0, .member = {index_, i}};
    const std::string_view name = rank_.skeleton.strings[row.name];
    keyed.is_send = row.peer >= 0 && name == "send";
    if (row.peer >= 0) {
      const auto own = static_cast<u64>(rank_.rank.value_or(-1)), peer = static_cast<u64>(row.peer);
      const u64 pair = keyed.is_send ? mix(own, peer) : mix(peer, own);
      keyed.key = numbered(mix(pair, 2), step);
    } else {
      const u64 group = fnv1a(rank_.skeleton.strings[row.group]);
      const u64 pool = mix(group, fnv1a(name));
      const bool has_number = row.number != kNoSequence;
      if (!has_number && waits_for_all(name)) keyed.unnumbered = mix(pool, 4);
      keyed.key =
          has_number ? numbered(mix(pool, static_cast<u64>(row.number)), 0) : numbered(mix(pool, 3), step);
    }
    return keyed;
  }
  u64 numbered(u64 key, u64 step) {
    key = mix(key, step);
    return mix(key, numbers_[key]++);
  }

  const RankProgram& rank_;
  u32 index_;
  std::unordered_map<u64, u64> numbers_;
};

// From when the last one has come to the end of all: of ends that differ a little the latest.
Ns transfer_of(const JobProgram& job, std::span<const Member> members) {
  Ns last_start = -kMaxTime, end = -kMaxTime;
  for (const Member& m : members) {
    last_start = std::max(last_start, job.start(m));
    end = std::max(end, job.end(m));
  }
  return std::max<Ns>(0, end - last_start);
}

// Whether one of them had ended before another began.
bool are_apart(const JobProgram& job, std::span<Keyed> call) {
  Ns last_start = -kMaxTime, first_end = kMaxTime;
  for (const Keyed& k : call) {
    last_start = std::max(last_start, job.row(k.member).start);
    first_end = std::min(first_end, job.row(k.member).end);
  }
  return first_end < last_start;
}

// Splits by a member, which is sorted by first.
template <class Use>
void for_each_run(std::span<Keyed> all, u64 Keyed::* by, Use&& use) {
  std::ranges::sort(all, {}, [&](const Keyed& k) { return std::tuple(k.*by, k.member.rank, k.member.row); });
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].*by == all[begin].*by) ++end;
    use(all.subspan(begin, end - begin));
  }
}

void match_by_time(const JobProgram& job, std::span<Keyed> pool) {
  std::vector<Run> runs;
  for (size_t i = 0; i < pool.size(); ++i) {
    const SkeletonRow& row = job.row(pool[i].member);
    runs.push_back({.part = pool[i].member.rank, .row = i, .start = row.start, .end = row.end});
  }
  match(runs);
  for (const Run& run : runs) pool[run.row].key = mix(pool[run.row].unnumbered, run.collective);
}

// A recording that begins within a step has fewer of its calls than others have: places tell nothing then.
// Times do, of one host.
void correct_places(const JobProgram& job, std::span<Keyed> all) {
  for_each_run(all, &Keyed::unnumbered, [&](std::span<Keyed> pool) {
    const std::string& host = job.ranks[pool[0].member.rank].host;
    const auto is_there = [&](const Keyed& k) { return job.ranks[k.member.rank].host == host; };
    if (pool[0].unnumbered == 0 || host.empty() || !std::ranges::all_of(pool, is_there)) return;
    bool tell_nothing = false;
    for_each_run(pool, &Keyed::key, [&](std::span<Keyed> call) { tell_nothing |= are_apart(job, call); });
    if (tell_nothing) match_by_time(job, pool);
  });
}

}  // namespace

void match_calls(JobProgram& job) {
  std::vector<Keyed> all;
  for (u32 i = 0; i < job.ranks.size(); ++i) {
    const std::vector<Keyed> keyed = Keys(job.ranks[i], i).collect();
    all.insert(all.end(), keyed.begin(), keyed.end());
  }
  correct_places(job, all);
  std::ranges::sort(
      all, {}, [](const Keyed& k) { return std::tuple(k.key, !k.is_send, k.member.rank, k.member.row); });
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].key == all[begin].key) ++end;
    const auto call = static_cast<u32>(job.calls.size());
    job.calls.push_back({.first_member = static_cast<u32>(begin), .members = static_cast<u32>(end - begin)});
    job.calls.back().is_send = end - begin == 2 && all[begin].is_send;
    for (size_t i = begin; i < end; ++i) {
      job.members.push_back(all[i].member);
      job.ranks[all[i].member.rank].call[all[i].member.row] = call;
    }
  }
}

void set_transfers(JobProgram& job) {
  for (JobCall& call : job.calls) call.transfer = transfer_of(job, job.members_of(call));
  const auto ended_before_receive = [&](const JobCall& call) {
    return call.is_send && job.end(job.members_of(call)[0]) < job.start(job.members_of(call)[1]);
  };
  if (std::ranges::none_of(job.calls, ended_before_receive)) return;
  for (JobCall& call : job.calls) {
    if (!call.is_send) continue;
    const Member &sender = job.members_of(call)[0], &receiver = job.members_of(call)[1];
    call.is_eager = true;
    call.sending = job.end(sender) - job.start(sender);
    call.transfer = std::max<Ns>(0, job.end(receiver) - std::max(job.start(sender), job.start(receiver)));
  }
}

}  // namespace spotter::analyze
