#include "process/role.h"

#include <gtest/gtest.h>

namespace spotter::process {
namespace {

using Environment = std::map<std::string, std::string>;

ProcessFacts process(std::vector<std::string> command, Environment environment = {{"PATH", "/bin"}},
                     bool has_gpu = false) {
  ProcessFacts facts;
  facts.pid = 42;
  facts.parent = 7;
  facts.command = std::move(command);
  facts.environment = std::move(environment);
  facts.has_gpu = has_gpu;
  return facts;
}

Identity identify(const ProcessFacts& facts) { return identify(facts, nullptr); }

const std::vector<std::string> kScript = {"/usr/bin/python3", "-u", "train.py", "--run", "torchrun"};
const std::vector<std::string> kSpawned = {"/usr/bin/python3", "-c",
                                           "from multiprocessing.spawn import spawn_main; spawn_main()",
                                           "--multiprocessing-fork"};

TEST(Role, ARankSaysSo) {
  const Identity i = identify(process(
      kScript, {{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"TORCHELASTIC_RUN_ID", "run 7"}}));
  EXPECT_EQ(i.role, Role::rank);
  EXPECT_EQ(i.rank, 3);
  EXPECT_EQ(i.world_size, 8);
  EXPECT_EQ(i.job, "run 7");
  EXPECT_EQ(i.evidence, "its environment says rank 3 of 8");
}

TEST(Role, EveryLaunchersRanks) {
  const struct {
    Environment environment;
    i64 rank, world;
  } cases[] = {
      {{{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}, 2, 4},
      {{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, 0, 2},
      {{{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "6"}, {"SLURM_JOB_ID", "99"}}, 5, 6},
      {{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}, 1, 2},
  };
  for (const auto& c : cases) {
    const Identity i = identify(process(kScript, c.environment));
    EXPECT_EQ(i.role, Role::rank);
    EXPECT_EQ(i.rank, c.rank);
    EXPECT_EQ(i.world_size, c.world);
  }
  EXPECT_EQ(identify(process(kScript, {{"SLURM_JOB_ID", "99"}})).job, "99");
}

TEST(Role, SlurmsControlGroupCountsBeforeTheEnvironment) {
  const auto job_in = [](const char* cgroup) {
    ProcessFacts facts = process(kScript, {{"SLURM_JOB_ID", "made up"}});
    facts.cgroup = cgroup;
    return identify(facts).job;
  };
  EXPECT_EQ(job_in("/system.slice/slurmstepd.scope/job_777/step_0/user/task_0"), "777");
  EXPECT_EQ(job_in("/system.slice/node1_slurmstepd.scope/job_778"), "778");
  EXPECT_EQ(job_in("/slurm/uid_1000/job_9/step_batch"), "9");
  for (const char* none : {"", "/", "/system.slice/slurmd.service", "/jobs/job_7", "/jobs/job_7/slurm",
                           "/user.slice/user-1000.slice/user@1000.service/slurm/job_7",
                           "/../../user.slice/user-1000.slice/user@1000.service/slurm/job_7"})
    EXPECT_EQ(job_in(none), "made up") << none;
}

TEST(Role, ATaskOfSlurmWhoseEnvironmentMayNotBeRead) {
  ProcessFacts facts = process(kScript, {});
  facts.cgroup = "/slurm/uid_1000/job_9/step_0";
  EXPECT_EQ(identify(facts).job, "9");
}

TEST(Role, RunsOfTorchrunWithoutAnIdAreJobsOfTheirOwn) {
  const auto job_of = [](Environment more) {
    Environment environment = {{"RANK", "0"}, {"WORLD_SIZE", "8"}, {"TORCHELASTIC_RUN_ID", "none"}};
    environment.merge(more);
    return identify(process(kScript, environment)).job;
  };
  const auto in_folder = [&](const char* file) {
    return job_of({{"LOCAL_WORLD_SIZE", "8"}, {"TORCHELASTIC_ERROR_FILE", file}});
  };
  EXPECT_EQ(in_folder("/tmp/torchelastic_ab1/none_k2x_9f/attempt_0/3/error.json"), "torchrun-k2x_9f");
  EXPECT_EQ(in_folder("/tmp/none_k2x_9f/attempt_1/0/error.json"), "torchrun-k2x_9f");
  EXPECT_EQ(in_folder("/none_of/this/attempt_0/0/error.json"), "");
  EXPECT_EQ(in_folder("error.json"), "");
  EXPECT_EQ(job_of({{"LOCAL_WORLD_SIZE", "4"}, {"MASTER_ADDR", "node0"}, {"MASTER_PORT", "29500"}}),
            "torchrun-node0:29500");
  EXPECT_EQ(job_of({{"PBS_JOBID", "9.server"}}), "9.server");
  EXPECT_EQ(job_of({}), "");
}

TEST(Role, JobsOfGridEngineAndMpi) {
  const auto job_of = [](const Environment& environment) {
    return identify(process(kScript, environment)).job;
  };
  EXPECT_EQ(job_of({{"JOB_ID", "backup"}}), "");
  EXPECT_EQ(job_of({{"JOB_ID", "17"}, {"SGE_TASK_ID", "undefined"}}), "17");
  EXPECT_EQ(job_of({{"PMIX_NAMESPACE", "prterun-node0-512@1"}, {"PMIX_RANK", "0"}}), "prterun-node0-512@1");
  EXPECT_EQ(job_of({{"PMIX_NAMESPACE", "slurm.pmix.7.0"}, {"SLURM_JOB_ID", "7"}}), "7");
}

TEST(Role, JobsOfSeveralRayClustersAreSeveral) {
  const auto job_of = [](const Environment& environment) {
    return identify(process(kScript, environment)).job;
  };
  EXPECT_EQ(job_of({{"RAY_JOB_ID", "02000000"}}), "02000000");
  EXPECT_EQ(job_of({{"RAY_JOB_ID", "02000000"}, {"RAY_CLUSTER_NAME", "tune-x7k2p"}}), "tune-x7k2p-02000000");
  EXPECT_EQ(job_of({{"RAY_CLUSTER_NAME", "tune-x7k2p"}}), "");
}

TEST(Role, WhatIsNoNumberIsNoRank) {
  for (const char* rank : {"", "x", "-1", "3x", "99999999999999999999"}) {
    const Identity i = identify(process(kScript, {{"RANK", rank}}));
    EXPECT_EQ(i.role, Role::training) << rank;
    EXPECT_FALSE(i.rank) << rank;
  }
}

TEST(Role, ASingleProcess) {
  const Identity i = identify(process(kScript));
  EXPECT_EQ(i.role, Role::training);
  EXPECT_EQ(i.evidence, "it runs PyTorch and has no rank");
  EXPECT_EQ(identify(process(kScript, {{"A", "b"}}, true)).evidence, "it has a GPU open and no rank");
  EXPECT_EQ(identify(process(kScript, {})).evidence,
            "its environment may not be read, so its rank is not known");
}

TEST(Role, Helpers) {
  const std::vector<std::string> commands[] = {
      {"/venv/bin/python", "/venv/bin/torchrun", "--nproc-per-node=4", "train.py"},
      {"python", "-m", "torch.distributed.run", "train.py"},
      {"python", "-u", "-m", "torch.distributed.launch", "train.py"},
      {"python", "-m", "deepspeed.launcher.launch", "train.py"},
      {"/usr/bin/python", "/usr/bin/accelerate", "launch", "train.py"},
      {"python", "-c", "from multiprocessing.resource_tracker import main;main(5)"},
      {"python", "-c", "from multiprocessing.forkserver import main; main(3)"},
      {"python", "/venv/lib/python3.11/site-packages/torch/_inductor/compile_worker/__main__.py",
       "--workers=8"},
  };
  for (const auto& command : commands) {
    // Whatever place it was given: a launcher that Slurm started has one, too.
    const Identity i = identify(process(command, {{"RANK", "0"}, {"SLURM_PROCID", "0"}}));
    EXPECT_EQ(i.role, Role::helper) << command[1];
    EXPECT_FALSE(i.rank);
    EXPECT_TRUE(i.evidence.starts_with("its command line is that of ")) << i.evidence;
  }
}

TEST(Role, TheScriptsOwnArgumentsTellNothing) {
  EXPECT_EQ(identify(process({"python", "train.py", "torchrun", "torch.distributed.run"})).role,
            Role::training);
  EXPECT_EQ(identify(process({"python", "-m", "my.train", "torch.distributed.run"})).role, Role::training);
}

TEST(Role, SpawnedProcesses) {
  const ProcessFacts rank = process(kScript, {{"RANK", "3"}});
  const Identity worker = identify(process(kSpawned, {{"RANK", "3"}}), &rank);
  EXPECT_EQ(worker.role, Role::helper);
  EXPECT_EQ(worker.evidence, "multiprocessing started it as a worker of process 7");
  // torch.multiprocessing.spawn: the parent gave each child a rank, or each has a GPU and the parent none.
  const ProcessFacts main = process(kScript);
  EXPECT_EQ(identify(process(kSpawned, {{"RANK", "1"}}), &main).rank, 1);
  EXPECT_EQ(identify(process(kSpawned, {{"A", "b"}}, true), &main).role, Role::training);
  EXPECT_EQ(identify(process(kSpawned, {{"A", "b"}}, false), &main).role, Role::helper);
  const ProcessFacts on_gpu = process(kScript, {{"A", "b"}}, true);
  EXPECT_EQ(identify(process(kSpawned, {{"A", "b"}}, true), &on_gpu).role, Role::helper);
}

TEST(Role, Notebooks) {
  const std::vector<std::string> kernel = {"python", "-m", "ipykernel_launcher", "-f", "kernel.json"};
  EXPECT_EQ(identify(process(kernel)).role, Role::helper);
  EXPECT_EQ(identify(process(kernel, {{"A", "b"}}, true)).role, Role::training);
}

TEST(Role, EvidenceCannotSteerATerminal) {
  EXPECT_EQ(identify(process(kScript, {{"SLURM_JOB_ID", "9\x1b[31m"}})).job.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace spotter::process
