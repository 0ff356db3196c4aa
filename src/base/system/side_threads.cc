#include "base/system/side_threads.h"

#include <system_error>
#include <thread>
#include <utility>

namespace spotter {

bool SideThreads::run(std::function<void()> work) const {
  if (running_->fetch_add(1) >= most_) {
    --*running_;
    return false;
  }
  try {
    std::thread([work = std::move(work), running = running_] {
      work();
      --*running;
    }).detach();
  } catch (const std::system_error&) {
    --*running_;
    return false;
  }
  return true;
}

}  // namespace spotter
