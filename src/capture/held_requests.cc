#include "capture/held_requests.h"

#include <fmt/format.h>

#include <algorithm>

namespace spotter::capture {
namespace {

constexpr Ns kTick = kSecond;  // of libkineto

}  // namespace

void HeldRequests::polled(i64 pid, bool is_idle, Ns now) {
  const auto held = held_.find(pid);
  if (held == held_.end()) return;
  if (!is_idle)
    held->second.was_busy = true;
  else if (held->second.was_busy || now >= held->second.end + kTick)
    held_.erase(held);
}

std::string HeldRequests::why_busy(i64 pid, Ns now) const {
  const auto held = held_.find(pid);
  if (held == held_.end() || now >= held->second.end + kWriting) return {};
  return fmt::format(
      "process {} still has the request of capture {}, which was over before the process was done with it, and takes "
      "no other; ask again in {:.0f} s",
      pid, held->second.capture,
      static_cast<double>(std::max<Ns>(held->second.end + kTick - now, kTick)) /
          static_cast<double>(kSecond));
}

}  // namespace spotter::capture
