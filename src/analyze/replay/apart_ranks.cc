#include "analyze/replay/apart_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/range_text.h"
#include "base/system/file.h"
#include "base/time.h"

namespace spotter::analyze {
namespace {

constexpr Ns kClocks = kMinute;  // that those of hosts may be apart

struct Recording {
  u32 rank;  // of the program
  Ns begin, end;
};
using Recordings = std::vector<Recording>;

// Its steps and calls.
Recording recording_of(const JobProgram& job, u32 r) {
  const RankProgram& rank = job.ranks[r];
  Recording recording{r, rank.at(rank.step_rows[0]), rank.end()};
  for (const SkeletonRow& row : rank.rows()) {
    if (row.op != SkeletonOp::collective) continue;
    recording.begin = std::min(recording.begin, row.start);
    recording.end = std::max(recording.end, row.end);
  }
  return recording;
}

// Those that overlap, one with the next; by time.
std::vector<Recordings> together(Recordings all) {
  std::ranges::sort(all, {}, &Recording::begin);
  std::vector<Recordings> groups;
  Ns until = 0;
  for (const Recording& one : all) {
    if (groups.empty() || one.begin > until) groups.emplace_back();
    until = groups.back().empty() ? one.end : std::max(until, one.end);
    groups.back().push_back(one);
  }
  return groups;
}

// How many of all were recorded at about the time of these.
i64 count_near(const Recordings& all, const Recordings& these) {
  Ns begin = kMaxTime, end = -kMaxTime;
  for (const Recording& one : these) {
    begin = std::min(begin, one.begin);
    end = std::max(end, one.end);
  }
  return std::ranges::count_if(
      all, [&](const Recording& one) { return one.begin <= end + kClocks && one.end >= begin - kClocks; });
}

// Per rank. `are_apart`: where nothing tells which time is the job's.
std::vector<bool> apart(const JobProgram& job, bool& are_apart) {
  Recordings all, nameless;
  std::map<std::string_view, Recordings> hosts;
  for (u32 r = 0; r < job.ranks.size(); ++r) {
    if (job.ranks[r].steps() == 0) continue;
    all.push_back(recording_of(job, r));
    (job.ranks[r].host.empty() ? nameless : hosts[job.ranks[r].host]).push_back(all.back());
  }
  std::vector<bool> is_out(job.ranks.size());
  for (const auto& [host, of_host] : hosts) {
    const std::vector<Recordings> groups = together(of_host);
    // Of as many the first.
    const auto kept = std::ranges::max_element(
        groups, {}, [&](const Recordings& group) { return std::pair(count_near(all, group), group.size()); });
    for (auto group = groups.begin(); group != groups.end(); ++group)
      for (const Recording& one : *group) is_out[one.rank] = group != kept;
  }
  const auto is_with_most = [&](const Recording& one) {
    return 2 * count_near(all, {one}) > std::ssize(all);
  };
  if (nameless.empty()) return is_out;
  are_apart = std::ranges::none_of(all, is_with_most);
  if (!are_apart)
    for (const Recording& one : nameless)
      is_out[one.rank] = !is_with_most(one) && count_near(all, {one}) == 1;
  return is_out;
}

std::string named(const JobProgram& job, const std::vector<bool>& is_out) {
  std::set<i64> ranks;
  std::string files;
  for (u32 r = 0; r < job.ranks.size(); ++r) {
    if (!is_out[r]) continue;
    if (const auto rank = job.ranks[r].rank)
      ranks.insert(*rank);
    else
      files += fmt::format("{}{}", files.empty() ? "" : ", ", base_name(job.ranks[r].path));
  }
  if (ranks.empty()) return files;
  return fmt::format("{} {}{}{}", ranks.size() == 1 ? "rank" : "ranks", range_text(ranks),
                     files.empty() ? "" : ", ", files);
}

}  // namespace

void leave_out_apart(JobProgram& job) {
  const std::vector<bool> is_out = apart(job, job.are_apart);
  const auto count = std::ranges::count(is_out, true);
  if (count == 0) return;
  job.notes.add("recorded_apart", Severity::info,
                fmt::format("{} {} recorded at another time than the others, and no part of what was found",
                            named(job, is_out), count == 1 ? "was" : "were"));
  std::vector<RankProgram> kept;
  for (u32 r = 0; r < job.ranks.size(); ++r) {
    if (!is_out[r])
      kept.push_back(std::move(job.ranks[r]));
    else if (const auto rank = job.ranks[r].rank)
      job.apart.insert(*rank);
  }
  job.ranks = std::move(kept);
}

}  // namespace spotter::analyze
