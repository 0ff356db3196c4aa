// What /proc says about a process. The process may belong to anyone and may end at any time: what cannot be
// read is left empty.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system/host.h"
#include "base/types.h"

namespace spotter::process {

struct ProcessFacts {
  i64 pid = 0;        // as this process sees it
  i64 inner_pid = 0;  // as the process itself does: the innermost of its pid namespaces
  i64 parent = 0;
  i64 uid = -1;         // real
  i64 start_ticks = 0;  // after boot, in clock ticks; with the pid the identity of the process
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  // as at its start, but for false claims (scheduler.h);
                                                   // empty where it may not be read
  std::string cgroup;     // path of its control group: "/slurm/uid_1000/job_7/step_0"
  std::string container;  // the 64 hex digits of its control group, if it has some
  bool has_torch = false;
  std::string torch_folder;   // where its PyTorch lies, as it sees it: ".../site-packages"
  std::string torch_version;  // "2.13.0+cpu"; whoever wants it asks for it
  bool has_gpu = false;       // has a GPU's device file open
};

// Errors: not_found (no such process), io.
Result<ProcessFacts> read_process(const Host& host, i64 pid);

// The same without what it has open and has loaded, which takes a hundred times as long.
Result<ProcessFacts> read_process_briefly(const Host& host, i64 pid);

// Which PyTorch lies in the folder that read_process() has told; empty: it does not say. The folder may be on
// a file server, which may not answer.
std::string read_torch_version(const Host& host, i64 pid, const std::string& torch_folder);

// Leaves of the environment and the command line what the agent asks of a process that it knows already, once
// its job and role are told, and no more than a few KiB: anybody may run thousands of processes with
// megabytes of either.
void keep_what_is_asked_later(ProcessFacts& facts);

// Whether it has a GPU's device file open.
bool has_gpu_open(const Host& host, i64 pid);
// The parent alone; 0 where there is no such process.
i64 parent_of(const Host& host, i64 pid);
// The path of the control group alone; empty where there is no such process.
std::string control_group_of(const Host& host, i64 pid);

}  // namespace spotter::process
