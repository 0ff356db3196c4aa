#include "process/scheduler.h"

#include <gtest/gtest.h>

namespace spotter::process {
namespace {

JobFacts facts_of(std::map<std::string, std::string> environment,
                  const std::vector<std::string>& labels = {}) {
  ProcessFacts process;
  process.environment = std::move(environment);
  return job_facts(process, labels);
}

TEST(Scheduler, WhatSlurmSaysOfAJob) {
  const JobFacts facts = facts_of({{"SLURM_JOB_NAME", "llama"},
                                   {"SLURM_JOB_ACCOUNT", "nlp"},
                                   {"SLURM_JOB_PARTITION", "h100"},
                                   {"SLURM_ARRAY_JOB_ID", "70"},
                                   {"SLURM_ARRAY_TASK_ID", "0"}});
  EXPECT_EQ(facts.name, "llama");
  EXPECT_EQ(facts.account, "nlp");
  EXPECT_EQ(facts.partition, "h100");
  EXPECT_EQ(facts.array_job, "70");
  EXPECT_EQ(facts.array_task, "0");
}

TEST(Scheduler, OthersAsWell) {
  const JobFacts lsf = facts_of({{"LSB_JOBNAME", "a"}, {"LSB_QUEUE", "q"}, {"LSB_JOBINDEX", "0"}});
  EXPECT_EQ(lsf.name, "a");
  EXPECT_EQ(lsf.partition, "q");
  EXPECT_EQ(lsf.array_task, "") << "of no array";
  EXPECT_EQ(facts_of({{"SGE_TASK_ID", "undefined"}}).array_task, "");
  EXPECT_EQ(facts_of({{"SGE_TASK_ID", "4"}}).array_task, "4");
}

TEST(Scheduler, OnlyVariablesThatSomebodyWants) {
  const JobFacts facts =
      facts_of({{"TEAM", "vision"}, {"SECRET", "x"}, {"EMPTY", ""}}, {"TEAM", "EMPTY", "NONE"});
  EXPECT_EQ(facts.labels, (std::map<std::string, std::string>{{"TEAM", "vision"}}));
}

}  // namespace
}  // namespace spotter::process
