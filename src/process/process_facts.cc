#include "process/process_facts.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <memory>
#include <string_view>

#include "base/system/descriptor.h"
#include "base/system/file.h"
#include "process/process_stat.h"
#include "process/scheduler.h"

namespace spotter::process {
namespace {

constexpr size_t kMostText = size_t{4} << 20;  // of one file of /proc
// What somebody may have made as long as he likes is read from its beginning: all that is looked for is
// there.
constexpr size_t kMostEnvironment = size_t{256} << 10, kMostCommand = size_t{64} << 10, kMostParts = 4096;
constexpr std::string_view kTorchLibrary = "/torch/lib/libtorch_cpu.so";
constexpr std::string_view kGpuFiles[] = {"/dev/nvidia", "/dev/kfd", "/dev/dri/render", "/dev/accel",
                                          "/dev/habanalabs"};

std::string text_of(const std::string& path) { return read_small_file(path, kMostText).value_or(""); }

// Its first `most` bytes; empty where it cannot be read.
std::string beginning_of(const std::string& path, size_t most) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(most, '\0');
  size_t used = 0;
  while (used < most) {
    const ssize_t n = ::read(file.fd, text.data() + used, most - used);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    used += static_cast<size_t>(n);
  }
  text.resize(used);
  return text;
}

i64 number(std::string_view text) {
  i64 value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string> split(std::string_view text, char at, size_t most = SIZE_MAX) {
  std::vector<std::string> parts;
  while (!text.empty() && parts.size() < most) {
    const size_t end = std::min(text.find(at), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// The words of the line that begins with this label.
std::vector<std::string> line_of(std::string_view text, std::string_view label) {
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with(label)) return split(std::string_view(line).substr(label.size()), '\t');
  }
  return {};
}

void read_status(std::string_view status, ProcessFacts& facts) {
  if (const auto uids = line_of(status, "Uid:\t"); !uids.empty()) facts.uid = number(uids[0]);
  const auto pids = line_of(status, "NSpid:\t");
  facts.inner_pid = pids.empty() ? facts.pid : number(pids.back());
}

void read_environment(std::string_view environ, ProcessFacts& facts) {
  for (const std::string& entry : split(environ, '\0', kMostParts)) {
    if (const size_t equal = entry.find('='); equal != entry.npos)
      facts.environment.emplace(entry.substr(0, equal), entry.substr(equal + 1));
  }
}

// Docker, containerd, CRI-O and podman name the group after the container: the last run of 64 hex digits.
std::string container_of(std::string_view cgroup) {
  constexpr size_t kDigits = 64;
  size_t run = 0;
  std::string found;
  for (size_t i = 0; i <= cgroup.size(); ++i) {
    const bool is_hex =
        i < cgroup.size() && std::string_view("0123456789abcdef").find(cgroup[i]) != std::string_view::npos;
    if (!is_hex && run == kDigits) found = cgroup.substr(i - kDigits, kDigits);
    run = is_hex ? run + 1 : 0;
  }
  return found;
}

// Lines of NUMBER:CONTROLLERS:PATH (cgroups(7)). Version 2 has one, "0::PATH"; where version 1 is in use
// beside it, what limits memory tells more.
std::string path_of_cgroup(std::string_view text) {
  std::string found;
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> parts = split(line, ':');
    if (parts.size() < 3) continue;
    const bool is_memory = parts[1] == "memory";
    if (is_memory || (parts[0] == "0" && found.empty()))
      found = line.substr(parts[0].size() + parts[1].size() + 2);
    if (is_memory) break;
  }
  return found;
}

bool has_gpu(const std::string& fds) {
  const std::vector<std::string> names = names_in(fds);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    std::array<char, PATH_MAX> target;
    const ssize_t n = ::readlink((fds + "/" + name).c_str(), target.data(), target.size());
    const std::string_view path(target.data(), static_cast<size_t>(std::max<ssize_t>(n, 0)));
    // nvidiactl and nvidia-uvm are opened by whoever asks whether there is a GPU.
    return std::any_of(std::begin(kGpuFiles), std::end(kGpuFiles), [&](std::string_view prefix) {
      return path.starts_with(prefix) && !path.starts_with("/dev/nvidiactl") &&
             !path.starts_with("/dev/nvidia-");
    });
  });
}

