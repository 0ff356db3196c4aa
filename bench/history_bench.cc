// history_bench FOLDER [SECONDS]: what a history costs: a made-up machine's day (made_up_host.h), a batch
// each second. Prints one JSON object: bytes a sample of the finest tier and of all tiers together, file and
// page overhead included; processor time of append() and of its longest call; the time of queries; what it
// adds to the resident memory. A sample is a value of a metric at a second. The answer is checked first: the
// last hour comes back as it was recorded, value by value.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/system/host.h"
#include "base/time.h"
#include "bench/made_up_host.h"
#include "store/history_query.h"

namespace spotter::bench {
namespace {

using store::History;
using store::HistoryOptions;
using store::HistoryQuery;

constexpr u64 kSeed = 42;

Ns cpu_now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

i64 resident_bytes() {
  std::ifstream file("/proc/self/statm");
  i64 all = 0, resident = 0;
  file >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

i64 file_bytes(const std::string& path) { return static_cast<i64>(std::filesystem::file_size(path)); }

// A number that depends on every value and its place.
u64 digest(u64 before, const Value& value) {
  u64 bits = 0;
  if (const i64* whole = std::get_if<i64>(&value)) bits = static_cast<u64>(*whole);
  if (const double* real = std::get_if<double>(&value)) bits = static_cast<u64>(*real * 1000);
  if (const auto* text = std::get_if<std::string_view>(&value)) bits = std::hash<std::string_view>()(*text);
  return before * 6364136223846793005 + bits;
}

struct Recorded {
  i64 samples = 0;
  Ns cpu = 0, longest = 0, last_unix = 0;
  i64 resident = 0;
  u64 digest = 0;  // of table cpu over the last hour
};

Result<Recorded> record(store::History& history, i64 seconds) {
  bench::MadeUpHost host(kSeed);
  Recorded done;
  for (i64 second = 0; second < seconds; ++second) {
    const Batch batch = host.next();
    const Ns before = cpu_now();
    TRY(history.append(batch));
    const Ns used = cpu_now() - before;
    done.cpu += used;
    done.longest = std::max(done.longest, used);
    done.last_unix = batch.unix_ns;
    if (second == seconds - 1) done.resident = resident_bytes();
    if (second < seconds - 3600) continue;
    const Table& cpu = batch.tables[0];
    for (size_t i = 0; i < cpu.columns(); ++i) done.digest = digest(done.digest, cpu.at(0, i));
  }
  done.samples = seconds * host.series();
  return done;
}

Result<void> check(store::History& history, const Recorded& done, i64 seconds) {
  const Ns span = std::min<i64>(seconds, 3600) * kSecond;
  TRY_ASSIGN(const std::vector<Table> tables,
             store::query(history, {.from_unix_ns = done.last_unix - span + kSecond / 2,
                                    .to_unix_ns = done.last_unix + 1,
                                    .selection = {.metrics = {"cpu_*"}}}));
  u64 sum = 0;
  for (const Table& table : tables) {
    if (table.name() != "cpu") continue;
    for (size_t row = 0; row < table.rows(); ++row) {
      for (size_t i = 1; i < table.columns(); ++i) sum = digest(sum, table.at(row, i));
    }
  }
  if (sum != done.digest) return fail(Code::internal, "the history does not give back what was recorded");
  return {};
}

Result<double> query_ms(store::History& history, const store::HistoryQuery& query, size_t& rows) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const Ns before = steady_clock_now();
    TRY_ASSIGN(const std::vector<Table> tables, store::query(history, query));
    best = std::min(best, static_cast<double>(steady_clock_now() - before) / 1e6);
    rows = 0;
    for (const Table& table : tables) rows += table.rows();
  }
  return best;
}

Result<void> run(const std::string& folder, i64 seconds) {
  const std::string fine_path = folder + "/fine.db", path = folder + "/tiers.db";
  for (const std::string& file : {fine_path, path}) std::filesystem::remove(file);
  (void)bench::MadeUpHost(kSeed).next();  // what the host itself needs
  const i64 resident = resident_bytes();
  TRY_ASSIGN(auto history, store::History::open({.path = path}));
  TRY_ASSIGN(const Recorded done, record(*history, seconds));
  TRY(check(*history, done, seconds));

  const store::HistoryQuery hour{.from_unix_ns = done.last_unix - kHour + kSecond,
                                 .to_unix_ns = done.last_unix + 1,
                                 .selection = {.metrics = {"cpu_*"}}};
  store::HistoryQuery all_hour = hour, day = hour;
  all_hour.selection = {};
  day.from_unix_ns = done.last_unix - 24 * kHour;
  size_t hour_rows = 0, all_rows = 0, day_rows = 0;
  TRY_ASSIGN(const double hour_ms, query_ms(*history, hour, hour_rows));
  TRY_ASSIGN(const double all_ms, query_ms(*history, all_hour, all_rows));
  TRY_ASSIGN(const double day_ms, query_ms(*history, day, day_rows));
  history.reset();

  // All of the day in the finest tier.
  store::HistoryOptions fine{.path = fine_path, .most_bytes = i64{4} << 30};
  fine.tiers = {{kSecond, 48 * kHour, kMinute}};
  TRY_ASSIGN(history, store::History::open(fine));
  TRY_ASSIGN(const Recorded fine_done, record(*history, seconds));
  TRY(check(*history, fine_done, seconds));
  history.reset();
  const i64 samples = done.samples;

  const double minutes = static_cast<double>(seconds) / 60;
  fmt::print(
      "{{\"seconds\": {}, \"series\": {}, \"samples\": {}, \"fine_bytes\": {}, \"fine_bytes_per_sample\": {:.3f}, "
      "\"tiers_bytes\": {}, \"cpu_ms_per_minute\": {:.2f}, \"longest_append_ms\": {:.1f}, "
      "\"added_resident_bytes\": {}, \"query_cpu_1h_ms\": {:.1f}, \"query_cpu_1h_rows\": {}, "
      "\"query_all_1h_ms\": {:.1f}, \"query_all_1h_rows\": {}, \"query_cpu_1d_ms\": {:.1f}, "
      "\"query_cpu_1d_rows\": {}}}\n",
      seconds, samples / seconds, samples, file_bytes(fine_path),
      static_cast<double>(file_bytes(fine_path)) / static_cast<double>(samples), file_bytes(path),
      static_cast<double>(done.cpu) / 1e6 / minutes, static_cast<double>(done.longest) / 1e6,
      done.resident - resident, hour_ms, hour_rows, all_ms, all_rows, day_ms, day_rows);
  return {};
}

}  // namespace
}  // namespace spotter::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: history_bench FOLDER [SECONDS]\n");
    return 2;
  }
  const auto status = spotter::bench::run(argv[1], argc > 2 ? std::atoll(argv[2]) : 86400);
  if (status) return 0;
  fmt::print(stderr, "history_bench: {}\n", status.error().message);
  return 1;
}
