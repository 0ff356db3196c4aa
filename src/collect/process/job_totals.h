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

inline constexpr Total kProcessorTime = {"cpu_ns", "mode", "Processor time in programs and in the kernel."};

std::span<const Field> job_columns();

class JobTotals {
 public:
  // A process is one of them from now on, until it leaves. What it holds is as at the last look.
  void enter(const Who& who, const ProcessTimes& now);
  void add(const Who& who, const ProcessTimes& now, const ProcessTimes& last);
  void leave(const Who& who, const ProcessTimes& last);
  // What it used before it entered.
  void add_used(const Who& who, const ProcessTimes& used);
  // The rows of those that have a process; the others are forgotten.
  Table take();

 private:
  // job, rank, user, container, pod, namespace
  using Key = std::tuple<std::string, std::optional<i64>, std::string, std::string, std::string, std::string>;
  struct Total {
    i64 user_ns = 0, system_ns = 0, minor_faults = 0, major_faults = 0;
    std::optional<i64> read_bytes, written_bytes;
    i64 processes = 0, threads = 0, resident_bytes = 0;
    std::optional<i64> world_size;
  };
  Total& total_of(const Who& who);
  static void add_growths(Total& total, const ProcessTimes& now, const ProcessTimes& last);

  std::map<Key, Total> totals_;
};

}  // namespace spotter::collect
