// SideThreads: work that may wait for a disk or a file server for ever gets a thread of its own, which nobody
// waits for; a few at a time.
#pragma once
#include <atomic>
#include <functional>
#include <memory>

namespace spotter {

class SideThreads {
 public:
  explicit SideThreads(int most) : most_(most) {}
  // Whether it was begun: not if there are too many. `work` owns all that it uses.
  bool run(std::function<void()> work) const;

 private:
  int most_;
  std::shared_ptr<std::atomic<int>> running_ = std::make_shared<std::atomic<int>>(0);  // outlives this
};

}  // namespace spotter
