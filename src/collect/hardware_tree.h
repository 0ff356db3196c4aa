// For tests: a folder with the /proc and /sys of a machine, and a clock that stands still until it is set.
// Removed at the end. One at a time.
#pragma once
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/host.h"

namespace spotter::collect {

class HardwareTree {
 public:
  HardwareTree()
      : root_(std::filesystem::temp_directory_path() / fmt::format("spotter-collect-{}", getpid())) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    now_ = 0;
  }
  ~HardwareTree() { std::filesystem::remove_all(root_); }
  HardwareTree(const HardwareTree&) = delete;
  HardwareTree& operator=(const HardwareTree&) = delete;

  // The files of a recorded machine of tests/fixtures/machines.
  bool unpack(const std::string& machine) const {
    return std::system(fmt::format("tools/machine unpack {} {}", machine, root_.string()).c_str()) == 0;
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void link(const std::string& path, const std::string& target) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::filesystem::create_symlink(target, root_ / path);
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(root_ / path); }
  void set_clock(Ns now) const { now_ = now; }

  Host host() const {
    Host host = Host::at(root_.string());
    host.steady_now = [] { return now_; };
    return host;
  }

 private:
  static inline Ns now_ = 0;
  std::filesystem::path root_;
};

}  // namespace spotter::collect
