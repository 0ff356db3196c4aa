#include "collect/steps/step_probe.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <thread>

#include "collect/test_fakes.h"
#include "collect/test_machine.h"

namespace spotter::collect {
namespace {

using Step = void (*)();

// The fake library, loaded.
Step fake_step() {
  void* const library = dlopen((fakes() / "libtorch_cpu.so").string().c_str(), RTLD_NOW | RTLD_LOCAL);
  return library ? reinterpret_cast<Step>(dlsym(library, "fake_step")) : nullptr;
}

class StepProbeTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(step_, nullptr) << dlerror();
    auto found = find_torch_step(host_, getpid());
    ASSERT_TRUE(found) << found.error().message;
    place_ = std::move(*found);
    auto probe = open_step_probe(host_, gettid(), place_);
    if (!probe && (probe.error().code == Code::denied || probe.error().code == Code::not_found))
      GTEST_SKIP() << probe.error().message;
    ASSERT_TRUE(probe) << probe.error().message;
    auto marks = StepMarks::of(std::move(*probe));
    ASSERT_TRUE(marks) << marks.error().message;
    marks_.emplace(std::move(*marks));
  }

  const Step step_ = fake_step();
  const Host host_;
  TorchStep place_;
  std::optional<StepMarks> marks_;
};

TEST_F(StepProbeTest, EachStepWithItsTime) {
  constexpr int kSteps = 300, kRounds = 20;  // together more than there is room for at once
  for (int round = 0; round < kRounds; ++round) {
    const Ns before = steady_clock_now();
    for (int i = 0; i < kSteps; ++i) step_();
    const Ns after = steady_clock_now();
    const std::vector<Ns> times = marks_->read();
    ASSERT_EQ(times.size(), static_cast<size_t>(kSteps));
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
    EXPECT_GE(times.front(), before);
    EXPECT_LE(times.back(), after);
  }
  EXPECT_EQ(marks_->calls(), kSteps * kRounds);
  EXPECT_EQ(marks_->lost(), 0);
  EXPECT_TRUE(marks_->read().empty());
}

TEST_F(StepProbeTest, WhatIsLostIsCounted) {
  constexpr int kSteps = 5000;
  for (int i = 0; i < kSteps; ++i) step_();
  const size_t kept = marks_->read().size();
  EXPECT_GT(kept, 500u);
  EXPECT_LT(kept, static_cast<size_t>(kSteps));
  step_();  // the kernel tells of losses before what is noted next
  EXPECT_EQ(marks_->read().size(), 1u);
  EXPECT_EQ(marks_->calls(), kSteps + 1);
  EXPECT_EQ(marks_->lost(), kSteps - static_cast<i64>(kept));
}

TEST_F(StepProbeTest, OnlyOfItsThread) {
  std::thread([this] { step_(); }).join();
  EXPECT_TRUE(marks_->read().empty());
  step_();
  EXPECT_EQ(marks_->read().size(), 1u);
}

TEST_F(StepProbeTest, ItIsGoneWithItsDescriptor) {
  marks_.reset();
  step_();  // and the program goes on
}

// Another process, which was there before.
TEST_F(StepProbeTest, OfAnotherProcess) {
  int begin[2], done[2];
  ASSERT_EQ(pipe(begin), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    char word;
    if (read(begin[0], &word, 1) == 1)
      for (int i = 0; i < 10; ++i) step_();
    _exit(write(done[1], "x", 1) == 1 ? 0 : 1);
  }
  auto place = find_torch_step(host_, child);
  ASSERT_TRUE(place) << place.error().message;
  auto probe = open_step_probe(host_, child, *place);
  ASSERT_TRUE(probe) << probe.error().message;
  auto marks = StepMarks::of(std::move(*probe));
  ASSERT_TRUE(marks);
  EXPECT_FALSE(marks->has_ended());
  char word = 'x';
  ASSERT_EQ(write(begin[1], &word, 1), 1);
  ASSERT_EQ(read(done[0], &word, 1), 1);
  EXPECT_EQ(marks->read().size(), 10u);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(marks->has_ended());
  EXPECT_EQ(marks->calls(), 10);
  for (const int fd : {begin[0], begin[1], done[0], done[1]}) close(fd);
}

TEST(StepProbe, WhoHasNoPyTorch) {
  const pid_t child = fork();
  if (child == 0) {
    execlp("sleep", "sleep", "60", nullptr);
    _exit(1);
  }
  // Until it is another program its map is this one's.
  Result<TorchStep> step = find_torch_step({}, child);
  for (int i = 0; i < 500 && step; ++i) {
    usleep(10'000);
    step = find_torch_step({}, child);
  }
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().message, fmt::format("process {}: it has not loaded PyTorch", child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(find_torch_step({}, child));
}

// A process as its files say, whose library is what somebody has put there since it was loaded.
class TorchStepTest : public testing::Test {
 protected:
  TorchStepTest() {
    machine_.write("proc/42/maps", "7f00-7f01 r-xp 00000000 fe:01 7 /opt/libtorch_cpu.so\n");
    std::filesystem::create_directories(machine_.path("proc/42/root/opt"));
  }
  std::string library() const { return machine_.path("proc/42/root/opt/libtorch_cpu.so"); }
  Code found() const {
    const auto step = find_torch_step(machine_.host(), 42);
    return step ? Code::internal : step.error().code;
  }
  TestMachine machine_;
};

TEST_F(TorchStepTest, IsFoundBelowTheRootOfTheProcess) {
  std::filesystem::copy_file(fakes() / "libtorch_cpu.so", library());
  EXPECT_EQ(found(), Code::internal);  // it is
}

TEST_F(TorchStepTest, NoLinkIsFollowed) {
  std::filesystem::create_symlink(fakes() / "libtorch_cpu.so", library());
  EXPECT_EQ(found(), Code::io);
}

TEST_F(TorchStepTest, NothingButAPlainFileIsOpened) {
  ASSERT_EQ(mkfifo(library().c_str(), 0600), 0);
  EXPECT_EQ(found(), Code::invalid);
}

TEST_F(TorchStepTest, APyTorchThatDoesNotTell) {
  std::filesystem::copy_file(fakes() / "libamd_smi.so", library());
  EXPECT_EQ(found(), Code::unsupported);
}

}  // namespace
}  // namespace spotter::collect
