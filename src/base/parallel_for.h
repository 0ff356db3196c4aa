// parallel_for: runs body(0) ... body(n - 1) on several threads and returns when all are done. Threads take
// the next index when they are free, so uneven work balances; the order is not defined. The body must not
// throw, and calls of different indices run at the same time.
#pragma once
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/types.h"

namespace spotter {

// A reference to any callable that takes an index; the callable must outlive it.
class IndexBody {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, IndexBody> && std::is_invocable_v<F&, size_t>)
  IndexBody(F&& f)  // implicit: call sites pass a lambda
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, size_t i) { (*static_cast<std::remove_reference_t<F>*>(object))(i); }) {}

  void operator()(size_t i) const { call_(object_, i); }

 private:
  void* object_;
  void (*call_)(void*, size_t);
};

// How many threads the machine runs at a time, at least 1.
int all_processors();

// `threads` counts the calling one, which works too; with one or less everything runs on it, in order. Where
// the system refuses a thread, those that there are do the work.
void parallel_for(size_t n, int threads, IndexBody body);

// Starts a thread if the system grants one.
template <class F>
void try_start(std::vector<std::thread>& threads, F work) {
  try {
    threads.emplace_back(std::move(work));
  } catch (const std::system_error&) {
  }
}

}  // namespace spotter
