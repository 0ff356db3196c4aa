#include "respond/job_writes.h"

namespace spotter::respond {

void JobWrites::see(const Sample& sample) {
  columns_.find(sample.table);
  std::map<std::string, i64, std::less<>> totals;
  for (size_t row = 0; row < sample.table.rows(); ++row)
    totals[std::string(columns_.text(row, 0))] += columns_.integer(row, 1).value_or(0);
  std::erase_if(jobs_, [&](const auto& job) { return !totals.contains(job.first); });
  for (const auto& [job, total] : totals) add(jobs_[job], sample.at, total);
}

// A process's bytes are asked for at every tenth sample: the rate is that of ten of them.
void JobWrites::add(Job& job, Ns at, i64 total) const {
  if (job.at != 0 && at - job.at < 10 * kSecond) return;
  if (job.at != 0) {
    const double seconds = static_cast<double>(at - job.at) / static_cast<double>(kSecond);
    if (static_cast<double>(total - job.total) / seconds >= much_) job.last_busy = at;
  }
  job.at = at;
  job.total = total;
}

Ns JobWrites::last(const std::string& job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? 0 : it->second.last_busy;
}

}  // namespace spotter::respond
