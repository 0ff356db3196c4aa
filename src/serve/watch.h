// Watch: looks for jobs about once a second, on a thread of its own; less often where a look takes long.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/finder.h"

namespace spotter::serve {

class Watch {
 public:
  using Tell = std::function<void(std::vector<JobPtr>)>;  // any thread
  // Looks once before it returns, and tells then and whenever there is another answer.
  Watch(std::vector<std::string> roots, Tell tell);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  void look();
  void run();

  Finder finder_;
  Tell tell_;
  std::vector<JobPtr> told_;
  std::chrono::steady_clock::duration took_{};  // the last look
  std::mutex mutex_;
  std::condition_variable ends_soon_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace spotter::serve
