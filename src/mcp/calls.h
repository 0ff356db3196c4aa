// Calls: requests that take a while, some at once and the others in their order. One that takes longer than
// it may is told to give up.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/system/host.h"
#include "mcp/times.h"

namespace spotter::mcp {

// What each has; the rest is its asker's.
struct Cancellable {
  std::atomic<bool> cancelled = false;  // it is to end, from any thread
  Ns longest = kUsualCall;              // it may take
  const void* whose = nullptr;          // one of whom only some run at a time; nullptr: nobody's
  Ns until = 0;                         // once it has begun
};

// `Job` is a Cancellable. Thread-safe.
template <typename Job>
class Calls {
 public:
  using Act = std::function<void(const std::shared_ptr<Job>&)>;
  static constexpr size_t kMostOfOne = 2;

  // `act` runs on threads of its own, `at_once` of them, which begin with the first call. Of what belongs to
  // somebody kMostOfOne run at a time, and half of what may wait does.
  Calls(size_t at_once, size_t most_waiting, Act act)
      : at_once_(at_once), most_waiting_(most_waiting), act_(std::move(act)) {}
  ~Calls() { end(); }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // False: too many wait.
  bool take(std::shared_ptr<Job> job) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() + under_way_.size() >= at_once_ + most_waiting_) return false;
    if (job->whose && count_of(waiting_, job->whose) >= most_waiting_ / 2) return false;
    waiting_.push_back(std::move(job));
    while (threads_.size() < at_once_) threads_.emplace_back([this] { work(); });
    if (!watch_.joinable()) watch_ = std::thread([this] { watch(); });
    has_work_.notify_one();
    return true;
  }

  // Those that wait are never begun; `give_up` is called for those that run.
  void cancel(const std::function<bool(const Job&)>& is_it, const std::function<void(Job&)>& give_up) {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [&](const auto& job) { return is_it(*job); });
    for (const auto& job : under_way_)
      if (is_it(*job)) give_up(*job);
  }

  // Until none is left, or `longest` is over.
  void wait(Ns longest) {
    std::unique_lock lock(mutex_);
    is_done_.wait_for(lock, std::chrono::nanoseconds(longest),
                      [this] { return waiting_.empty() && under_way_.empty(); });
  }

  // Cancels all, and waits for those that run.
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
      waiting_.clear();
      for (const auto& job : under_way_) job->cancelled = true;
    }
    has_work_.notify_all();
    is_under_way_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    if (watch_.joinable()) watch_.join();
  }

 private:
  static size_t count_of(const auto& jobs, const void* whose) {
    return static_cast<size_t>(std::ranges::count(jobs, whose, [](const auto& job) { return job->whose; }));
  }
  bool may_begin(const Job& job) const { return !job.whose || count_of(under_way_, job.whose) < kMostOfOne; }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      auto next = waiting_.end();
      has_work_.wait(lock, [&] {
        next = std::ranges::find_if(waiting_, [this](const auto& job) { return may_begin(*job); });
        return ends_ || next != waiting_.end();
      });
      if (ends_) return;
      const std::shared_ptr<Job> job = std::move(*next);
      waiting_.erase(next);
      job->until = steady_clock_now() + job->longest;
      under_way_.push_back(job);
      is_under_way_.notify_one();
      lock.unlock();
      act_(job);
      lock.lock();
      std::erase(under_way_, job);
      is_done_.notify_all();
      has_work_.notify_all();
    }
  }

  // Sleeps while none is under way.
  void watch() {
    std::unique_lock lock(mutex_);
    while (!ends_) {
      is_under_way_.wait(lock, [this] { return ends_ || !under_way_.empty(); });
      is_under_way_.wait_for(lock, std::chrono::nanoseconds(kLook), [this] { return ends_; });
      for (const auto& job : under_way_)
        if (steady_clock_now() > job->until) job->cancelled = true;
    }
  }

  const size_t at_once_, most_waiting_;
  const Act act_;
  std::mutex mutex_;  // of what is below
  std::condition_variable has_work_, is_done_, is_under_way_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::vector<std::shared_ptr<Job>> under_way_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
  std::thread watch_;
};

}  // namespace spotter::mcp
