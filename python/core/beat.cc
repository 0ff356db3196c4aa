#include "beat.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "core.h"
#include "unlocked.h"

namespace spotter::python {

void Beat::run_beside(const std::function<void()>& work) {
  using namespace std::chrono_literals;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  std::exception_ptr failed, interrupted;
  const auto run = [&] {
    try {
      work();
    } catch (...) {
      failed = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    is_done = true;
    changed.notify_one();
  };
  {
    const Unlocked unlocked;
    std::thread worker(run);
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, 30ms, [&] { return is_done; })) {
      if (Unlocked::is_leaving()) cancelled_ = true;
      if (cancelled_) continue;
      lock.unlock();
      {
        const nb::gil_scoped_acquire locked;
        try {
          if (PyErr_CheckSignals() != 0) throw nb::python_error();
          tell_(done_.load(std::memory_order_relaxed), total_.load(std::memory_order_relaxed));
        } catch (...) {
          interrupted = std::current_exception();
          cancelled_ = true;
        }
      }
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  end_where_leaving();
  if (interrupted) std::rethrow_exception(interrupted);
  if (failed) std::rethrow_exception(failed);
}

}  // namespace spotter::python
