#include "analyze/replay/missed_calls.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/communication/collective_names.h"

namespace spotter::analyze {
namespace {

// Recordings end a little later than the spans that they cut off.
constexpr Ns kCut = 1'000'000;

// Of a group, by the ranks that have any of its calls.
using LastStarts = std::map<u32, Ns>;

std::string_view group_of(const JobProgram& job, const JobCall& call) {
  const Member& first = job.members_of(call)[0];
  return job.ranks[first.rank].skeleton.strings[job.row(first).group];
}

bool is_of_all(const JobProgram& job, const JobCall& call) {
  const Member& first = job.members_of(call)[0];
  return waits_for_all(job.ranks[first.rank].skeleton.strings[job.row(first).name]);
}

// The only one of them without this call.
std::pair<u32, Ns> left_out(const LastStarts& last, std::span<const Member> members) {
  std::vector<u32> have;
  for (const Member& m : members) have.push_back(m.rank);
  std::ranges::sort(have);
  auto has = have.begin();
  auto rank = last.begin();
  while (has != have.end() && *has == rank->first) ++has, ++rank;
  return *rank;
}

std::map<std::string_view, LastStarts> last_starts(const JobProgram& job) {
  std::map<std::string_view, LastStarts> groups;
  for (const JobCall& call : job.calls) {
    if (!is_of_all(job, call)) continue;
    LastStarts& last = groups[group_of(job, call)];
    for (const Member& m : job.members_of(call)) {
      const auto [of_rank, is_first] = last.try_emplace(m.rank, job.start(m));
      if (!is_first) of_rank->second = std::max(of_rank->second, job.start(m));
    }
  }
  return groups;
}

bool is_cut_off(const RankProgram& rank, Ns end) {
  return rank.recorded_until && end + kCut >= *rank.recorded_until;
}

// Whether it waits itself: in a call of another group, or of which no trace has the one who does not come.
bool is_in_a_call(const RankProgram& rank) {
  return std::ranges::any_of(rank.rows(), [&](const SkeletonRow& row) {
    return row.op == SkeletonOp::collective && is_cut_off(rank, row.end);
  });
}

}  // namespace

void set_missed(JobProgram& job) {
  if (std::ranges::none_of(job.ranks,
                           [](const RankProgram& rank) { return rank.recorded_until.has_value(); }))
    return;
  const std::map<std::string_view, LastStarts> groups = last_starts(job);
  for (u32 c = 0; c < job.calls.size(); ++c) {
    if (!is_of_all(job, job.calls[c])) continue;
    const auto members = job.members_of(job.calls[c]);
    const LastStarts& last = groups.at(group_of(job, job.calls[c]));
    // Who of two does not come, or comes later, nobody can tell.
    if (members.size() + 1 != last.size()) continue;
    // What has ended without a rank was none of its calls.
    if (!std::ranges::all_of(members,
                             [&](const Member& m) { return is_cut_off(job.ranks[m.rank], job.row(m).end); }))
      continue;
    Ns first_start = kMaxTime, last_start = -kMaxTime, end = -kMaxTime;
    for (const Member& m : members) {
      first_start = std::min(first_start, job.start(m));
      last_start = std::max(last_start, job.start(m));
      end = std::max(end, job.end(m));
    }
    const auto [r, start] = left_out(last, members);
    const RankProgram& rank = job.ranks[r];
    if (!rank.recorded_until || start >= first_start || is_in_a_call(rank)) continue;
    const Ns waited = std::min(*rank.recorded_until - rank.clock, end) - last_start;
    if (waited > 0) job.missed.push_back({r, c, waited});
  }
}

}  // namespace spotter::analyze
