// For tests of GPU collectors: a machine whose vendors' libraries are fakes (tests/fakes), a scenario that
// they follow, and a clock that stands still.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "collect/collector.h"
#include "collect/process/identities.h"
#include "collect/test_fakes.h"

namespace spotter::collect::test {

inline Ns clock_ns = 1'700'000'000'000'000'000;
inline Ns clock_now() { return clock_ns; }

class GpuMachine {
 public:
  GpuMachine()
      : folder_(std::filesystem::temp_directory_path() /
                ("spotter_gpu_" + std::to_string(getpid()) + "_" + std::to_string(++made_))) {
    std::filesystem::create_directories(folder_);
    host.libraries = fakes();
    host.sys = folder_ / "sys";
    host.proc = folder_ / "proc";
    host.steady_now = host.unix_now = clock_now;
    scenario("");
    setenv("SPOTTER_FAKE_SCENARIO", (folder_ / "scenario").c_str(), 1);
  }
  ~GpuMachine() { std::filesystem::remove_all(folder_); }

  void scenario(const std::string& text) { std::ofstream(folder_ / "scenario") << text; }
  void file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  // A process of a Slurm job, as /proc shows it.
  void process(i64 pid, const std::string& job, int rank) {
    using namespace std::string_literals;
    const std::string folder = "proc/" + std::to_string(pid);
    file(folder + "/stat",
         std::to_string(pid) + " (python) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 9 0 987654 1 2 3");
    file(folder + "/environ",
         "SLURM_JOB_ID=" + job + "\0RANK="s + std::to_string(rank) + "\0WORLD_SIZE=8\0LOCAL_RANK=0\0"s);
  }
  void link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::filesystem::create_symlink(target, folder_ / path);
  }
  std::string path(const std::string& path) const { return folder_ / path; }
  void remove(const std::string& path) { std::filesystem::remove_all(folder_ / path); }

  Host host;

 private:
  static inline int made_ = 0;
  std::filesystem::path folder_;
};

// A sample, one second after the one before; a table of it, empty where there is none.
struct Sampled {
  std::vector<Table> tables;
  const Table& table(std::string_view name) const {
    static const Table kNothing;
    for (const Table& one : tables) {
      if (one.name() == name) return one;
    }
    return kNothing;
  }
  Value at(std::string_view table_name, size_t row, std::string_view column) const {
    const Table& t = table(table_name);
    return row < t.rows() ? t.at(row, t.column(column)) : Value();
  }
  std::string text(std::string_view table_name, size_t row, std::string_view column) const {
    const Value value = at(table_name, row, column);
    const auto* view = std::get_if<std::string_view>(&value);
    return view ? std::string(*view) : "(null)";
  }
  // -1: null.
  i64 integer(std::string_view table_name, size_t row, std::string_view column) const {
    const Value value = at(table_name, row, column);
    if (const auto* flag = std::get_if<bool>(&value)) return *flag;
    const auto* number = std::get_if<i64>(&value);
    return number ? *number : -1;
  }
  double real(std::string_view table_name, size_t row, std::string_view column) const {
    const Value value = at(table_name, row, column);
    const auto* number = std::get_if<double>(&value);
    return number ? *number : -1;
  }
};

inline Sampled sample(Collector& collector, Ns later = 1'000'000'000) {
  clock_ns += later;
  auto tables = collector.sample();
  return tables ? Sampled{std::move(*tables)} : Sampled();
}

}  // namespace spotter::collect::test
