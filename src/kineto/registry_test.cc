#include "kineto/registry.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace spotter::kineto {
namespace {

namespace fs = std::filesystem;

class RegistryTest : public testing::Test {
 protected:
  RegistryTest() : root_(fs::path(testing::TempDir()) / fmt::format("spotter_registry_{}", getpid())) {
    add(1, 0, {});
    add(7, 1, {"torchrun"});
  }
  ~RegistryTest() override { fs::remove_all(root_); }

  // A process of the made-up /proc.
  void add(i64 pid, i64 parent, const std::vector<std::string>& command,
           const std::map<std::string, std::string>& environment = {}, i64 start = 100, i64 inner_pid = 0) {
    const fs::path folder = root_ / std::to_string(pid);
    fs::create_directories(folder / "fd");
    const auto write = [&](const char* name, const std::string& text) {
      std::ofstream(folder / name) << text;
    };
    write("stat", fmt::format("{} (python) S {} 1 1 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 9 0 {} 1 2 3", pid,
                              parent, start));
    write("status",
          fmt::format("Uid:\t0\nNSpid:\t{}{}\n", pid, inner_pid ? fmt::format("\t{}", inner_pid) : ""));
    std::string words, variables;
    for (const std::string& word : command) words += word + '\0';
    for (const auto& [name, value] : environment) variables += name + "=" + value + '\0';
    write("cmdline", words);
    write("environ", variables);
  }
  Process* seen(i64 pid, const std::string& address, const Poll& poll = {2, 0, {}}, Ns now = 0) {
    const Result<Process*> process = registry_.seen({pid, 1000}, address, poll, now);
    return process ? *process : nullptr;
  }
  std::vector<i64> pids(const Target& target) {
    std::vector<i64> found;
    for (const Process* p : registry_.matching(target)) found.push_back(p->facts.pid);
    return found;
  }

  fs::path root_;
  Registry registry_{Host{root_.string()}};
};

TEST_F(RegistryTest, AProcessIsWhoTheKernelSays) {
  add(42, 7, {"python", "train.py"}, {{"RANK", "1"}, {"WORLD_SIZE", "2"}}, 100, 1);
  const Process* p = seen(42, "dynoconfigclient-a", {2, 99, {1}}, 10);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->facts.pid, 42);
  EXPECT_EQ(p->facts.inner_pid, 1);
  EXPECT_EQ(p->facts.uid, 1000);
  EXPECT_EQ(p->identity.rank, 1);
  EXPECT_EQ(p->ancestors, std::vector<i64>{7});
  EXPECT_EQ(p->polls, 1);
  seen(42, "dynoconfigclient-a", {0, 99, {1}}, 25);
  EXPECT_EQ(p->polls, 2);
  EXPECT_EQ(p->first_poll, 10);
  EXPECT_EQ(p->last_poll, 25);
  EXPECT_FALSE(p->poll.takes_trace());
}

TEST_F(RegistryTest, ContainersWithEqualPidsAreKeptApart) {
  add(42, 7, {"python", "a.py"}, {}, 100, 1);
  add(43, 7, {"python", "b.py"}, {}, 100, 1);
  EXPECT_NE(seen(42, "a", {2, 0, {1}}), seen(43, "b", {2, 0, {1}}));
  EXPECT_EQ(registry_.all().size(), 2u);
  EXPECT_EQ(pids({.pids = {1}}), std::vector<i64>{});  // whose pid 1 it is cannot be told
  EXPECT_EQ(pids({.pids = {42}}), std::vector<i64>{42});
}

TEST_F(RegistryTest, APidThatIsUsedAgainIsAnotherProcess) {
  add(42, 7, {"python", "a.py"}, {{"RANK", "1"}});
  seen(42, "a");
  add(42, 7, {"python", "b.py"}, {{"RANK", "2"}}, 200);
  const Process* p = seen(42, "b");
  EXPECT_EQ(p->identity.rank, 2);
  EXPECT_EQ(p->polls, 1);
  EXPECT_EQ(registry_.all().size(), 1u);
}

