// For the tests of this folder: a folder of their own, and tables to remember.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "base/time.h"
#include "store/history_query.h"

namespace spotter::store {

inline constexpr Ns kStart = 1'700'000'000'000'000'000 / kHour * kHour;  // a full hour

class TestFolder {
 public:
  TestFolder() {
    // Syncing is free in memory, and these tests do much of it.
    const std::filesystem::path memory = "/dev/shm";
    const std::filesystem::path root =
        ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
    std::string pattern = (root / "spotter_store_XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  std::string file(const std::string& name = "history.db") const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline const Field kDisk[] = {
    {"device", Type::text, Unit::none, Role::key, "The device."},
    {"read_bytes", Type::integer, Unit::bytes, Role::counter, "Read."},
    {"queue", Type::integer, Unit::count, Role::value, "Requests that wait."},
    {"busy_ratio", Type::real, Unit::ratio, Role::value, "Share of the time."},
    {"scheduler", Type::text, Unit::none, Role::detail, "Its scheduler."},
};

// Two disks; `number` is how many batches were before.
inline Table disk_table(i64 number) {
  Table table("disk", kDisk);
  table.append({"sda", 4096 * number * number, number % 7, 0.25 * static_cast<double>(number % 5), "none"});
  table.append({"nvme0n1", 512 * number, Value{}, 0.5, number % 100 < 50 ? "none" : "mq-deadline"});
  return table;
}

inline Batch disk_batch(i64 number, Ns time) {
  Batch batch{time, kSecond, {}};
  batch.tables.push_back(disk_table(number));
  return batch;
}

// One batch each second.
inline void append_seconds(History& history, i64 from, i64 to, Ns start = kStart) {
  for (i64 i = from; i < to; ++i) {
    const Result<void> status = history.append(disk_batch(i, start + i * kSecond));
    CHECK(status.has_value());
  }
}

inline std::unique_ptr<History> open_history(HistoryOptions options) {
  Result<std::unique_ptr<History>> history = History::open(std::move(options));
  if (!history) fmt::print(stderr, "{}\n", history.error().message);
  CHECK(history.has_value());
  return std::move(*history);
}

inline HistoryQuery everything() { return {.from_unix_ns = 0, .to_unix_ns = 4 * kStart}; }

// Ends the test where the query fails.
inline std::vector<Table> ask(History& history, const HistoryQuery& query) {
  Result<std::vector<Table>> tables = store::query(history, query);
  if (!tables) fmt::print(stderr, "{}\n", tables.error().message);
  CHECK(tables.has_value());
  return std::move(*tables);
}

// Noise, so that it takes room: two columns of 64 random bits.
inline Batch noise_batch(i64 second, std::mt19937_64& random, i64 rows) {
  static const Field schema[] = {{"row", Type::integer, Unit::none, Role::key, ""},
                                 {"a", Type::integer, Unit::none, Role::counter, ""},
                                 {"b", Type::integer, Unit::none, Role::counter, ""}};
  Batch batch{kStart + second * kSecond, kSecond, {}};
  Table& table = batch.tables.emplace_back("noise", schema);
  for (i64 row = 0; row < rows; ++row)
    table.append({row, static_cast<i64>(random()), static_cast<i64>(random())});
  return batch;
}

}  // namespace spotter::store
