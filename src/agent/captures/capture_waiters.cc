#include "agent/captures/capture_waiters.h"

#include <utility>

namespace spotter::agent {
namespace {

constexpr Ns kNewsPause = 50'000'000;  // so that a thousand changes are told at once
constexpr size_t kMostWaiters = 1024;

}  // namespace

struct CaptureWaiters::Waiter {
  Waiter(net::Loop& loop, std::string capture, std::function<void()> f)
      : id(std::move(capture)), act(std::move(f)), timer(loop) {}
  std::string id;
  std::function<void()> act;
  net::Timer timer;
  bool is_due = false;
};

CaptureWaiters::CaptureWaiters(net::Loop& loop, const capture::Captures& captures)
    : loop_(loop), captures_(captures) {}

CaptureWaiters::~CaptureWaiters() = default;

void CaptureWaiters::changed(const capture::Capture& capture) {
  for (auto& [number, waiter] : waiters_) {
    if (waiter->id == capture.id && !std::exchange(waiter->is_due, true))
      waiter->timer.set(capture.over() ? 0 : kNewsPause, waiter->act);
  }
}

void CaptureWaiters::when_changed(const std::string& id, i64 seen, Ns patience, std::function<void()> act) {
  const capture::Capture* capture = captures_.find(id);
  if (!capture || capture->revision > seen || capture->over() || patience <= 0) return act();
  if (waiters_.size() >= kMostWaiters) {
    Waiter& oldest = *waiters_.begin()->second;
    oldest.timer.set(0, oldest.act);
  }
  const u64 number = next_++;
  auto waiter = std::make_unique<Waiter>(loop_, id, [this, number, act = std::move(act)] {
    const auto keep = std::move(waiters_.at(number));  // it is running
    waiters_.erase(number);
    act();
  });
  waiter->timer.set(patience, waiter->act);
  waiters_.emplace(number, std::move(waiter));
}

}  // namespace spotter::agent
