#include "process/process_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace spotter::process {
namespace {

namespace fs = std::filesystem;

// As /proc lists them.
std::string with_nuls(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

// A made-up /proc.
class ProcessFactsTest : public testing::Test {
 protected:
  ProcessFactsTest() : root_(fs::path(testing::TempDir()) / fmt::format("spotter_proc_{}", getpid())) {
    fs::create_directories(root_ / "42" / "fd");
    host_.proc = root_.string();
    write("stat", "42 (pt_main) thread) S 7 42 7 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 9 0 987654 1 2 3");
    write("status", "Name:\tpython\nUid:\t1000\t1001\t1000\t1000\nNSpid:\t42\t5\n");
    write("cmdline", with_nuls({"python", "train.py", "--lr", "0.1"}));
    write("environ", with_nuls({"RANK=3", "WORLD_SIZE=8", "EMPTY=", "junk", "A=b=c"}));
    write("cgroup", "0::/\n");
    write("maps", "00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/python3.11\n");
  }
  ~ProcessFactsTest() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / "42" / name).parent_path());
    std::ofstream(root_ / "42" / name) << text;
  }
  ProcessFacts read() const {
    const Result<ProcessFacts> facts = read_process(host_, 42);
    EXPECT_TRUE(facts);
    return facts.value_or(ProcessFacts{});
  }

  fs::path root_;
  Host host_;
};

TEST_F(ProcessFactsTest, ReadsWhatTheKernelWrites) {
  const ProcessFacts facts = read();
  EXPECT_EQ(facts.pid, 42);
  EXPECT_EQ(facts.inner_pid, 5);
  EXPECT_EQ(facts.parent, 7);  // the name in parentheses may hold anything
  EXPECT_EQ(facts.start_ticks, 987654);
  EXPECT_EQ(facts.uid, 1000);
  EXPECT_EQ(facts.command, (std::vector<std::string>{"python", "train.py", "--lr", "0.1"}));
  EXPECT_EQ(facts.environment, (std::map<std::string, std::string>{
                                   {"A", "b=c"}, {"EMPTY", ""}, {"RANK", "3"}, {"WORLD_SIZE", "8"}}));
  EXPECT_EQ(facts.container, "");
  EXPECT_FALSE(facts.has_torch);
  EXPECT_FALSE(facts.has_gpu);
}

// Where Slurm has groups for its jobs, who is in none of them is in no job, whatever he says.
TEST_F(ProcessFactsTest, AJobOfSlurmIsNotMadeUp) {
  host_.sys = (root_ / "sys").string();
  write("environ", with_nuls({"RANK=3", "SLURM_JOB_ID=7", "SLURM_PROCID=1"}));
  write("cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n");
  EXPECT_EQ(read().environment.count("SLURM_JOB_ID"), 1U)
      << "Slurm has none: there is nothing to hold it against";
  const auto job = root_ / "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7";
  fs::create_directories(job);
  EXPECT_EQ(read().environment, (std::map<std::string, std::string>{{"RANK", "3"}}));
  write("cgroup", "0::/system.slice/slurmstepd.scope/job_7/step_0\n");
  EXPECT_EQ(read().environment.count("SLURM_JOB_ID"), 1U);
  write("cgroup", "0::/system.slice/docker-" + std::string(64, 'a') + ".scope\n");
  EXPECT_EQ(read().environment.count("SLURM_JOB_ID"), 1U)
      << "an engine gives its containers groups of its own";
  fs::remove(job);
  fs::create_directories(root_ / "sys/fs/cgroup/memory/slurm_node1/uid_1000/job_8");
  write("cgroup", "0::/user.slice\n");
  EXPECT_EQ(read().environment.count("SLURM_JOB_ID"), 0U);
}

