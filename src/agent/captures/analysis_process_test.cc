#include "agent/captures/analysis_process.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "net/testing.h"

namespace spotter::agent {
namespace {

namespace fs = std::filesystem;

// A script in the program's place, and files that process 42 has written.
class AnalysisProcessTest : public testing::Test {
 protected:
  AnalysisProcessTest() : root_(fs::path("/tmp") / fmt::format("sp_analysis_{}", getpid())) {
    fs::create_directories(root_ / "proc/42");
    fs::create_directories(root_ / "fs/out");
    fs::create_directory_symlink(root_ / "fs", root_ / "proc/42/root");
    fs::permissions(root_, fs::perms(0755));
  }
  ~AnalysisProcessTest() override { fs::remove_all(root_); }

  AnalysisProcesses processes(const std::string& script, Ns time = 20'000'000'000) {
    const fs::path program = root_ / "program";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(program, fs::perms(0755));
    AnalysisLimits limits;
    limits.program = program.string();
    limits.time = time;
    limits.output_bytes = 100'000;
    return {loop_, Host{(root_ / "proc").string()}, "node1", limits};
  }
  capture::Receipt written(const std::string& file, const std::string& contents) {
    std::ofstream(root_ / "fs" / file.substr(1)) << contents;
    capture::Receipt receipt;
    receipt.pid = 42;
    receipt.uid = geteuid();
    receipt.state = capture::State::written;
    receipt.file = file;
    receipt.size_bytes = static_cast<i64>(contents.size());
    return receipt;
  }
  auto keep() {
    return [this](Result<std::string> o) { outcomes_.push_back(std::move(o)); };
  }
  void wait_for_outcomes(size_t count) {
    const auto all_are_there = [&] { return outcomes_.size() == count; };
    ASSERT_TRUE(net::run_until(loop_, all_are_there, std::chrono::seconds(30)));
  }
  Code refusal(const std::vector<capture::Receipt>& receipts) {
    AnalysisProcesses all = processes("exit 0");
    const auto started = all.start("ann", receipts, "{}", keep());
    return started ? Code::internal : started.error().code;  // internal: it was not refused
  }

  fs::path root_;
  net::Loop loop_;
  std::vector<Result<std::string>> outcomes_;
};

TEST_F(AnalysisProcessTest, HandsOverTheRequestAndTheFiles) {
  AnalysisProcesses all = processes("echo \"$@\"; cat; cat <&4; cat <&3");
  ASSERT_TRUE(
      all.start("ann", {written("/out/a", "first "), written("/out/b", "second ")}, "request ", keep()));
  wait_for_outcomes(1);
  ASSERT_TRUE(outcomes_[0]) << outcomes_[0].error().message;
  EXPECT_EQ(*outcomes_[0], "analyze-part node1:/out/a node1:/out/b\nrequest second first ");
}

TEST_F(AnalysisProcessTest, NotAsRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "only root becomes others";
  AnalysisProcesses all = processes("id -u");
  capture::Receipt own = written("/out/a", "x"), users = written("/out/b", "x");
  users.uid = 12345;
  ASSERT_EQ(chown((root_ / "fs/out/b").c_str(), 12345, 12345), 0);
  ASSERT_TRUE(all.start("ann", {own}, "", keep()));
  wait_for_outcomes(1);
  ASSERT_TRUE(all.start("ann", {users}, "", keep()));
  wait_for_outcomes(2);
  EXPECT_EQ(outcomes_[0].value_or(""), "65534\n");
  EXPECT_EQ(outcomes_[1].value_or(""), "12345\n");
  EXPECT_EQ(refusal({own, users}), Code::denied);
}

TEST_F(AnalysisProcessTest, AFewAtOneTimeAndNotAllOfOne) {
  AnalysisProcesses all = processes("read line");
  const capture::Receipt file = written("/out/a", "x");
  ASSERT_TRUE(all.start("ann", {file}, "\n", keep()));
  ASSERT_TRUE(all.start("ann", {file}, "\n", keep()));
  const auto third = all.start("ann", {file}, "\n", keep());
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Code::busy);
  ASSERT_TRUE(all.start("bob", {file}, "\n", keep()));
  EXPECT_FALSE(all.start("eve", {file}, "\n", keep()));
  wait_for_outcomes(3);
  EXPECT_TRUE(all.start("ann", {file}, "\n", keep()));
}

TEST_F(AnalysisProcessTest, OneThatIsStuckOrFails) {
  AnalysisProcesses stuck = processes("exec sleep 100", 50'000'000);
  ASSERT_TRUE(stuck.start("ann", {written("/out/a", "x")}, "", keep()));
  wait_for_outcomes(1);
  ASSERT_FALSE(outcomes_[0]);
  EXPECT_NE(outcomes_[0].error().message.find("the analysis on node1: it took more than"), std::string::npos);
  AnalysisProcesses failing = processes("echo no JSON >&2; exit 1");
  ASSERT_TRUE(failing.start("ann", {written("/out/a", "x")}, "", keep()));
  wait_for_outcomes(2);
  EXPECT_EQ(outcomes_[1].error().message, "the analysis on node1: it ended with status 1: no JSON");
}

TEST_F(AnalysisProcessTest, OneThatWritesTooMuch) {
  AnalysisProcesses all = processes("exec yes");
  ASSERT_TRUE(all.start("ann", {written("/out/a", "x")}, "", keep()));
  wait_for_outcomes(1);
  ASSERT_FALSE(outcomes_[0]);
  EXPECT_NE(outcomes_[0].error().message.find("larger than 100000 bytes"), std::string::npos);
}

TEST_F(AnalysisProcessTest, FilesThatAreNotTaken) {
  const capture::Receipt good = written("/out/a", "x");
  EXPECT_EQ(refusal({good}), Code::internal);
  EXPECT_EQ(refusal({}), Code::not_found);
  EXPECT_EQ(refusal(std::vector(AnalysisProcesses::kMostFiles + 1, good)), Code::invalid);

  capture::Receipt gone = good;
  gone.file = "/out/none";
  EXPECT_EQ(refusal({good, gone}), Code::not_found);
  capture::Receipt changed = written("/out/b", "longer than it was");
  changed.size_bytes = 3;
  EXPECT_EQ(refusal({changed}), Code::not_found);
  capture::Receipt link = written("/out/c", "x");
  fs::remove(root_ / "fs/out/c");
  fs::create_symlink("a", root_ / "fs/out/c");
  EXPECT_EQ(refusal({link}), Code::denied);
  capture::Receipt foreign = good;
  foreign.uid = geteuid() + 1;
  EXPECT_EQ(refusal({foreign}), Code::denied);
  EXPECT_EQ(refusal({good, foreign}), Code::denied);
  capture::Receipt fifo = good;
  fifo.file = "/out/fifo";
  ASSERT_EQ(mkfifo((root_ / "fs/out/fifo").c_str(), 0666), 0);
  EXPECT_EQ(refusal({fifo}), Code::denied);
}

TEST_F(AnalysisProcessTest, OfAProcessThatHasEnded) {
  capture::Receipt receipt = written("/out/a", "x");
  receipt.pid = 43;  // so its root is this process's
  receipt.file = (root_ / "fs/out/a").string();
  EXPECT_EQ(refusal({receipt}), Code::internal);
  receipt.size_bytes = 2;
  EXPECT_EQ(refusal({receipt}), Code::not_found);
}

}  // namespace
}  // namespace spotter::agent
