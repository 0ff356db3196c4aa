#include "respond/logs/job_lines.h"

#include <algorithm>
#include <set>

namespace spotter::respond {
namespace {

constexpr size_t kMostLines = 32, kMostJobs = 256;
constexpr Ns kKept = kHour;

bool is_unusual(std::string_view kind) { return kind == "new_line" || kind == "more_often"; }

}  // namespace

void JobLines::see(const Sample& sample) {
  if (sample.table.name() != "log_event") return;
  std::erase_if(jobs_, [&](const auto& job) { return sample.at - job.second.back().at > kKept; });
  rows_.each(sample, [&](LogRow row) {
    if (row.job.empty() || (jobs_.size() >= kMostJobs && !jobs_.contains(row.job))) return;
    std::deque<Line>& lines = jobs_[row.job];
    lines.push_back({.at = sample.at, .row = std::move(row)});
    if (lines.size() > kMostLines) lines.pop_front();
  });
}

std::vector<LogLine> JobLines::since(const std::string& job, Ns from) const {
  std::vector<LogLine> shown;
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return shown;
  std::set<std::string_view> kinds;
  for (const bool are_fatal : {true, false}) {
    for (const Line& line : it->second) {
      const LogRow& row = line.row;
      if (line.at < from || shown.size() >= kShown || is_unusual(row.kind) == are_fatal) continue;
      if (are_fatal && !kinds.insert(row.kind).second) continue;
      shown.push_back({.text = row.text.empty() ? row.kind + ": not everybody may read it" : row.text,
                       .file = row.file,
                       .offset = row.offset,
                       .rank = row.rank});
    }
  }
  return shown;
}

}  // namespace spotter::respond