void find_torch(const std::string& folder, ProcessFacts& facts) {
  const std::string maps = text_of(folder + "/maps");
  const size_t at = maps.find(kTorchLibrary);
  if (at == maps.npos) return;
  facts.has_torch = true;
  const size_t begin = maps.find('/', maps.rfind('\n', at) + 1);  // the first of its line: of the path
  facts.torch_folder = maps.substr(begin, at - begin);
}

}  // namespace

// Beside the library lies torch-<version>.dist-info.
std::string read_torch_version(const Host& host, i64 pid, const std::string& torch_folder) {
  constexpr std::string_view kBegin = "torch-", kEnd = ".dist-info";
  std::string version;
  for (const std::string& name : names_in(fmt::format("{}/{}/root{}", host.proc, pid, torch_folder)))
    if (name.starts_with(kBegin) && name.ends_with(kEnd))
      version = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  return version;
}

void keep_what_is_asked_later(ProcessFacts& facts) {
  constexpr std::string_view kNames[] = {
      "SPOTTER_RESPOND",      "SLURM_JOB_NAME",  "LSB_JOBNAME",         "PBS_JOBNAME",          "JOB_NAME",
      "CUDA_LAUNCH_BLOCKING", "OMP_NUM_THREADS", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"};
  constexpr std::string_view kPrefixes[] = {"KINETO_", "NCCL_", "TORCH_", "PYTORCH_"};
  constexpr size_t kMostValue = 4096;  // as a path may have
  constexpr size_t kMostKept = size_t{8} << 10, kMostWords = size_t{4} << 10;

  std::map<std::string, std::string> kept;
  size_t bytes = 0;
  const auto keep = [&](const std::string& name, const std::string& value) {
    const size_t room = std::min(value.size(), kMostValue);
    if (bytes + name.size() + room > kMostKept || !kept.emplace(name, value.substr(0, room)).second) return;
    bytes += name.size() + room;
  };
  for (const std::string_view name : kNames) {
    if (const auto it = facts.environment.find(std::string(name)); it != facts.environment.end())
      keep(it->first, it->second);
  }
  for (const std::string_view prefix : kPrefixes) {
    for (auto it = facts.environment.lower_bound(std::string(prefix));
         it != facts.environment.end() && it->first.starts_with(prefix); ++it)
      keep(it->first, it->second);
  }
  facts.environment = std::move(kept);

  size_t left = kMostWords;
  for (std::string& word : facts.command) {
    if (word.size() > left) word = word.substr(0, left);  // of that size, and no longer one of its own
    left -= word.size();
  }
  if (left == 0) std::erase_if(facts.command, [](const std::string& word) { return word.empty(); });
  facts.command.shrink_to_fit();
}

i64 parent_of(const Host& host, i64 pid) {
  const std::optional<ProcessStat> stat = read_stat(host, pid);
  return stat ? stat->parent : 0;
}

std::string control_group_of(const Host& host, i64 pid) {
  return path_of_cgroup(text_of(fmt::format("{}/{}/cgroup", host.proc, pid)));
}

Result<ProcessFacts> read_process(const Host& host, i64 pid) {
  TRY_ASSIGN(ProcessFacts facts, read_process_briefly(host, pid));
  const std::string folder = fmt::format("{}/{}", host.proc, pid);
  facts.has_gpu = has_gpu(folder + "/fd");
  find_torch(folder, facts);
  return facts;
}

bool has_gpu_open(const Host& host, i64 pid) { return has_gpu(fmt::format("{}/{}/fd", host.proc, pid)); }

Result<ProcessFacts> read_process_briefly(const Host& host, i64 pid) {
  ProcessFacts facts;
  facts.pid = pid;
  const std::string folder = fmt::format("{}/{}", host.proc, pid);
  TRY_ASSIGN(const std::string text, read_small_file(folder + "/stat", kMostText));
  const std::optional<ProcessStat> stat = parse_stat(text);
  if (!stat) return fail(Code::io, "{}/stat is not as the kernel writes it", folder);
  facts.parent = stat->parent;
  facts.start_ticks = stat->start_ticks;
  read_status(text_of(folder + "/status"), facts);
  facts.command = split(beginning_of(folder + "/cmdline", kMostCommand), '\0', kMostParts);
  read_environment(beginning_of(folder + "/environ", kMostEnvironment), facts);
  const std::string cgroup = text_of(folder + "/cgroup");
  facts.container = container_of(cgroup);
  facts.cgroup = path_of_cgroup(cgroup);
  drop_false_claims(host, facts);
  return facts;
}

}  // namespace spotter::process
