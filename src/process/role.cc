#include "process/role.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/system/file.h"
#include "base/text/printable_within.h"
#include "base/text/quantity.h"
#include "process/scheduler.h"

namespace spotter::process {
namespace {

constexpr size_t kMostJob = 256;  // bytes of its name: anybody may write what he likes into his environment

// Where launchers tell a process its place; the first that is set counts.
constexpr const char* kRank[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
constexpr const char* kWorldSize[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"};
constexpr const char kRunId[] = "TORCHELASTIC_RUN_ID";
constexpr const char kRayJob[] = "RAY_JOB_ID";
constexpr const char* kJob[] = {"SLURM_JOB_ID", kRunId, kRayJob, "LSB_JOBID", "PBS_JOBID"};
constexpr const char kRayCluster[] = "RAY_CLUSTER_NAME";  // set by KubeRay
constexpr const char kGridEngineJob[] = "JOB_ID";         // a name that others use as well
constexpr const char kMpiJob[] = "PMIX_NAMESPACE";
constexpr std::string_view kNoRunId = "none";  // as torchrun calls a run without --rdzv-id

// Words of a command line that tell a helper.
struct Helper {
  std::string_view word;
  enum Match : u8 { is, begins, program } match;  // program: the last part of a path
  const char* what;
};
constexpr Helper kHelpers[] = {
    {"torchrun", Helper::program, "a launcher (torchrun)"},
    {"torch.distributed.run", Helper::is, "a launcher (torch.distributed.run)"},
    {"torch.distributed.launch", Helper::is, "a launcher (torch.distributed.launch)"},
    {"deepspeed", Helper::program, "a launcher (deepspeed)"},
    {"deepspeed.launcher.", Helper::begins, "a launcher (deepspeed)"},
    {"accelerate", Helper::program, "a launcher (accelerate)"},
    {"accelerate.commands.launch", Helper::is, "a launcher (accelerate)"},
    {"from multiprocessing.resource_tracker", Helper::begins, "the resource tracker of multiprocessing"},
    {"from multiprocessing.semaphore_tracker", Helper::begins, "the resource tracker of multiprocessing"},
    {"from multiprocessing.forkserver", Helper::begins, "the fork server of multiprocessing"},
    {"torch._inductor.compile_worker", Helper::begins, "a compile worker of torch.compile"},
};
constexpr std::string_view kCompileWorker = "torch/_inductor/compile_worker";
constexpr std::string_view kSpawned = "--multiprocessing-fork";
constexpr std::string_view kNotebook = "ipykernel_launcher";

std::string_view variable(const ProcessFacts& p, const char* name) {
  const auto it = p.environment.find(name);
  return it == p.environment.end() ? std::string_view() : it->second;
}
std::string_view variable(const ProcessFacts& p, std::span<const char* const> names) {
  for (const char* name : names) {
    if (const std::string_view value = variable(p, name); !value.empty()) return value;
  }
  return {};
}

// Of torchrun without --rdzv-id, since all such runs are called "none": of one on several nodes what they
// have in common, the place where they meet; of one on this node the folder that torchrun makes for each,
// .../none_XXXXXXXX/attempt_0/0/error.json.
std::string torchrun_job_of(const ProcessFacts& p) {
  const auto ranks = whole_number(variable(p, "WORLD_SIZE")),
             ranks_here = whole_number(variable(p, "LOCAL_WORLD_SIZE"));
  const std::string_view place = variable(p, "MASTER_ADDR");
  if (ranks && ranks_here && *ranks > *ranks_here && !place.empty())
    return fmt::format("torchrun-{}:{}", place, variable(p, "MASTER_PORT"));
  constexpr std::string_view kFolder = "/none_", kEnd = "/attempt_";
  std::string_view file = variable(p, "TORCHELASTIC_ERROR_FILE");
  file = file.substr(0, file.rfind(kEnd));
  const size_t folder = file.rfind(kFolder);
  if (folder == file.npos || file.find('/', folder + 1) != file.npos) return {};
  return fmt::format("torchrun-{}", file.substr(folder + kFolder.size()));
}

bool has_grid_engine(const ProcessFacts& p) {
  const auto it = p.environment.lower_bound("SGE_");
  return it != p.environment.end() && it->first.starts_with("SGE_");
}

std::string job_of(const ProcessFacts& p) {
  if (const std::string_view job = slurm_job_of(p.cgroup); !job.empty()) return std::string(job);
  bool is_torchrun = false;
  for (const char* name : kJob) {
    const std::string_view job = variable(p, name);
    const bool is_none = std::string_view(name) == kRunId && job == kNoRunId;
    is_torchrun = is_torchrun || is_none;
    if (job.empty() || is_none) continue;
    // Each cluster of Ray counts its jobs from one.
    const bool is_ray = std::string_view(name) == kRayJob;
    if (const std::string_view cluster = variable(p, kRayCluster); is_ray && !cluster.empty())
      return fmt::format("{}-{}", cluster, job);
    return std::string(job);
  }
  if (const std::string_view job = variable(p, kGridEngineJob); !job.empty() && has_grid_engine(p))
    return std::string(job);
  if (is_torchrun) return torchrun_job_of(p);
  return std::string(variable(p, kMpiJob));
}

bool has_word(const ProcessFacts& p, std::string_view word) {
  return std::find(p.command.begin(), p.command.end(), word) != p.command.end();
}

// Only the words up to the script: what follows are its own arguments. Options of the interpreter come
// before, and -m and -c are followed by a module or a program.
std::span<const std::string> until_script(const ProcessFacts& p) {
  for (size_t i = 1; i < p.command.size(); ++i) {
    const std::string& word = p.command[i];
    if (word == "-m" || word == "-c") return std::span(p.command).first(std::min(i + 2, p.command.size()));
    if (!word.starts_with('-')) return std::span(p.command).first(i + 1);
  }
  return p.command;
}

const char* helper_by_command(const ProcessFacts& p) {
  for (const std::string& word : until_script(p)) {
    if (word.find(kCompileWorker) != word.npos) return "a compile worker of torch.compile";
    for (const Helper& h : kHelpers) {
      const bool found = h.match == Helper::is       ? word == h.word
                         : h.match == Helper::begins ? word.starts_with(h.word)
                                                     : base_name(word) == h.word;
      if (found) return h.what;
    }
  }
  return nullptr;
}

// A process that multiprocessing started is a worker of its parent, or a rank that
// torch.multiprocessing.spawn started: then it was given a rank of its own, or a GPU.
bool is_worker(const ProcessFacts& p, const ProcessFacts* parent) {
  if (!needs_parent(p)) return false;
  const std::string_view own = variable(p, std::span(kRank).first(1));
  if (!own.empty() && parent && own != variable(*parent, std::span(kRank).first(1))) return false;
  return !p.has_gpu || (parent && parent->has_gpu);
}

}  // namespace

const char* role_name(Role role) {
  switch (role) {
    case Role::rank:
      return "rank";
    case Role::training:
      return "training";
    case Role::helper:
      return "helper";
  }
  return "unknown";
}

// Only what launchers of PyTorch set for the ranks themselves: Slurm's and MPI's are set for a launcher, too.
std::optional<i64> inherited_rank(const ProcessFacts& process) {
  return whole_number(variable(process, std::span(kRank).first(1)));
}

bool needs_parent(const ProcessFacts& process) { return has_word(process, kSpawned); }

Identity identify(const ProcessFacts& process, const ProcessFacts* parent) {
  Identity identity;
  identity.job = printable_within(job_of(process), kMostJob);
  if (const char* what = helper_by_command(process)) {
    identity.role = Role::helper;
    identity.evidence = fmt::format("its command line is that of {}", what);
    return identity;
  }
  if (is_worker(process, parent)) {
    identity.role = Role::helper;
    identity.evidence = fmt::format("multiprocessing started it as a worker of process {}", process.parent);
    return identity;
  }
  // What multiprocessing started is not the task that a scheduler or MPI has numbered.
  const bool is_spawned = needs_parent(process);
  const auto own = [&](std::span<const char* const> names) {
    return whole_number(variable(process, is_spawned ? names.first(1) : names));
  };
  identity.rank = own(kRank);
  identity.world_size = own(kWorldSize);
  if (identity.rank) {
    identity.role = Role::rank;
    identity.evidence = fmt::format("its environment says rank {}", *identity.rank);
    if (identity.world_size) identity.evidence += fmt::format(" of {}", *identity.world_size);
  } else if (has_word(process, kNotebook) && !process.has_gpu) {
    identity.role = Role::helper;
    identity.evidence = "it is a notebook's kernel and has no GPU open";
  } else if (process.environment.empty()) {
    identity.evidence = "its environment may not be read, so its rank is not known";
  } else {
    identity.evidence = process.has_gpu ? "it has a GPU open and no rank" : "it runs PyTorch and has no rank";
  }
  return identity;
}

}  // namespace spotter::process
