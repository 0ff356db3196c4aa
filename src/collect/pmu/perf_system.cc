#include "collect/pmu/perf_system.h"

#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

namespace spotter::collect {
namespace {

bool is_sysfs(const Host& host) {
  struct statfs about{};
  return statfs(host.sys.c_str(), &about) == 0 && about.f_type == SYSFS_MAGIC;
}

int open_event(const perf_event_attr& attributes, i64 cpu, int group) {
  perf_event_attr copy = attributes;  // the kernel writes into it
  const long fd = syscall(SYS_perf_event_open, &copy, -1, static_cast<int>(cpu), group, PERF_FLAG_FD_CLOEXEC);
  return fd < 0 ? -errno : static_cast<int>(fd);
}

ssize_t read_event(int descriptor, std::span<u64> into) {
  const ssize_t n = read(descriptor, into.data(), into.size_bytes());
  return n < 0 ? -errno : n;
}

}  // namespace

PerfSystem perf_system() {
  rlimit limit{};
  const bool is_told = getrlimit(RLIMIT_NOFILE, &limit) == 0;
  // Half of what the process may have; the rest is for all else that it does.
  return {is_sysfs, open_event, read_event, is_told ? static_cast<size_t>(limit.rlim_cur / 2) : 512};
}

}  // namespace spotter::collect
