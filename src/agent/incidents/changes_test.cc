#include "agent/incidents/changes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/moment.h"
#include "kineto/message.h"

namespace spotter::agent {
namespace {

namespace fs = std::filesystem;
using Variables = std::map<std::string, std::string>;

// A host with a made-up /proc, whose changes are remembered in memory.
class ChangesTest : public testing::Test {
 protected:
  ChangesTest() : root_(fs::path(testing::TempDir()) / fmt::format("spotter_changes_{}", getpid())) {
    host_.proc = root_.string();
    restart();
  }
  ~ChangesTest() override { fs::remove_all(root_); }

  // Another agent on the same host, which has the file of the one before.
  void restart() {
    changes_ = std::make_unique<Changes>(Changes::Parts{host_, name_, registry_, paces_});
    changes_->begin(*store_);
  }
  void begin_job(i64 pid, const std::string& job, Variables variables = {},
                 const std::string& command = "train.py") {
    const fs::path folder = root_ / std::to_string(pid);
    fs::create_directories(folder / "fd");
    const i64 ticks = (host_.steady_now() / kSecond - 10) * sysconf(_SC_CLK_TCK);
    std::ofstream(folder / "stat") << fmt::format(
        "{} (python) S 1 1 1 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 9 0 {} 1 2 3", pid, std::max<i64>(ticks, 1));
    std::ofstream(folder / "status") << "Uid:\t0\n";
    variables.insert(
        {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"SLURM_JOB_ID", job}, {"SLURM_JOB_NAME", "pretrain"}});
    std::string environment;
    for (const auto& [name, value] : variables) environment += name + "=" + value + '\0';
    std::ofstream(folder / "environ") << environment;
    std::ofstream(folder / "cmdline") << "python" << '\0' << command << '\0';
    ASSERT_TRUE(registry_.seen({pid, 1000}, "address", kineto::Poll{2, 0, {}}, 0));
  }
  void step(const std::string& job, i64 steps) {
    static constexpr Field kColumns[] = {{"job", Type::text, Unit::none, Role::key, ""},
                                         {"rank", Type::integer, Unit::none, Role::key, ""},
                                         {"steps", Type::integer, Unit::count, Role::counter, ""}};
    Table table("step", kColumns);
    table.append({std::string_view(job), i64{0}, steps});
    paces_.see({.table = table, .at = now_});
  }
  void pass() {
    now_ += kMinute;
    changes_->pass(now_, [this](const std::string& job) { return job == in_trouble_; });
  }
  void run_healthily(const std::string& job) {
    step(job, 1);
    step(job, 200);
    pass();
  }
  std::vector<std::string> seen() const {
    std::vector<std::string> lines;
    for (const respond::Change& c : changes_->all())
      lines.push_back(
          fmt::format("{} {}: {} -> {}", c.change.kind, c.change.what, c.change.before, c.change.after));
    return lines;
  }
  void sample(const std::string& driver, const std::string& kernel, Ns boot) {
    static constexpr Field kGpu[] = {{"gpu", Type::integer, Unit::none, Role::key, ""},
                                     {"vendor", Type::text, Unit::none, Role::key, ""},
                                     {"driver", Type::text, Unit::none, Role::detail, ""},
                                     {"power_limit_watts", Type::real, Unit::watts, Role::value, ""}};
    static constexpr Field kUptime[] = {{"kernel", Type::text, Unit::none, Role::detail, ""},
                                        {"boot_time_ns", Type::integer, Unit::ns, Role::value, ""}};
    Batch batch{now_, kSecond, {}};
    batch.tables.emplace_back("gpu", kGpu);
    batch.tables.back().append({i64{0}, std::string_view("nvidia"), std::string_view(driver), limit_});
    batch.tables.emplace_back("uptime", kUptime);
    batch.tables.back().append({std::string_view(kernel), boot});
    changes_->see(batch);
  }

