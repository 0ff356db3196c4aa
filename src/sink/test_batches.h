// For tests: batches, and a file of the test's own.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "sink/sink.h"

namespace spotter::sink {

inline constexpr Field kDiskColumns[] = {
    {"device", Type::text, Unit::none, Role::key, "The device."},
    {"read_bytes", Type::integer, Unit::bytes, Role::counter, "Bytes read."},
    {"busy", Type::real, Unit::ratio, Role::value, "How busy."},
};

// A disk and what was read from it.
inline SharedBatch disk_batch(Ns unix_ns, i64 read_bytes, const char* table = "disk") {
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = unix_ns;
  batch->period_ns = 1'000'000'000;
  batch->tables.emplace_back(table, kDiskColumns).append({"sda", read_bytes, 0.5});
  return batch;
}

inline Share share_of(SharedBatch batch) {
  Share share{std::move(batch), {}};
  for (const Table& table : share.batch->tables) share.tables.push_back(&table);
  return share;
}

class Folder {
 public:
  Folder() {
    static int number = 0;
    path_ = std::filesystem::temp_directory_path() / fmt::format("spotter-sink-{}-{}", getpid(), number++);
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path(const std::string& name) const { return path_ / name; }
  std::string text(const std::string& name) const {
    std::ifstream in(path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace spotter::sink
