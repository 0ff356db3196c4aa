// What is done about a job of two hosts, n1 (this one, which leads it) and n2: whom captures ask, what of
// them is written down, and what n2 adds. A script is in the place of `spotter investigate`.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "agent/hangs/hang_watch.h"
#include "agent/incidents/incident_captures.h"
#include "base/system/file.h"
#include "capture/capture.h"
#include "net/certificates.h"
#include "net/testing.h"
#include "render/list.h"
#include "respond/test_rules.h"

namespace spotter::agent {
namespace {

namespace fs = std::filesystem;
using respond::Incident;

class ClosedLoopTest : public testing::Test {
 protected:
  ClosedLoopTest() : root_(fs::path(testing::TempDir()) / fmt::format("spotter_loop_{}", getpid())) {
    host_.proc = (root_ / "proc").string();
    const fs::path process = root_ / "proc/100";
    fs::create_directories(process);
    write("proc/100/stat", "100 (python) S 1 1 1 0 -1 0 1 0 0 0 5 6 0 0 20 0 9 0 100 1 2 3");
    write("proc/100/status", fmt::format("Uid:\t{0}\t{0}\t{0}\t{0}\n", geteuid()));
    write("proc/100/cmdline", "python");
    write("proc/100/wchan", "futex_do_wait");
    std::string words;
    for (const char* word : {"RANK=0", "SLURM_JOB_ID=5", "MASTER_ADDR=n1", "SLURM_JOB_NODELIST=n1,n2"})
      words += std::string(word) + '\0';
    write("proc/100/environ", words);
    identities_->notice(100);
    EXPECT_EQ(identities_->who(100).job, "5");
    write("ca.pem", net::make_authority("test").value().certificate);
    write("token", "hush");
    Table receipts("receipts", capture::receipt_columns());
    write("answer", render::render(render::kJson, {std::span(&receipts, 1), {}}));
    // It ends when it may.
    write("program", fmt::format("#!/bin/sh\ncd {}\necho \"$@\" > words\n/bin/cat > wish\n"
                                 "while [ ! -e go ]; do /bin/sleep 0.01; done\n/bin/cat answer\n",
                                 root_.string()));
    fs::permissions(root_ / "program", fs::perms::owner_all);
    options_.captures = AutomaticCaptures::automatic;
    options_.program = (root_ / "program").string();
    options_.socket = "own.sock";
    options_.credentials = root_.string();
    options_.least_free = 0;
    options_.budget.min_age = options_.budget.min_steps = 0;
  }
  ~ClosedLoopTest() override { fs::remove_all(root_); }

