#include "process/process_facts.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <memory>
#include <string_view>

#include "base/system/file.h"
#include "process/process_stat.h"
#include "process/scheduler.h"

namespace spotter::process {
namespace {

constexpr size_t kMostText = size_t{4} << 20;  // of one file of /proc
constexpr std::string_view kTorchLibrary = "/torch/lib/libtorch_cpu.so";
constexpr std::string_view kGpuFiles[] = {"/dev/nvidia", "/dev/kfd", "/dev/dri/render", "/dev/accel",
                                          "/dev/habanalabs"};

std::string text_of(const std::string& path) { return read_small_file(path, kMostText).value_or(""); }

i64 number(std::string_view text) {
  i64 value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (!text.empty()) {
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
  for (const std::string& entry : split(environ, '\0')) {
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

// The library's place tells where torch-<version>.dist-info lies.
void read_torch(const std::string& folder, ProcessFacts& facts) {
  const std::string maps = text_of(folder + "/maps");
  const size_t at = maps.find(kTorchLibrary);
  if (at == maps.npos) return;
  facts.has_torch = true;
  const size_t begin = maps.find('/', maps.rfind('\n', at) + 1);  // the first of its line: of the path
  const std::string packages = folder + "/root" + maps.substr(begin, at - begin);
  for (const std::string& name : names_in(packages)) {
    constexpr std::string_view kBegin = "torch-", kEnd = ".dist-info";
    if (name.starts_with(kBegin) && name.ends_with(kEnd))
      facts.torch_version = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  }
}

}  // namespace

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
  read_torch(folder, facts);
  return facts;
}

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
  facts.command = split(text_of(folder + "/cmdline"), '\0');
  read_environment(text_of(folder + "/environ"), facts);
  const std::string cgroup = text_of(folder + "/cgroup");
  facts.container = container_of(cgroup);
  facts.cgroup = path_of_cgroup(cgroup);
  drop_false_claims(host, facts);
  return facts;
}

}  // namespace spotter::process
