#include "base/parallel_for.h"

#include <algorithm>
#include <atomic>

namespace spotter {

int all_processors() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

void parallel_for(size_t n, int threads, IndexBody body) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) body(i);
  };

  const size_t wanted = std::min(n, static_cast<size_t>(std::max(threads, 1)));
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < wanted; ++i) try_start(helpers, work);
  work();
  for (std::thread& t : helpers) t.join();
}

}  // namespace spotter