TEST_F(ProcessFactsTest, OfALongEnvironmentTheBeginningIsRead) {
  std::string text = with_nuls({"RANK=3"});
  for (int i = 0; i < 1'000'000; ++i) text += fmt::format("{}=", i) + '\0';
  write("environ", text);
  write("cmdline", with_nuls({"python", std::string(1 << 20, 'x')}));
  const ProcessFacts facts = read();
  EXPECT_EQ(facts.environment.at("RANK"), "3");
  EXPECT_LE(facts.environment.size(), 4096U);
  EXPECT_EQ(facts.command.at(0), "python");
  EXPECT_LT(facts.command.at(1).size(), size_t{64} << 10);
}

TEST_F(ProcessFactsTest, WhatIsMissingStaysEmpty) {
  for (const char* name : {"status", "cmdline", "environ", "cgroup", "maps"}) fs::remove(root_ / "42" / name);
  const ProcessFacts facts = read();
  EXPECT_EQ(facts.start_ticks, 987654);
  EXPECT_TRUE(facts.command.empty() && facts.environment.empty());
}

TEST_F(ProcessFactsTest, Errors) {
  EXPECT_EQ(read_process(host_, 43).error().code, Code::not_found);
  EXPECT_EQ(parent_of(host_, 42), 7);
  EXPECT_EQ(parent_of(host_, 43), 0);
  for (const char* stat : {"", "42", "42 (a)", "42 (a) S 1 2"}) {
    write("stat", stat);
    EXPECT_EQ(read_process(host_, 42).error().code, Code::io) << stat;
  }
}

TEST_F(ProcessFactsTest, Containers) {
  const std::string id(64, 'a');
  for (const std::string& cgroup : {"0::/docker/" + id + "\n", "0::/system.slice/docker-" + id + ".scope\n",
                                    "12:cpu:/kubepods/burstable/pod1234/" + id + "\n0::/kubepods/x\n",
                                    "0::/kubepods.slice/cri-containerd-" + id + ".scope/init\n"}) {
    write("cgroup", cgroup);
    EXPECT_EQ(read().container, id) << cgroup;
  }
  for (const std::string& cgroup :
       {std::string("0::/user.slice\n"), "0::/x/" + id + "b\n", "0::/" + id.substr(1)}) {
    write("cgroup", cgroup);
    EXPECT_EQ(read().container, "") << cgroup;
  }
}

TEST_F(ProcessFactsTest, Gpus) {
  fs::create_symlink("/dev/nvidiactl", root_ / "42/fd/3");
  fs::create_symlink("/dev/nvidia-uvm", root_ / "42/fd/4");
  EXPECT_FALSE(read().has_gpu);  // open in whoever asks whether there is one
  fs::create_symlink("/dev/nvidia0", root_ / "42/fd/5");
  EXPECT_TRUE(read().has_gpu);
}

TEST_F(ProcessFactsTest, PyTorch) {
  write("maps",
        "7f00-7f01 r-xp 00000000 08:02 1 /opt/a b/site-packages/torch/lib/libtorch_cpu.so\n"
        "7f02-7f03 r-xp 00000000 08:02 1 /opt/a b/site-packages/torch/lib/libtorch.so\n");
  EXPECT_TRUE(read().has_torch);
  EXPECT_EQ(read().torch_folder, "/opt/a b/site-packages");
  const auto version = [&] { return read_torch_version(host_, 42, read().torch_folder); };
  EXPECT_EQ(version(), "");
  fs::create_directories(root_ / "42/root/opt/a b/site-packages/torch-2.13.0+cpu.dist-info");
  fs::create_directories(root_ / "42/root/opt/a b/site-packages/torchvision-0.1.dist-info");
  EXPECT_EQ(version(), "2.13.0+cpu");
}

TEST(ProcessFacts, OfThisProcess) {
  const Result<ProcessFacts> facts = read_process(Host{}, getpid());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->pid, getpid());
  EXPECT_EQ(facts->parent, getppid());
  EXPECT_EQ(facts->uid, static_cast<i64>(getuid()));
  EXPECT_GT(facts->start_ticks, 0);
  EXPECT_FALSE(facts->command.empty());
  EXPECT_FALSE(facts->environment.empty());
}

}  // namespace
}  // namespace spotter::process
