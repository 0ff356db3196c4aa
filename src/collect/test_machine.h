// For tests: the /proc and /sys of a machine, one of tests/fixtures/machines or one that the test writes, in
// a folder of its own, which goes with it. Its clock begins at 0: one machine at a time.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system/command.h"
#include "base/system/host.h"

namespace spotter::collect {

class TestMachine {
 public:
  // Empty name: a folder with nothing in it.
  explicit TestMachine(const std::string& name = "") {
    now_ = 0;
    // In memory where that is possible: the tests write many thousand times.
    const std::filesystem::path memory = "/dev/shm";
    const bool has_memory = access(memory.c_str(), W_OK) == 0;
    std::string pattern =
        ((has_memory ? memory : std::filesystem::temp_directory_path()) / "spotter-machine-XXXXXX").string();
    CHECK(mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
    if (!name.empty()) CHECK(run_command({"tools/machine", "unpack", name, root_}));
  }
  ~TestMachine() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  TestMachine(const TestMachine&) = delete;
  TestMachine& operator=(const TestMachine&) = delete;

  // Its clock stands still until it is moved.
  Host host() const {
    Host host = Host::at(root_);
    host.steady_now = [] { return now_; };
    return host;
  }
  void pass(Ns time) { now_ += time; }
  void set_clock(Ns now) const { now_ = now; }

  std::string path(const std::string& file) const { return root_ + "/" + file; }
  std::string read(const std::string& file) const {
    std::ifstream in(path(file), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // In place: whoever has the file open sees it.
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(file)).parent_path());
    std::ofstream(path(file), std::ios::binary | std::ios::app).close();
    std::fstream(path(file), std::ios::binary | std::ios::in | std::ios::out) << text;
    cut(file, text.size());
  }
  void link(const std::string& file, const std::string& target) const {
    std::filesystem::create_directories(std::filesystem::path(path(file)).parent_path());
    std::filesystem::create_symlink(target, path(file));
  }
  void cut(const std::string& file, size_t bytes) const { std::filesystem::resize_file(path(file), bytes); }
  void remove(const std::string& file) const { std::filesystem::remove_all(path(file)); }
  // All files, without links.
  std::vector<std::string> files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      if (entry.is_regular_file() && !entry.is_symlink())
        files.push_back(entry.path().string().substr(root_.size() + 1));
    }
    std::ranges::sort(files);
    return files;
  }

 private:
  std::string root_;
  static inline Ns now_ = 0;
};

}  // namespace spotter::collect
