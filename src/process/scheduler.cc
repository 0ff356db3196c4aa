#include "process/scheduler.h"

#include <algorithm>

#include "base/system/file.h"
#include "base/text/utf8.h"

namespace spotter::process {
namespace {

constexpr std::string_view kJob = "job_", kSlurm = "SLURM_";
constexpr const char* kVersion1[] = {"memory", "freezer", "cpuset", "devices"};

// The first that is set counts.
constexpr const char* kName[] = {"SLURM_JOB_NAME", "LSB_JOBNAME", "PBS_JOBNAME", "JOB_NAME"};
constexpr const char* kAccount[] = {"SLURM_JOB_ACCOUNT", "LSB_PROJECT_NAME", "PBS_ACCOUNT"};
constexpr const char* kPartition[] = {"SLURM_JOB_PARTITION", "LSB_QUEUE", "PBS_QUEUE", "QUEUE"};
constexpr const char* kArrayJob[] = {"SLURM_ARRAY_JOB_ID", "PBS_ARRAY_ID"};
constexpr const char* kArrayTask[] = {"SLURM_ARRAY_TASK_ID", "LSB_JOBINDEX", "PBS_ARRAY_INDEX",
                                      "SGE_TASK_ID"};
constexpr const char* kFirstHost[] = {"MASTER_ADDR"};
constexpr const char* kNodeList[] = {"SLURM_JOB_NODELIST", "SLURM_NODELIST"};

bool has_jobs(const std::string& folder) {
  return std::ranges::any_of(names_in(folder),
                             [](const std::string& name) { return name.starts_with(kJob); });
}

// Version 2: system.slice/slurmstepd.scope/job_7, with the node's name before it where several slurmd run.
// Version 1: memory/slurm/uid_1000/job_7, likewise.
bool has_slurm_groups(const Host& host) {
  const std::string root = host.sys + "/fs/cgroup/", system = root + "system.slice/";
  for (const std::string& name : names_in(system)) {
    if (name.ends_with("slurmstepd.scope") && has_jobs(system + name)) return true;
  }
  for (const char* controller : kVersion1) {
    const std::string folder = root + controller + "/";
    for (const std::string& slurm : names_in(folder)) {
      if (!slurm.starts_with("slurm")) continue;
      for (const std::string& user : names_in(folder + slurm)) {
        if (user.starts_with("uid_") && has_jobs(folder + slurm + "/" + user)) return true;
      }
    }
  }
  return false;
}

std::string first_of(const ProcessFacts& process, std::span<const char* const> names) {
  for (const char* name : names) {
    const auto it = process.environment.find(name);
    if (it != process.environment.end() && !it->second.empty()) return to_printable(it->second);
  }
  return {};
}

}  // namespace

std::string_view slurm_job_of(std::string_view cgroup) {
  constexpr std::string_view kMark = "/job_";
  const size_t at = cgroup.find(kMark);
  if (at == cgroup.npos || cgroup.find("slurm") >= at || cgroup.find("/user.slice/") < at) return {};
  const std::string_view rest = cgroup.substr(at + kMark.size());
  return rest.substr(0, rest.find('/'));
}

void drop_false_claims(const Host& host, ProcessFacts& process) {
  const auto claim = process.environment.lower_bound(std::string(kSlurm));
  if (claim == process.environment.end() || !claim->first.starts_with(kSlurm)) return;
  if (!process.container.empty() || !slurm_job_of(process.cgroup).empty() || !has_slurm_groups(host)) return;
  std::erase_if(process.environment, [](const auto& entry) { return entry.first.starts_with(kSlurm); });
}

JobFacts job_facts(const ProcessFacts& process, std::span<const std::string> labels) {
  JobFacts facts;
  facts.name = first_of(process, kName);
  facts.account = first_of(process, kAccount);
  facts.partition = first_of(process, kPartition);
  facts.array_job = first_of(process, kArrayJob);
  facts.array_task = first_of(process, kArrayTask);
  // LSF and Grid Engine say so of a job that is of no array.
  if (facts.array_task == "0" && first_of(process, kArrayJob).empty()) facts.array_task.clear();
  if (facts.array_task == "undefined") facts.array_task.clear();
  facts.uid = process.uid;
  facts.first_host = first_of(process, kFirstHost);
  facts.node_list = first_of(process, kNodeList);
  for (const std::string& label : labels) {
    const char* const name[] = {label.c_str()};
    if (std::string value = first_of(process, name); !value.empty()) facts.labels[label] = std::move(value);
  }
  return facts;
}

}  // namespace spotter::process
