// A job whose NCCL is asked: who is stuck, and who is merely behind, by both forms of the answer.
#include "agent/hangs/ras_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "base/time.h"
#include "net/test_line_server.h"
#include "net/testing.h"
#include "respond/rules.h"

namespace spotter::agent {
namespace {

namespace fs = std::filesystem;
using Said = net::LineServer::Said;

// Both ranks of the job are here, as process 7 and this one.
std::string answer_of(bool is_json, i64 launched) {
  const i64 most = launched + 1;
  if (is_json)
    return fmt::format(
        R"({{"nccl_version": "2.28.9", "communicators": [{{"hash": "0x1", "size": 2, "ranks": [
      {{"rank": 0, "host": "10.0.0.1", "pid": 7, "nvml_dev": 0, "collective_counts": {{"AllReduce": {}}}}},
      {{"rank": 1, "host": "10.0.0.1", "pid": {}, "nvml_dev": 0, "collective_counts": {{"AllReduce": {}}}}}],
      "missing_ranks": []}}], "ras": {{"timeouts_count": 0}}}})",
        most, getpid(), launched);
  return fmt::format(
      "NCCL version 2.27.5 compiled with CUDA 12.9\n\nWarnings\n========\n\n#0-0 (01) MISMATCH\n"
      "  Communicator ranks have different AllReduce operation counts\n"
      "  Rank 1 has launched up to operation {} -- GPU 0 managed by process {} on node 10.0.0.1\n"
      "  Rank 0 has launched up to operation {} -- GPU 0 managed by process 7 on node 10.0.0.1\n\n",
      launched, getpid(), most);
}

class RasWatchTest : public testing::Test {
 protected:
  RasWatchTest() : root_(fs::path(testing::TempDir()) / fmt::format("spotter_ras_{}", getpid())) {
    host_.proc = root_.string();
    process(7, 0, 1);
    process(getpid(), 1, 1);
  }
  ~RasWatchTest() override { fs::remove_all(root_); }

  void process(i64 pid, i64 rank, u16 port) {
    const fs::path folder = root_ / std::to_string(pid);
    fs::create_directories(folder);
    std::ofstream(folder / "stat") << pid << " (python) S 1 1 1 0 -1 0 1 0 0 0 5 6 0 0 20 0 9 0 100 1 2 3";
    std::ofstream(folder / "status") << fmt::format("Uid:\t{0}\t{0}\t{0}\t{0}\nNSpid:\t{1}\n", geteuid(),
                                                    pid);
    std::ofstream(folder / "cmdline") << "python";
    std::string environment;
    for (const std::string& word :
         {fmt::format("RANK={}", rank), std::string("WORLD_SIZE=2"), std::string("SLURM_JOB_ID=5"),
          fmt::format("NCCL_RAS_ADDR=127.0.0.1:{}", port)})
      environment += word + '\0';
    std::ofstream(folder / "environ") << environment;
  }

  // So many answers, ten seconds apart for the rules. Each watch asks but once in that time.
  void ask(bool is_json, int times, bool moves) {
    i64 launched = 4;
    const net::LineServer server([&](const std::string& line) {
      if (line == "SET FORMAT json")
        return Said{is_json ? "OK\n" : "ERROR: Unknown command SET FORMAT json\n"};
      if (line == "STATUS") return Said{answer_of(is_json, moves ? launched++ : launched), true};
      return Said{"OK\n"};
    });
    process(7, 0, server.port());
    process(getpid(), 1, server.port());
    collect::Identities identities(host_);
    identities.notice(7);
    identities.notice(getpid());
    for (int i = 0; i < times; ++i) {
      bool has_answered = false;
      RasWatch watch({loop_, host_, name_, registry_, identities, [&](Batch batch) {
                        has_answered = true;
                        batch.unix_ns = at_ += 10 * kSecond;
                        rules_->add(batch);
                      }});
      watch.pass({{"5", {.user = "alice", .world_size = 2}}});
      watch.pass({{"5", {.user = "alice", .world_size = 2}}});  // not again
      ASSERT_TRUE(net::run_until(loop_, [&] { return has_answered || !watch.said("5").refusal.empty(); }));
      ASSERT_TRUE(watch.said("5").has_answered) << watch.said("5").refusal;
      EXPECT_FALSE(watch.said("5").is_even);
    }
  }

  fs::path root_;
  Host host_;
  const std::string name_ = "n1";
  net::Loop loop_;
  kineto::Registry registry_{host_};
  std::unique_ptr<respond::Rules> rules_;
  Ns at_ = 1'795'000'000 * kSecond;
};

TEST_F(RasWatchTest, WhoIsStuckIsTold) {
  for (const bool is_json : {true, false}) {
    rules_ = std::make_unique<respond::Rules>(
        respond::RulesOptions{.settings = {{"collective_stuck", {{"apart", "5s"}}}}, .host = "n1"});
    ask(is_json, 1, false);
    EXPECT_TRUE(rules_->firing().empty()) << "once is usual";
    ask(is_json, 1, false);
    ASSERT_EQ(rules_->firing().size(), 1u) << is_json;
    EXPECT_EQ(rules_->firing()[0].rule, "collective_stuck");
    EXPECT_EQ(rules_->firing()[0].rank, 1);
    EXPECT_EQ(rules_->firing()[0].host, "n1");
  }
}

TEST_F(RasWatchTest, WhoIsMerelyBehindIsNot) {
  for (const bool is_json : {true, false}) {
    rules_ = std::make_unique<respond::Rules>(respond::RulesOptions{.host = "n1"});
    ask(is_json, 3, true);
    EXPECT_TRUE(rules_->firing().empty());
  }
}

TEST_F(RasWatchTest, WhyItSaysNothing) {
  collect::Identities identities(host_);
  RasWatch nobody({loop_, host_, name_, registry_, identities, [](const Batch&) { FAIL(); }});
  nobody.pass({{"5", {}}});
  EXPECT_NE(nobody.said("5").refusal, "");
  EXPECT_EQ(nobody.said("6").refusal, "");
  // Whatever the environment of a job says, nothing but this machine is asked.
  std::ofstream(root_ / "7" / "environ", std::ios::app) << std::string("NCCL_RAS_ADDR=192.0.2.1:28028\0", 30);
  fs::remove_all(root_ / std::to_string(getpid()));
  identities.notice(7);
  RasWatch elsewhere({loop_, host_, name_, registry_, identities, [](const Batch&) { FAIL(); }});
  elsewhere.pass({{"5", {}}});
  ASSERT_TRUE(net::run_until(loop_, [&] { return !elsewhere.said("5").refusal.empty(); }));
  EXPECT_FALSE(elsewhere.said("5").has_answered);
}

}  // namespace
}  // namespace spotter::agent
