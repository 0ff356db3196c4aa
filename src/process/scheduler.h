// What schedulers tell the processes of a job: in the names of their control groups, and in their
// environment.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "process/process_facts.h"

namespace spotter::process {

// Slurm names a job's control group job_ID: its own word, which a process can neither lose, as its
// environment, nor make up. Below user.slice, wherever it is seen from, people name groups as they like.
// Empty: none.
std::string_view slurm_job_of(std::string_view cgroup);

// Where Slurm has control groups for its jobs, who is in none of them is in no job of Slurm: takes out what
// the environment says of one. Containers are left alone: an engine that is not Slurm's gives them groups of
// its own.
void drop_false_claims(const Host& host, ProcessFacts& process);

struct JobFacts {
  std::string name, account, partition;
  std::string array_job, array_task;          // of a job that is one of an array
  std::string first_host;                     // where rank 0 is, as its processes are told (MASTER_ADDR)
  i64 uid = -1;                               // of the process
  std::string node_list;                      // of Slurm: "gpu[01-16]", rank 0's host first
  std::map<std::string, std::string> labels;  // of variables that somebody wants to know, by their names
};

// As the environment of one of its processes says: of Slurm, LSF, PBS and Grid Engine.
JobFacts job_facts(const ProcessFacts& process, std::span<const std::string> labels);

}  // namespace spotter::process
