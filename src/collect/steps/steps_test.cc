#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>

#include "base/time.h"
#include "collect/list.h"
#include "collect/logs/logged_steps.h"
#include "collect/process/identities.h"
#include "collect/steps/step_probe.h"
#include "collect/test_fakes.h"
#include "collect/test_machine.h"

namespace spotter::collect {
namespace {

// A process with a job and a rank that does as it is told: a digit is so many steps.
class Trainer {
 public:
  explicit Trainer(const std::string& rank) {
    int words[2], answers[2];
    EXPECT_EQ(pipe(words), 0);
    EXPECT_EQ(pipe(answers), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(words[0], 0);
      dup2(answers[1], 1);
      for (const int fd : {words[1], answers[0]}) close(fd);
      setenv("SLURM_JOB_ID", "7", 1);
      setenv("RANK", rank.c_str(), 1);
      const std::string library = (fakes() / "libtorch_cpu.so").string();
      execlp("python3", "python3", "-c", kScript, library.c_str(), nullptr);
      _exit(1);
    }
    close(words[0]);
    close(answers[1]);
    in_ = words[1];
    out_ = answers[0];
    answer();  // the library is loaded
  }
  ~Trainer() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(in_);
    close(out_);
  }
  void step(int count) {
    const std::string word = std::to_string(count) + "\n";
    EXPECT_EQ(write(in_, word.data(), word.size()), std::ssize(word));
    answer();
  }
  pid_t pid() const { return pid_; }

 private:
  static constexpr const char* kScript =
      "import ctypes, sys, time\n"
      "library = ctypes.CDLL(sys.argv[1])\n"
      "print(flush=True)\n"
      "for line in sys.stdin:\n"
      "    for _ in range(int(line)):\n"
      "        time.sleep(0.01)\n"
      "        library.fake_step()\n"
      "    print(flush=True)\n";
  void answer() {
    char c = 0;
    EXPECT_EQ(read(out_, &c, 1), 1);
  }
  pid_t pid_;
  int in_, out_;
};

class StepsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = kSteps.open({.host = {}, .identities = identities_, .logged_steps = logged_});
    if (!opened) GTEST_SKIP() << opened.error().message;
    steps_ = std::move(*opened);
    auto place = find_torch_step({}, trainer_.pid());
    ASSERT_TRUE(place) << place.error().message;
    const auto probe = open_step_probe({}, trainer_.pid(), *place);
    if (!probe) GTEST_SKIP() << probe.error().message;
  }
  Table sampled() {
    auto tables = ask(kSteps, *steps_);
    EXPECT_TRUE(tables) << tables.error().message;
    return tables ? std::move((*tables)[0]) : Table("none", std::span<const Field>());
  }
  static i64 number(const Table& table, const char* column) { return table.integer(0, table.column(column)); }

  std::shared_ptr<Identities> identities_ = std::make_shared<Identities>(Host{});
  std::shared_ptr<LoggedStepsBoard> logged_ = std::make_shared<LoggedStepsBoard>();
  Trainer trainer_{"3"};
  std::unique_ptr<Collector> steps_;
};

TEST_F(StepsTest, OfWhoIsNoticed) {
  EXPECT_EQ(sampled().rows(), 0u);
  identities_->notice(trainer_.pid());
  EXPECT_EQ(sampled().rows(), 0u);  // it has not stepped
  trainer_.step(1);
  Table table = sampled();
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.text(0, table.column("job")), "7");
  EXPECT_EQ(number(table, "rank"), 3);
  EXPECT_EQ(number(table, "pid"), trainer_.pid());
  EXPECT_EQ(number(table, "steps"), 1);
  EXPECT_TRUE(is_null(table.at(0, table.column("step_ns"))));
  trainer_.step(5);
  table = sampled();
  EXPECT_EQ(number(table, "steps"), 6);
  EXPECT_GE(number(table, "step_ns"), 10 * kMillisecond);
  EXPECT_LT(number(table, "step_ns"), 10 * kSecond);
  EXPECT_GE(number(table, "step_longest_ns"), number(table, "step_ns"));
  EXPECT_LT(number(table, "step_age_ns"), 10 * kSecond);
  usleep(50'000);
  table = sampled();
  EXPECT_TRUE(is_null(table.at(0, table.column("step_ns"))));
  EXPECT_GE(number(table, "step_age_ns"), 50 * kMillisecond);
  EXPECT_EQ(number(table, "steps"), 6);
}

TEST_F(StepsTest, OfEachRank) {
  Trainer other("4");
  identities_->notice(trainer_.pid());
  identities_->notice(other.pid());
  sampled();
  trainer_.step(2);
  other.step(3);
  const Table table = sampled();
  ASSERT_EQ(table.rows(), 2u);
  std::map<i64, i64> steps;
  for (size_t row = 0; row < 2; ++row)
    steps[table.integer(row, table.column("rank"))] = table.integer(row, table.column("steps"));
  EXPECT_EQ(steps, (std::map<i64, i64>{{3, 2}, {4, 3}}));
}

TEST_F(StepsTest, TwoThatCannotBeToldApart) {
  Trainer same("3");
  identities_->notice(trainer_.pid());
  identities_->notice(same.pid());
  sampled();
  trainer_.step(1);
  same.step(1);
  Table table = sampled();
  EXPECT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.notes.count("same_rank"), 1);
  // Its counter is one process's, whichever of them steps.
  const i64 shown = number(table, "pid");
  EXPECT_EQ(number(table, "steps"), 1);
  (shown == trainer_.pid() ? same : trainer_).step(5);
  table = sampled();
  EXPECT_EQ(number(table, "pid"), shown);
  EXPECT_EQ(number(table, "steps"), 1);
}

