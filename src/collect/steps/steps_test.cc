#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>

#include "base/time.h"
#include "collect/list.h"
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
    auto opened = kSteps.open({.host = {}, .identities = identities_});
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
  const Table table = sampled();
  EXPECT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.notes.count("same_rank"), 1);
}

TEST(Steps, WhereThereAreNoProbes) {
  TestMachine machine;
  const auto opened = kSteps.open({.host = machine.host(), .identities = {}});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::not_found);
}

}  // namespace
}  // namespace spotter::collect
