// JobTotals: what the processes of one rank of a job (its workers, too) use together. Counters only grow:
// what a process had used stays when it ends.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "collect/process/identities.h"
#include "collect/process/process_files.h"
#include "table/table.h"

namespace spotter::collect {

std::span<const Field> job_columns();

class JobTotals {
 public:
  // What it has used since `before`.
  void add(const Who& who, const ProcessTimes& now, const ProcessTimes& before);
  void add_unchanged(const Who& who, const ProcessTimes& last);  // it was not looked at this time
  // The rows of those that had a process since the last call; the others are forgotten.
  Table take();

 private:
  // job, rank, user, container, pod, namespace
  using Key = std::tuple<std::string, std::optional<i64>, std::string, std::string, std::string, std::string>;
  struct Total {
    i64 user_ns = 0, system_ns = 0, minor_faults = 0, major_faults = 0;
    std::optional<i64> read_bytes, written_bytes;
    i64 processes = 0, threads = 0, resident_bytes = 0;  // since the last take()
    std::optional<i64> world_size;
  };
  Total& total_of(const Who& who);

  std::map<Key, Total> totals_;
};

}  // namespace spotter::collect
