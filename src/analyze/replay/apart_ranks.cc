#include "analyze/replay/apart_ranks.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/range_text.h"
#include "base/system/file.h"

namespace spotter::analyze {
namespace {

struct Recording {
  u32 rank;  // of the program
  Ns begin, end;
};

// Its steps and calls.
Recording recording_of(const JobProgram& job, u32 r) {
  const RankProgram& rank = job.ranks[r];
  Recording recording{r, rank.at(rank.step_rows[0]), rank.end()};
  for (const SkeletonRow& row : rank.rows()) {
    if (row.op != SkeletonOp::collective) continue;
    recording.begin = std::min(recording.begin, row.start - rank.clock);
    recording.end = std::max(recording.end, row.end - rank.clock);
  }
  return recording;
}

// Those that overlap, one with the next; by time.
std::vector<std::vector<Recording>> recordings_of(const JobProgram& job) {
  std::vector<Recording> all;
  for (u32 r = 0; r < job.ranks.size(); ++r)
    if (job.ranks[r].steps() > 0) all.push_back(recording_of(job, r));
  std::ranges::sort(all, {}, &Recording::begin);
  std::vector<std::vector<Recording>> groups;
  Ns until = 0;
  for (const Recording& one : all) {
    if (groups.empty() || one.begin > until) groups.emplace_back();
    until = groups.back().empty() ? one.end : std::max(until, one.end);
    groups.back().push_back(one);
  }
  return groups;
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

bool leave_out_apart(JobProgram& job) {
  const std::vector<std::vector<Recording>> groups = recordings_of(job);
  if (groups.size() < 2) return false;
  // Of as many the first.
  const auto most = std::ranges::max_element(groups, {}, &std::vector<Recording>::size);
  std::vector<bool> is_out(job.ranks.size());
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (group == most) continue;
    for (const Recording& one : *group) {
      is_out[one.rank] = true;
      if (const auto rank = job.ranks[one.rank].rank) job.apart.insert(*rank);
    }
  }
  const auto count = std::ranges::count(is_out, true);
  job.notes.add("recorded_apart", Severity::loss,
                fmt::format("{} {} recorded at another time than the others, and no part of what was found",
                            named(job, is_out), count == 1 ? "was" : "were"));
  std::vector<RankProgram> kept;
  for (u32 r = 0; r < job.ranks.size(); ++r)
    if (!is_out[r]) kept.push_back(std::move(job.ranks[r]));
  job.ranks = std::move(kept);
  return true;
}

}  // namespace spotter::analyze
