#include "base/system/host.h"

#include <unistd.h>

#include <array>
#include <ctime>

#include "base/time.h"

namespace spotter {
namespace {

Ns now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

Ns steady_clock_now() { return now(CLOCK_MONOTONIC); }
Ns unix_clock_now() { return now(CLOCK_REALTIME); }

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || !name[0]) return "localhost";
  return name.data();
}

Host Host::at(const std::string& root) {
  Host host;
  if (root.empty() || root == "/") return host;
  host.root = root;
  host.proc = root + "/proc";
  host.sys = root + "/sys";
  host.dev = root + "/dev";
  return host;
}

}  // namespace spotter
