// Dynolog's records, for those who parse the log of its --use_JSON: its names, units and forms, from our
// tables.
//
//   time = 2026-11-22T11:00:00.123Z data = {"cpu_i":"93.100","cpu_u_ms":5320,...}
//
// Keys are sorted, whole numbers are numbers, all others texts with three decimals. One record of the machine
// (cpu, network, uptime), one of the processors' counters (pmu), one of each GPU (gpu, gpu_activity). What
// Dynolog gives as the change over an interval is that between two batches; a counter that began anew gives
// no number.
//
// Told apart from Dynolog on purpose: the time is UTC, as its Z says, and that of the sample, in every
// record; mips and mega_cycles_per_second are of the interval, not since the start; a new device has no
// numbers, not zeros; there is no prefix of glog before "time"; numbers are not rounded to single precision.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sink/sink.h"

namespace spotter::sink {

// Tables and columns that are read.
std::vector<std::pair<const char*, const char*>> dynolog_columns();

class DynologNames {
 public:
  // Each batch once and in order. Lines, with their ends; empty where there is nothing to say.
  std::string lines(const Share& share);

 private:
  using Record = std::map<std::string, std::string>;  // values as JSON
  using Counters = std::map<std::string, i64>;

  // What a counter has grown by since the last batch with this table.
  class Changes {
   public:
    explicit Changes(Counters& before) : before_(before) {}
    ~Changes() { before_ = std::move(now_); }
    Changes(const Changes&) = delete;
    Changes& operator=(const Changes&) = delete;
    std::optional<i64> of(const std::string& counter, const Value& value);

   private:
    Counters &before_, now_;
  };

  static void read_gpus(const Table& table, std::map<i64, Record>& gpus);  // by index
  void read_uptime(const Table& table, Ns time);
  void read_network(const Table& table);
  void read_cpu(const Table& table);
  Record pmu(const Table& table, Ns time);

  Record machine_;  // what waits for the processors' times
  Counters network_, cpu_, pmu_;
  Ns pmu_time_ = 0;
  std::optional<Ns> uptime_;  // when it was looked at last, which may be more seldom than records are
  Ns uptime_time_ = 0;
};

}  // namespace spotter::sink
