#include "kineto/unregistered.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/system/file.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "process/process_facts.h"

namespace spotter::kineto {
namespace {

std::vector<i64> all_pids(const Host& host) {
  std::vector<i64> pids;
  for (const std::string& name : names_in(host.proc)) {
    if (const auto pid = number_in<i64>(name)) pids.push_back(*pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

// A forked child, such as a data loader's worker, has what its parent has, and never asks.
bool is_forked(const Host& host, const process::ProcessFacts& process) {
  const Result<process::ProcessFacts> parent = process::read_process(host, process.parent);
  return parent && parent->has_torch && parent->command == process.command;
}

std::string network_of(const Host& host, const std::string& process) {
  std::array<char, 64> target;
  const ssize_t n = readlink((host.proc + "/" + process + "/ns/net").c_str(), target.data(), target.size());
  return n > 0 ? std::string(target.data(), static_cast<size_t>(n)) : std::string();
}

std::string reason(const Host& host, const process::ProcessFacts& process) {
  if (process.environment.empty()) return "has an environment that may not be read";
  if (!process.environment.contains("KINETO_USE_DAEMON"))
    return "has no KINETO_USE_DAEMON=1 in its environment";
  if (const auto it = process.environment.find("KINETO_IPC_SOCKET_DIR");
      it != process.environment.end() && !it->second.empty())
    return fmt::format(
        "asks in the directory {} (KINETO_IPC_SOCKET_DIR); the agent must listen there (--ipc-dir)",
        to_printable(it->second));
  const std::string own = network_of(host, "self"), its = network_of(host, std::to_string(process.pid));
  if (!own.empty() && !its.empty() && own != its)
    return "is in another network namespace; share a folder with it (KINETO_IPC_SOCKET_DIR and --ipc-dir)";
  return "has not asked yet, or asks another daemon: without one it tries again only every 10 s";
}

}  // namespace

std::vector<Unregistered> find_unregistered(const Host& host,
                                            const std::function<bool(i64 pid)>& is_registered) {
  std::vector<Unregistered> found;
  for (const i64 pid : all_pids(host)) {
    if (is_registered(pid)) continue;
    const Result<process::ProcessFacts> process = process::read_process(host, pid);
    if (!process || !process->has_torch || is_forked(host, *process)) continue;
    found.push_back(
        {pid, to_printable(fmt::format("{}", fmt::join(process->command, " "))), reason(host, *process)});
  }
  return found;
}

}  // namespace spotter::kineto