// A job's log tells while no probe does; what is only logged is of another job.
TEST_F(StepsTest, LogsTellWhereProbesDoNot) {
  const std::string user = identities_->who(trainer_.pid()).user;
  const auto put = [&] {
    logged_->put({{.job = "7", .user = user, .source = "log:tqdm", .last = unix_clock_now(), .steps = 5},
                  {.job = "8", .user = user, .source = "log:own", .last = unix_clock_now(), .steps = 6}},
                 steady_clock_now() + kMinute);
  };
  const auto sources = [](const Table& table) {
    std::map<std::string, std::string> all;
    for (size_t row = 0; row < table.rows(); ++row)
      all[std::string(table.text(row, table.column("job")))] = table.text(row, table.column("source"));
    return all;
  };
  identities_->notice(trainer_.pid());
  put();
  EXPECT_EQ(sources(sampled()), (std::map<std::string, std::string>{{"7", "log:tqdm"}, {"8", "log:own"}}));
  trainer_.step(1);
  put();
  EXPECT_EQ(sources(sampled()),
            (std::map<std::string, std::string>{{"7", "profilerStep"}, {"8", "log:own"}}));
}

TEST(Steps, OfLogsAlone) {
  TestMachine machine;
  const auto logged = std::make_shared<LoggedStepsBoard>();
  auto opened = kSteps.open({.host = machine.host(),
                             .identities = std::make_shared<Identities>(machine.host()),
                             .logged_steps = logged});
  ASSERT_TRUE(opened) << opened.error().message;
  const auto sampled = [&] {
    auto tables = ask(kSteps, **opened);
    EXPECT_TRUE(tables);
    return std::move(tables->front());
  };
  EXPECT_EQ(sampled().notes.count("no_probes"), 1);
  const LoggedSteps job{
      .job = "7", .user = "alice", .pid = 42, .source = "log:tqdm", .last = unix_clock_now()};
  LoggedSteps with_steps = job;
  with_steps.ended = {{.took = 300, .within = 5}, {.took = 100, .within = 7}, {.took = 200, .within = 6}};
  with_steps.steps = 3;
  logged->put({with_steps}, kMinute);
  LoggedSteps more = job;
  more.ended = {{.took = 400, .within = 1}};
  more.steps = 4;
  logged->put({more}, kMinute);  // nobody took those before
  Table table = sampled();
  ASSERT_EQ(table.rows(), 1u);
  const auto number = [&](const char* column) { return table.integer(0, table.column(column)); };
  EXPECT_EQ(table.text(0, table.column("source")), "log:tqdm");
  EXPECT_TRUE(is_null(table.at(0, table.column("rank"))));
  EXPECT_EQ(number("step_ns"), 200);
  EXPECT_EQ(number("step_error_ns"), 7);
  EXPECT_EQ(number("step_longest_ns"), 400);
  EXPECT_EQ(number("steps"), 4);
  EXPECT_LT(number("step_age_ns"), kMinute);
  table = sampled();
  EXPECT_TRUE(is_null(table.at(0, table.column("step_ns"))));
  EXPECT_EQ(number("steps"), 4);
  logged->put({job}, kMinute);
  EXPECT_EQ(sampled().rows(), 1u);
  machine.pass(2 * kMinute);  // nobody says any more whether it goes on
  EXPECT_EQ(sampled().rows(), 0u);
  logged->put({}, kHour);
  EXPECT_EQ(sampled().rows(), 0u);
}

// Of two runs of a user that have no job's name the row stays one's, until that has not stepped for an hour.
TEST(Steps, TwoLogsWithoutAJob) {
  TestMachine machine;
  static Ns now;
  now = 1'795'000'000 * kSecond;
  Host host = machine.host();
  host.unix_now = [] { return now; };
  const auto logged = std::make_shared<LoggedStepsBoard>();
  auto opened =
      kSteps.open({.host = host, .identities = std::make_shared<Identities>(host), .logged_steps = logged});
  ASSERT_TRUE(opened) << opened.error().message;
  const Ns begin = now;
  const auto sampled = [&](i64 steps_of_1, Ns last_of_1, i64 steps_of_2) {
    logged->put({{.user = "alice", .pid = 1, .source = "log:own", .last = last_of_1, .steps = steps_of_1},
                 {.user = "alice", .pid = 2, .source = "log:own", .last = now, .steps = steps_of_2}},
                host.steady_now() + kMinute);
    auto tables = ask(kSteps, **opened);
    EXPECT_TRUE(tables);
    const Table& table = tables->front();
    EXPECT_EQ(table.rows(), 1u);
    EXPECT_EQ(table.notes.count("same_rank"), 1);
    return std::pair(table.integer(0, table.column("pid")), table.integer(0, table.column("steps")));
  };
  using Row = std::pair<i64, i64>;
  EXPECT_EQ(sampled(24, begin + kSecond, 30'000), Row(1, 24));
  now += kMinute;
  EXPECT_EQ(sampled(25, begin + kSecond, 31'000), Row(1, 25));
  now += kHour;
  EXPECT_EQ(sampled(25, begin + kSecond, 32'000), Row(2, 25));
  now += kSecond;
  EXPECT_EQ(sampled(26, now, 32'001), Row(2, 26));
}

TEST(Steps, WhereThereAreNoProbes) {
  TestMachine machine;
  const auto opened = kSteps.open({.host = machine.host(), .identities = {}});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::not_found);
}

}  // namespace
}  // namespace spotter::collect
