#include "serve/watch.h"

#include <algorithm>
#include <chrono>

#include "base/system/host.h"

namespace spotter::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPeriod = std::chrono::seconds(1);
constexpr int kShare = 20;  // of the time at most that looking takes: one part in so many

bool are_same(const std::vector<JobPtr>& one, const std::vector<JobPtr>& other) {
  return std::ranges::equal(one, other, [](const JobPtr& a, const JobPtr& b) { return *a == *b; });
}

}  // namespace

Watch::Watch(std::vector<std::string> roots, Tell tell) : finder_(std::move(roots)), tell_(std::move(tell)) {
  look();
  tell_(told_);
  thread_ = std::thread([this] { run(); });
}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ends_soon_.notify_all();
  thread_.join();
}

void Watch::look() {
  const Clock::time_point begun = Clock::now();
  told_ = finder_.look(unix_clock_now());
  took_ = Clock::now() - begun;
}

void Watch::run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    lock.unlock();
    const bool has_learned = finder_.learn_times(ends_);
    lock.lock();
    const auto pause =
        has_learned ? Clock::duration::zero() : std::max<Clock::duration>(kPeriod, kShare * took_);
    if (ends_soon_.wait_for(lock, pause, [this] { return ends_.load(); })) return;
    lock.unlock();
    const std::vector<JobPtr> before = told_;
    look();
    if (!are_same(before, told_)) tell_(told_);
    lock.lock();
  }
}

}  // namespace spotter::serve
