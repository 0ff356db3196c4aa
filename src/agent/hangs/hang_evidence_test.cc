// What is gathered of a hanging job, with a made-up /proc and a script in the place of the reader of dumps.
#include "agent/hangs/hang_evidence.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/time.h"
#include "collect/host/kernel_ticks.h"
#include "net/testing.h"
#include "wire/recorded_hang.h"

namespace spotter::agent {
namespace {

namespace fs = std::filesystem;

class HangEvidenceTest : public testing::Test {
 protected:
  HangEvidenceTest() : root_(fs::path("/tmp") / fmt::format("sp_hang_{}", getpid())) {
    host_.proc = (root_ / "proc").string();
    fs::create_directories(root_ / "fs/tmp");
    fs::permissions(root_, fs::perms(0755));
    // It says that rank 2 does not arrive, by as many dumps as it is given.
    const fs::path program = root_ / "program";
    std::ofstream(program) << R"(#!/bin/sh
echo '{"tables":[{"name":"recorded_hang","columns":[
{"name":"rank","type":"integer","unit":"none","role":"key","help":""},
{"name":"what","type":"text","unit":"none","role":"detail","help":""},
{"name":"has_no_dump","type":"flag","unit":"none","role":"detail","help":""}],
"rows":[[2,"by '$(($# - 1))' dumps: '$(cat)'",false]]}],"notes":[]}'
)";
    fs::permissions(program, fs::perms(0755));
    limits_.program = program.string();
    limits_.time = 20 * kSecond;
    for (const i64 rank : {0, 1, 2}) process(rank, 'S', "futex_do_wait");
  }
  ~HangEvidenceTest() override { fs::remove_all(root_); }

  void process(i64 rank, char state, const char* function) {
    const fs::path folder = root_ / "proc" / std::to_string(100 + rank);
    fs::create_directories(folder);
    if (!fs::exists(folder / "root")) fs::create_directory_symlink(root_ / "fs", folder / "root");
    std::ofstream(folder / "stat") << fmt::format(
        "{} (python) {} 1 1 1 0 -1 0 1 0 0 0 5 6 0 0 20 0 9 0 {} 1 2 3", 100 + rank, state, start_ticks_);
    std::ofstream(folder / "status") << fmt::format("Uid:\t{0}\t{0}\t{0}\t{0}\n", geteuid());
    std::ofstream(folder / "cmdline") << "python";
    std::ofstream(folder / "wchan") << function;
    const std::string words[] = {fmt::format("RANK={}", rank), "WORLD_SIZE=4", "SLURM_JOB_ID=5"};
    std::ofstream environment(folder / "environ");
    for (const std::string& word : words) environment << word << '\0';
  }
  void dump(i64 rank) { std::ofstream(root_ / "fs/tmp" / fmt::format("nccl_trace_rank_{}", rank)) << "x"; }

  respond::Conclusion gather() {
    const auto identities = std::make_shared<collect::Identities>(host_);
    for (const i64 pid : {100, 101, 102}) identities->notice(pid);
    AnalysisProcesses analyses(loop_, host_, name_, limits_);
    const respond::JobPaces paces;
    const respond::Rules rules({.host = name_});
    const RasWatch ras({loop_, host_, name_, registry_, *identities, {}});
    respond::Incidents incidents({.host = name_});
    const Ns now = host_.unix_now();
    for (const respond::Condition& condition : told_) incidents.take(condition, now);
    HangEvidence evidence({loop_, host_, name_, identities, analyses, paces, rules, ras, incidents});
    respond::Incident incident{
        .cluster = "local", .family = "progress", .n = 1, .job = {.id = "5", .world_size = 4}};
    std::optional<respond::Conclusion> concluded;
    int times = 0;
    const auto done = [&](respond::Conclusion c) {
      ++times;
      concluded = std::move(c);
    };
    EXPECT_TRUE(evidence.gather(incident, false, done));
    EXPECT_FALSE(evidence.gather(incident, false, done)) << "it is under way already";
    EXPECT_FALSE(concluded) << "nothing waits for it";
    EXPECT_TRUE(net::run_until(loop_, [&] { return concluded.has_value(); }));
    EXPECT_EQ(times, 1);
    return concluded.value_or(respond::Conclusion());
  }

  fs::path root_;
  i64 start_ticks_ = 100;
  std::vector<respond::Condition> told_;  // of the incident
  Host host_;
  const std::string name_ = "n1";
  AnalysisLimits limits_;
  net::Loop loop_;
  kineto::Registry registry_{host_};
};

bool has(const std::vector<std::string>& sentences, std::string_view part) {
  return std::ranges::any_of(sentences, [&](const auto& s) { return s.find(part) != s.npos; });
}

TEST_F(HangEvidenceTest, ARankThatIsStoppedAndWhatWasNotFound) {
  process(1, 'T', "");
  const respond::Conclusion c = gather();
  ASSERT_TRUE(c.verdict);
  EXPECT_EQ(c.verdict->sentence, "Rank 1 on n1 is stopped (T); the others wait");
  EXPECT_TRUE(has(c.not_known, "NCCL does not say"));
  EXPECT_TRUE(has(c.not_known, "no dump of a flight recorder"));
  EXPECT_TRUE(has(c.not_known, "what 1 of 4 ranks do"));
}

TEST_F(HangEvidenceTest, WhatAnotherHostSaysOfItsRankIsEvidence) {
  told_ = {{.rule = "progress_stopped",
            .family = "progress",
            .job = "5",
            .host = "n2",
            .rank = 3,
            .kernel_wait = "3 D nfs_wait_bit_killable"}};
  const respond::Conclusion c = gather();
  ASSERT_TRUE(c.verdict);
  EXPECT_EQ(c.verdict->cause, "storage_hangs");
  EXPECT_EQ(c.verdict->sentence,
            "Rank 3 on n2 waits for a disk or a file server (D, nfs_wait_bit_killable); the others wait");
  EXPECT_EQ(c.verdict->suspects.at(0).host, "n2");
  EXPECT_FALSE(has(c.not_known, "of 4 ranks"));
}

TEST_F(HangEvidenceTest, DumpsOfThisHostAreReadByAnotherProcess) {
  dump(0);
  dump(2);
  dump(7);  // of no rank here
  const respond::Conclusion c = gather();
  ASSERT_TRUE(c.verdict);
  EXPECT_EQ(c.verdict->sentence, fmt::format("By 2 dumps: {}", wire::kRecordedHangRequest));
  EXPECT_EQ(c.verdict->suspects[0].rank, 2);
}

// The job hangs before its first step, and its user's earlier one has left dumps under the same names.
TEST_F(HangEvidenceTest, DumpsOfAnEarlierRunAreNone) {
  for (const i64 rank : {0, 1, 2}) dump(rank);
  start_ticks_ = (host_.steady_now() + 10 * kSecond) / collect::ns_per_tick();
  for (const i64 rank : {0, 1, 2}) process(rank, 'S', "futex_do_wait");
  const respond::Conclusion c = gather();
  EXPECT_FALSE(c.verdict);
  EXPECT_TRUE(has(c.not_known, "no dump of a flight recorder since its processes began"));
}

TEST_F(HangEvidenceTest, WhereARankWaitsForADeviceNoFileIsTouched) {
  dump(0);
  process(0, 'D', "nfs_wait_bit_killable");
  const respond::Conclusion c = gather();
  ASSERT_TRUE(c.verdict);
  EXPECT_EQ(c.verdict->cause, "storage_hangs");
  EXPECT_TRUE(has(c.not_known, "dumps of flight recorders were not looked for"));
}

}  // namespace
}  // namespace spotter::agent