// Anybody may run thousands of processes that have a megabyte each.
TEST_F(RegistryTest, OfAnEnvironmentAndACommandOnlyALittleIsKept) {
  std::map<std::string, std::string> environment = {{"RANK", "1"},
                                                    {"SLURM_JOB_ID", std::string(100'000, '7')},
                                                    {"SPOTTER_RESPOND", "off"},
                                                    {"NCCL_DEBUG", "INFO"},
                                                    {"KINETO_ONDEMAND_TRACE_DIR", "/scratch"},
                                                    {"JUNK", std::string(50'000, 'j')}};
  for (int i = 0; i < 100; ++i) environment[fmt::format("TORCH_{}", i)] = std::string(1000, 't');
  add(42, 7, {"python", "train.py", std::string(60'000, 'x'), "last"}, environment);
  const Process* p = seen(42, "a");
  ASSERT_TRUE(p);
  registry_.refresh(Registry::kStale + 1, 1);
  EXPECT_EQ(p->identity.rank, 1);
  EXPECT_EQ(p->identity.job, std::string(256, '7'));
  size_t bytes = 0;
  for (const auto& [name, value] : p->facts.environment) bytes += name.size() + value.size();
  EXPECT_LE(bytes, size_t{8} << 10);
  for (const char* name : {"SPOTTER_RESPOND", "NCCL_DEBUG", "KINETO_ONDEMAND_TRACE_DIR"})
    EXPECT_EQ(p->facts.environment.at(name), environment[name]);
  EXPECT_FALSE(p->facts.environment.contains("JUNK"));
  ASSERT_EQ(p->facts.command.size(), 3U);
  EXPECT_EQ(p->facts.command[1], "train.py");
  EXPECT_LE(p->facts.command[2].size(), size_t{4} << 10);
}

TEST_F(RegistryTest, AProcessThatHasEnded) {
  EXPECT_EQ(registry_.seen({77, 0}, "a", {}, 0).error().code, Code::not_found);
  add(42, 7, {"python"});
  seen(42, "a");
  registry_.gone(42);
  registry_.gone(42);
  EXPECT_EQ(registry_.find(42), nullptr);
}

TEST_F(RegistryTest, WhatIsMeant) {
  add(40, 1, {"python", "/bin/torchrun", "train.py"}, {{"SLURM_JOB_ID", "5"}});
  add(42, 40, {"python", "train.py"}, {{"RANK", "0"}, {"SLURM_JOB_ID", "5"}});
  add(43, 40, {"python", "train.py"}, {{"RANK", "1"}, {"SLURM_JOB_ID", "5"}});
  add(44, 1, {"python", "other.py"});
  seen(40, "a", {2, 5, {40}});
  seen(42, "b", {2, 5, {42, 40}});
  seen(43, "c", {2, 5, {43, 40}});
  seen(44, "d", {2, 0, {44, 30}});
  EXPECT_EQ(pids({}), (std::vector<i64>{42, 43, 44}));
  EXPECT_EQ(pids({.helpers = true}), (std::vector<i64>{40, 42, 43, 44}));
  EXPECT_EQ(pids({.job = "5"}), (std::vector<i64>{42, 43}));
  EXPECT_EQ(pids({.ranks = {1, 7}}), std::vector<i64>{43});
  EXPECT_EQ(pids({.pids = {40}}), (std::vector<i64>{42, 43}));  // an ancestor
  EXPECT_EQ(pids({.pids = {30}}), std::vector<i64>{44});        // one that has ended, but was told
  EXPECT_EQ(pids({.pids = {40}, .ranks = {0}}), std::vector<i64>{42});
  EXPECT_EQ(pids({.pids = {99, 30, 1000, 40, 7}}), (std::vector<i64>{42, 43, 44}));
  EXPECT_EQ(pids({.ranks = {7, 1, 0}}), (std::vector<i64>{42, 43}));
  EXPECT_EQ(pids({.job = "6"}), std::vector<i64>{});
}

TEST_F(RegistryTest, NobodyIsTheChildOfWhomHeNames) {
  add(42, 1, {"python", "victim.py"});
  add(43, 1, {"python", "other.py"});
  seen(42, "a", {2, 0, {42}});
  seen(43, "b", {2, 0, {43, 42}});
  EXPECT_EQ(pids({.pids = {42}}), std::vector<i64>{42});
}

// A rank that torch.multiprocessing.spawn started polls before it opens its GPU.
TEST_F(RegistryTest, ASpawnedRankIsFoundByItsGpuWhileItPolls) {
  add(40, 1, {"python", "train.py"}, {{"SLURM_PROCID", "0"}});
  add(42, 40, {"python", "-c", "from multiprocessing.spawn import spawn_main", "--multiprocessing-fork"},
      {{"SLURM_PROCID", "0"}});
  const Process* p = seen(42, "a");
  EXPECT_EQ(p->identity.role, process::Role::helper);
  fs::create_symlink("/dev/nvidia0", root_ / "42/fd/9");
  seen(42, "a", {}, kSecond);
  EXPECT_EQ(p->identity.role, process::Role::helper);
  seen(42, "a", {}, 3 * kSecond);
  EXPECT_EQ(p->identity.role, process::Role::training);
  EXPECT_EQ(p->identity.rank, std::nullopt);  // its launcher's is none of its own
  EXPECT_EQ(p->facts.uid, 1000);
}

// It may lie on a file server: who reads it is not waited for.
TEST_F(RegistryTest, WhichPyTorchIsKnownLater) {
  add(42, 7, {"python"});
  std::ofstream(root_ / "42/maps") << "7f00-7f01 r-xp 0 08:02 1 /opt/torch/lib/libtorch_cpu.so\n";
  fs::create_directories(root_ / "42/root/opt/torch-2.13.0+cpu.dist-info");
  const Process* p = seen(42, "a");
  for (int i = 0; i < 500 && p->facts.torch_version.empty(); ++i) {
    usleep(10'000);
    seen(42, "a");
  }
  EXPECT_EQ(p->facts.torch_version, "2.13.0+cpu");
  registry_.refresh(kMinute, 64);
  EXPECT_EQ(p->facts.torch_version, "2.13.0+cpu");
}

TEST_F(RegistryTest, AGpuIsOpenedLater) {
  add(42, 7, {"python", "-m", "ipykernel_launcher"});
  const Process* p = seen(42, "a");
  EXPECT_EQ(p->identity.role, process::Role::helper);
  fs::create_symlink("/dev/nvidia0", root_ / "42/fd/9");
  registry_.refresh(Registry::kStale + 200, 64);
  EXPECT_EQ(p->identity.role, process::Role::training);
  EXPECT_EQ(p->facts.uid, 1000);
}

TEST_F(RegistryTest, ThereIsRoomForSoMany) {
  const auto seen_of = [&](i64 pid, i64 uid) { return registry_.seen({pid, uid}, "a", {}, 0); };
  const i64 most = Registry::kMost, most_of_user = Registry::kMostOfUser, first = 100;
  for (i64 i = 0; i < most; ++i) {
    const i64 pid = first + i;
    if (i == 0) add(pid, 1, {"python"});
    if (i > 0) fs::create_directory_symlink(root_ / "100", root_ / std::to_string(pid));
    if (i == most_of_user) {
      EXPECT_EQ(seen_of(pid, 1000).error().code, Code::denied) << "the rest is for others";
    }
    ASSERT_TRUE(seen_of(pid, i < most_of_user ? 1000 : 1001));
  }
  add(50, 1, {"python"});
  EXPECT_EQ(seen_of(50, 0).error().code, Code::denied);
  EXPECT_TRUE(seen_of(first, 1000));  // those that are there go on
  registry_.gone(first + 1);
  EXPECT_TRUE(seen_of(50, 0));
}

}  // namespace
}  // namespace spotter::kineto
