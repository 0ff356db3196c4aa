// Captures of processes that a test makes up: folders as /proc has them, and a directory that they write to.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "capture/captures.h"
#include "kineto/message.h"

namespace spotter::capture {

namespace fs = std::filesystem;

inline constexpr Times kStart{100 * kSecond, 1'700'000'000'000};
inline constexpr const char* kTrace = R"({"traceEvents": [{"ph": "X", "name": "mm"}]})";
inline constexpr const char* kNoEvents = R"({"traceEvents": [{"ph": "M", "name": "process_name"}]})";
inline constexpr i32 kIdle = 3, kAtWork = 1;  // types of polls, up to PyTorch 2.13

inline Times at(Ns after) { return {kStart.steady + after, kStart.unix_ms + after / kMillisecond}; }

class CapturesTest : public testing::Test {
 protected:
  CapturesTest() : root_(fs::path("/tmp") / fmt::format("sp_captures_{}", getpid())) {
    fs::create_directories(root_ / "fs/out");
    fs::create_directories(root_ / "fs/tmp");
    captures_.add_listener([this](const Capture& c) { revisions_.push_back(c.revision); });
    add(42, {{"RANK", "3"}, {"WORLD_SIZE", "8"}});
    poll(42);
  }
  ~CapturesTest() override { fs::remove_all(root_); }

  void add(i64 pid, const std::map<std::string, std::string>& environment = {}, i64 inner_pid = 0) {
    const fs::path folder = root_ / "proc" / std::to_string(pid);
    fs::create_directories(folder / "fd");
    const auto write = [&](const char* name, const std::string& text) {
      std::ofstream(folder / name) << text;
    };
    write("stat", fmt::format("{} (python) S 1 1 1 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 9 0 100 1 2 3", pid));
    write("status", fmt::format("NSpid:\t{}{}\n", pid, inner_pid ? fmt::format("\t{}", inner_pid) : ""));
    write("cmdline", "python");
    std::string variables;
    for (const auto& [name, value] : environment) variables += name + "=" + value + '\0';
    write("environ", variables);
    fs::create_directory_symlink(root_ / "fs", folder / "root");
  }
  const kineto::Process& poll(i64 pid, i32 type = kIdle, i64 uid = geteuid()) {
    return **registry_.seen({pid, uid}, fmt::format("client{}", pid), {type, 0, {}}, 0);
  }
  std::optional<std::string> text(i64 pid, Times now, i32 type = kIdle) {
    return captures_.text_for(poll(pid, type), now);
  }

  static Request request(std::vector<i64> pids = {42}) {
    Request r;
    r.pids = std::move(pids);
    r.output = "/out";
    return r;
  }
  static Request by_iterations() {
    Request r = request();
    r.config.iterations = 3;
    r.config.start_iteration = 0;
    r.config.roundup = 1;
    return r;
  }
  std::string begin(const Request& r, Times now = kStart) {
    const Result<std::string> id = captures_.begin(r, now);
    EXPECT_TRUE(id) << id.error().message;
    return id.value_or("");
  }
  // A capture of process 42 that it has got, and is at.
  std::string begin_delivered(const Request& r) {
    std::string id = begin(r);
    EXPECT_TRUE(text(42, kStart));
    captures_.sent(42, kStart);
    return id;
  }
  std::string begin_capturing(const Request& r) {
    std::string id = begin_delivered(r);
    text(42, at(kSecond), kAtWork);
    return id;
  }
  const Receipt& receipt(const std::string& id, size_t index = 0) {
    return captures_.find(id)->receipts.at(index);
  }
  // As the process writes: whole, by a rename.
  void write(const std::string& id, const std::string& contents, size_t index = 0) {
    const fs::path path = root_ / "fs" / receipt(id, index).file.substr(1);
    std::ofstream(path.string() + ".tmp") << contents;
    fs::rename(path.string() + ".tmp", path);
  }
  void expect(const std::string& id, State state, const char* reason) {
    EXPECT_STREQ(state_name(receipt(id).state), state_name(state));
    EXPECT_NE(receipt(id).reason.find(reason), std::string::npos) << receipt(id).reason;
    EXPECT_EQ(captures_.find(id)->over(), is_final(state));
    EXPECT_EQ(captures_.busy(42), !is_final(state));
  }

  fs::path root_;
  Host host_{(root_ / "proc").string()};
  kineto::Registry registry_{host_};
  Captures captures_{registry_, host_, "node1", at_once};
  std::vector<i64> revisions_;
};

}  // namespace spotter::capture