  void write(const char* name, const std::string& text) const { std::ofstream(root_ / name) << text; }
  std::string read(const char* name) const {
    return read_small_file((root_ / name).string(), 100'000).value_or("");
  }

  void begin() {
    leading_ = std::make_unique<Leading>(
        Leading::Parts{loop_, host_, name_, *identities_, options_, paces_, incidents_,
                       [this](const respond::Incidents::Changes& changes) { apply(changes); }, [](u64) {},
                       [this](const respond::Condition& condition) { hangs_->fires(condition); }});
    ASSERT_TRUE(leading_->begin());
    const auto apply_each = [this](const Result<respond::Incidents::Changes>& changes) {
      if (changes) apply(*changes);
    };
    captures_ = std::make_unique<IncidentCaptures>(
        IncidentCaptures::Parts{loop_, host_, name_, access_, registry_, *identities_, options_, rules_,
                                paces_, *leading_, incidents_, reports_, apply_each, [](const auto&) {}});
    hangs_ = std::make_unique<HangWatch>(HangWatch::Parts{loop_, host_, name_, registry_, identities_,
                                                          analyses_, rules_, paces_, incidents_,
                                                          [](const Batch&) {}, apply_each, *leading_});
  }
  void apply(const respond::Incidents::Changes& changes) {
    for (const respond::IncidentChange& change : changes) {
      conclusions_ += change.why.starts_with("the evidence names");
      if (!change.wants_evidence) continue;
      if (change.incident.family == "progress")
        hangs_->begin(change.incident);
      else
        captures_->begin(change.incident);
    }
  }
  // Of a rank here, so that there is an incident.
  std::string fire(const char* rule, const char* family) {
    const Ns now = host_.unix_now();
    apply(incidents_.take(
        {.rule = rule, .family = family, .job = "5", .host = name_, .rank = 0, .since = now, .at = now},
        now));
    apply(incidents_.pass(now + 4 * kSecond));
    return fmt::format("5-{}-1", family);
  }
  // Ranks here; their steps, if they are seen.
  void see(bool has_steps) {
    using namespace respond::test;
    const Ns now = host_.unix_now();
    const Table jobs = table_of("job", {{{"job", "5"},
                                         {"rank", i64{0}},
                                         {"user", "alice"},
                                         {"world_size", i64{2}},
                                         {"write_bytes", i64{0}}}});
    paces_.see({.table = jobs, .at = now});
    for (i64 second = 30; has_steps && second > 0; --second) {
      const Table steps = table_of("step", {{{"job", "5"},
                                             {"rank", i64{0}},
                                             {"user", "alice"},
                                             {"source", "profilerStep"},
                                             {"step_ns", kSecond},
                                             {"step_longest_ns", kSecond},
                                             {"step_age_ns", i64{0}},
                                             {"steps", 100 - second}}});
      paces_.see({.table = steps, .at = now - second * kSecond});
    }
  }
  // What n2 says: its rank is 56.
  respond::Report report() const {
    return {.host = "n2",
            .instance = "other",
            .sent = host_.unix_now(),
            .job = {.id = "5",
                    .user = "alice",
                    .ranks = {56},
                    .world_size = 2,
                    .age = kHour,
                    .steps = 1000,
                    .step = kSecond}};
  }
  Incident incident(const std::string& id) const { return incidents_.find(id).value_or(Incident()); }
  bool run_until(const std::function<bool()>& is_so) { return net::run_until(loop_, is_so); }

  fs::path root_;
  Host host_;
  const std::string name_ = "n1";
  net::Loop loop_;
  RespondOptions options_;
  AnalysisLimits limits_;
  std::shared_ptr<collect::Identities> identities_ = std::make_shared<collect::Identities>(
      Host{(fs::path(testing::TempDir()) / fmt::format("spotter_loop_{}/proc", getpid())).string()});
  const Access access_ = Access({root_.string()}, {});
  kineto::Registry registry_{host_};
  AnalysisProcesses analyses_{loop_, host_, name_, limits_};
  respond::Rules rules_{{.host = name_}};
  respond::JobPaces paces_;
  respond::Incidents incidents_{{.host = name_}};
  const std::shared_ptr<ReportFolder> reports_;
  std::unique_ptr<Leading> leading_;
  std::unique_ptr<IncidentCaptures> captures_;
  std::unique_ptr<HangWatch> hangs_;
  int conclusions_ = 0;
};

TEST_F(ClosedLoopTest, WithoutCredentialsNobodyElseIsAsked) {
  options_.credentials.clear();
  begin();
  see(true);
  leading_->receive(report());
  const respond::Chosen whom = leading_->choose({.family = "speed", .job = {.id = "5"}});
  EXPECT_TRUE(whom.hosts.empty()) << whom.hosts.at(0);
  EXPECT_EQ(whom.ranks, std::vector<i64>{0});
  fire("step_time_up", "speed");
  ASSERT_TRUE(run_until([&] { return !read("wish").empty(); }));
  EXPECT_EQ(read("words").find("--host"), std::string::npos) << read("words");
  EXPECT_NE(read("words").find("--socket own.sock"), std::string::npos) << read("words");
}

TEST_F(ClosedLoopTest, WithThemAllAre) {
  begin();
  see(true);
  const respond::Chosen whom = leading_->choose({.family = "speed", .job = {.id = "5"}});
  EXPECT_EQ(whom.hosts, (std::vector<std::string>{"n1:1779", "n2:1779"}));
}

// Only the last rank writes a log.
TEST_F(ClosedLoopTest, WhereAnotherHostSeesTheStepsOneOfThisHostIsTracedFirst) {
  begin();
  see(false);
  leading_->receive(report());
  fire("step_time_up", "speed");
  ASSERT_TRUE(run_until([&] { return !read("wish").empty(); }));
  EXPECT_EQ(read("words").find("--host"), std::string::npos) << read("words");
  EXPECT_NE(read("wish").find(R"("ranks":[0])"), std::string::npos) << read("wish");
}

TEST_F(ClosedLoopTest, WhatACaptureWasIsWrittenIntoItselfAlone) {
  options_.budget.canary = false;
  begin();
  see(true);
  const std::string id = fire("step_time_up", "speed");
  ASSERT_EQ(incident(id).captures.size(), 1U);
  Incident theirs = incident(id);
  theirs.captures = {{.id = "c9", .ranks = "56", .path = "/theirs", .steps = 7}};
  respond::Report handed = report();
  handed.incidents = {theirs};
  leading_->receive(handed);
  ASSERT_EQ(incident(id).captures.size(), 2U);
  Table receipts("receipts", capture::receipt_columns());
  std::vector<Value> row(receipts.columns());
  row[receipts.column("rank")] = i64{0};
  row[receipts.column("state")] = "written";
  row[receipts.column("file")] = "/own/rank0.json";
  receipts.append(row);
  write("answer", render::render(render::kJson, {std::span(&receipts, 1), {}}));
  write("go", "");
  ASSERT_TRUE(run_until([&] { return conclusions_ > 0; }));
  EXPECT_EQ(incident(id).captures.at(0).path, "/own");
  EXPECT_EQ(incident(id).captures.at(1).path, "/theirs");
  EXPECT_EQ(incident(id).captures.at(1).id, "c9");
  EXPECT_EQ(incident(id).captures.at(1).steps, 7);
}

TEST_F(ClosedLoopTest, WhatAnotherHostSaysLaterOfAHangAmendsWhatIsKnown) {
  begin();
  const std::string id = fire("progress_stopped", "progress");
  ASSERT_TRUE(run_until([&] { return conclusions_ == 1; }));
  EXPECT_EQ(incident(id).state, respond::IncidentState::inconclusive);
  respond::Report said = report();
  const auto say = [&](const char* rule, const char* kernel_wait) {
    said.conditions = {{.rule = rule,
                        .family = "progress",
                        .job = "5",
                        .host = "n2",
                        .rank = 56,
                        .since = said.sent,
                        .at = said.sent,
                        .kernel_wait = kernel_wait}};
    leading_->receive(said);
    hangs_->pass(host_.unix_now());
  };
  say("progress_stopped", "56 S futex_do_wait");
  EXPECT_FALSE(net::run_until(
      loop_, [&] { return conclusions_ > 1; }, std::chrono::milliseconds(300)))
      << "it waits like the others";
  for (int i = 0; i < 2; ++i) say("rank_gone", "");
  ASSERT_TRUE(run_until([&] { return conclusions_ == 2; }));
  say("rank_gone", "");
  EXPECT_FALSE(net::run_until(
      loop_, [&] { return conclusions_ > 2; }, std::chrono::milliseconds(300)))
      << "it is known";
}

}  // namespace
}  // namespace spotter::agent