  const fs::path root_;
  Host host_;
  const std::string name_ = "gpu01";
  kineto::Registry registry_{
      Host{(fs::path(testing::TempDir()) / fmt::format("spotter_changes_{}", getpid())).string()}};
  respond::JobPaces paces_;
  std::unique_ptr<store::IncidentStore> store_ = store::IncidentStore::open({}).value();
  std::unique_ptr<Changes> changes_;
  Ns now_ = unix_clock_now();
  double limit_ = 700;
  std::string in_trouble_;
};
using Lines = std::vector<std::string>;

TEST_F(ChangesTest, OfTheHost) {
  const Ns boot = now_ - kDay;
  sample("550", "6.1", boot);
  sample("550", "6.1", boot + kSecond);  // computed again
  EXPECT_TRUE(seen().empty());
  restart();
  limit_ = 500;
  sample("570", "6.8", now_ - kMinute);
  ASSERT_EQ(seen().size(), 4u);
  std::map<std::string, respond::ChangeBefore> by_kind;
  for (const respond::Change& c : changes_->all()) {
    EXPECT_EQ(c.hosts, std::vector<std::string>{"gpu01"});
    by_kind[c.change.kind] = c.change;
  }
  EXPECT_EQ(by_kind["driver"].before + by_kind["driver"].after, "550570");
  EXPECT_EQ(by_kind["power"].before + by_kind["power"].after, "700 W500 W");
  EXPECT_EQ(by_kind["kernel"].before + by_kind["kernel"].after, "6.16.8");
  EXPECT_EQ(utc_text(by_kind["boot"].at), utc_text(now_ - kMinute));
  sample("570", "6.8", now_ - kMinute);
  EXPECT_EQ(seen().size(), 4u);
}

TEST_F(ChangesTest, OfAJobAgainstTheLastHealthyOneOfItsSeries) {
  begin_job(10, "1", {{"NCCL_ALGO", "Ring"}, {"TORCH_SECRET_KEY", "hidden"}}, "train1.py");
  pass();
  run_healthily("1");
  begin_job(11, "2", {{"NCCL_ALGO", "Tree"}, {"TORCH_SECRET_KEY", "other"}}, "train2.py");
  pass();
  EXPECT_EQ(seen(), (Lines{"environment NCCL_ALGO: Ring -> Tree", "environment command line:  -> "}));
  EXPECT_EQ(changes_->all()[0].job, "2");
  EXPECT_LT(changes_->all()[0].change.at, now_);
  restart();  // it is the same job, and its changes are no others
  now_ -= kMinute;
  pass();
  EXPECT_EQ(seen().size(), 2u);
  // One of another series is compared with none of these.
  begin_job(12, "3", {}, "evaluate.py");
  pass();
  EXPECT_EQ(seen().size(), 2u);
}

TEST_F(ChangesTest, WhoIsInTroubleIsNoMeasure) {
  begin_job(10, "1", {{"NCCL_ALGO", "Ring"}});
  in_trouble_ = "1";
  pass();
  run_healthily("1");
  begin_job(11, "2", {{"NCCL_ALGO", "Tree"}});
  pass();
  EXPECT_TRUE(seen().empty());
}

TEST_F(ChangesTest, AnIncidentShowsThem) {
  ASSERT_TRUE(changes_->add({.change = {.at = now_ - 2 * kMinute, .kind = "driver", .what = "rolled out"}}));
  ASSERT_TRUE(
      changes_->add({.change = {.at = now_ - kMinute, .kind = "code", .what = "another job's"}, .job = "9"}));
  respond::Incident incident;
  incident.job.id = "1";
  incident.opened = now_;
  changes_->look_back(incident);
  ASSERT_EQ(incident.changes.size(), 1u);
  EXPECT_EQ(incident.changes[0].what, "rolled out");
}

TEST_F(ChangesTest, ThoseOfOtherHostsAreShownAndNotKept) {
  const auto of_host = [&](const char* what, Ns at) {
    return respond::Change{.change = {.at = at, .kind = "driver", .what = what}, .hosts = {"gpu02"}};
  };
  changes_->learn(
      {of_host("new", now_ - kMinute), of_host("old", now_ - kDay), of_host("to come", now_ + kDay)});
  changes_->learn({of_host("new", now_ - kMinute)});  // said again
  EXPECT_TRUE(seen().empty()) << "they are that host's to tell";
  respond::Incident incident;
  incident.opened = now_;
  incident.conditions = {{.host = "gpu02"}};
  changes_->look_back(incident);
  ASSERT_EQ(incident.changes.size(), 1u);
  EXPECT_EQ(incident.changes[0].what, "new");
}

TEST_F(ChangesTest, TheSameCommitSpeaksAgainstTheCode) {
  const fs::path work = root_ / "work";
  fs::create_directories(work / ".git/refs/heads");
  std::ofstream(work / ".git/config") << "[remote \"origin\"]\n\turl = https://example.org/a/b.git\n";
  std::ofstream(work / ".git/HEAD") << "ref: refs/heads/main\n";
  std::ofstream(work / ".git/refs/heads/main") << std::string(40, 'a') << "\n";
  for (const auto& [pid, job] : {std::pair<i64, const char*>{10, "1"}, {11, "2"}, {12, "3"}}) {
    if (pid == 12) std::ofstream(work / ".git/refs/heads/main") << std::string(40, 'b') << "\n";
    fs::create_directories(root_ / std::to_string(pid));
    fs::create_directory_symlink("/", root_ / std::to_string(pid) / "root");
    fs::create_directory_symlink(fs::absolute(work), root_ / std::to_string(pid) / "cwd");
    begin_job(pid, job);
    pass();
    run_healthily(job);
  }
  respond::Incident same, other;
  same.job.id = "2";
  other.job.id = "3";
  changes_->look_back(same);
  changes_->look_back(other);
  EXPECT_EQ(same.against, (Lines{"code: the same commit as before"}));
  EXPECT_TRUE(other.against.empty());
  EXPECT_EQ(seen(), (Lines{"code https://example.org/a/b: aaaaaaaaaaaa -> bbbbbbbbbbbb"}));
}

}  // namespace
}  // namespace spotter::agent
