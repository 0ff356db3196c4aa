// Work that takes long, as Python wants it: on a thread of its own, while the calling one, without the
// interpreter's lock, looks some times a second whether a signal has come and tells how far it is. Where
// either raises, the work is cancelled and waited for, and the exception goes on its way. No thread is left
// behind.
#pragma once
#include <nanobind/nanobind.h>

#include <atomic>
#include <functional>
#include <optional>

#include "base/result.h"
#include "base/types.h"
#include "failure.h"

namespace spotter::python {

class Beat {
 public:
  // tell(done, total): bytes. It is called also where nobody listens, since exceptions that other threads
  // send to this one are raised only where Python runs.
  explicit Beat(nanobind::callable tell) : tell_(std::move(tell)) {}

  // For the work's request; from any thread.
  std::function<void(i64, i64)> on_progress() {
    return [this](i64 done, i64 total) {
      done_.store(done, std::memory_order_relaxed);
      total_.store(total, std::memory_order_relaxed);
    };
  }
  const std::atomic<bool>* cancelled() const { return &cancelled_; }

  template <class T>
  T run(const std::function<Result<T>()>& work) {
    std::optional<Result<T>> result;
    run_beside([&] { result = work(); });
    return value_of(std::move(*result));
  }

 private:
  void run_beside(const std::function<void()>& work);

  nanobind::callable tell_;
  std::atomic<i64> done_ = 0, total_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace spotter::python
