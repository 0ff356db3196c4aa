#include "sink/runner.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/system/host.h"
#include "base/system/thread_name.h"
#include "base/time.h"

namespace spotter::sink {
namespace {

constexpr size_t kMostAtOnce = 64;
constexpr Ns kHangTime = kSecond;          // after an interruption
constexpr size_t kMostErrorBytes = 1'000;  // the other side's words may be in it

// A guess at what a batch takes.
size_t memory_bytes(const Batch& batch) {
  constexpr size_t kCell = sizeof(u64) + 1;
  size_t bytes = sizeof batch;
  for (const Table& table : batch.tables)
    bytes += sizeof table + table.columns() * table.rows() * kCell + table.text_bytes();
  return bytes;
}

}  // namespace

// Shared with the thread, which may outlive the runner.
struct SinkRunner::Body {
  Body(std::unique_ptr<Sink> s, RunnerOptions o)
      : options(std::move(o)), choice(options.choice), random(std::random_device()()), sink(std::move(s)) {
    state.name = options.name;
  }

  void run() {
    std::unique_lock lock(mutex);
    while (wait(lock)) {
      std::vector<Share> shares = take();
      lock.unlock();
      const Delivery delivery = sink->deliver(shares);
      lock.lock();
      settle(std::move(shares), delivery);
      changed.notify_all();
    }
    is_over = true;
    changed.notify_all();
  }

  // Until something is due; false: nothing will be.
  bool wait(std::unique_lock<std::mutex>& lock) {
    while (true) {
      const Ns now = steady_clock_now();
      if (is_ending && (waiting.empty() || now >= end_at)) return false;
      if (!waiting.empty() && now >= not_before) return true;
      if (waiting.empty()) {
        changed.wait(lock);
      } else {
        changed.wait_for(
            lock, std::chrono::nanoseconds((is_ending ? std::min(not_before, end_at) : not_before) - now));
      }
    }
  }

  std::vector<Share> take() {
    std::vector<Share> shares;
    while (!waiting.empty() && shares.size() < kMostAtOnce) {
      shares.push_back(std::move(waiting.front()));
      waiting.pop_front();
    }
    under_way = shares.size();
    return shares;
  }

  void settle(std::vector<Share> shares, const Delivery& delivery) {
    size_t done = std::clamp<size_t>(delivery.batches, 1, shares.size());
    if (delivery.result) {
      delivered(done, delivery);
    } else if (is_tried_again(delivery.result.error())) {
      failed(delivery.result.error());
      done = 0;
      pause = std::min(pause == 0 ? options.first_pause : 2 * pause, options.longest_pause);
      const double part = std::uniform_real_distribution(0.5, 1.0)(random);
      not_before = steady_clock_now() + std::max(static_cast<Ns>(part * static_cast<double>(pause)),
                                                 std::min(delivery.pause, options.longest_wish));
    } else {
      failed(delivery.result.error());
      state.dropped += static_cast<i64>(done);
    }
    for (size_t i = 0; i < done; ++i) bytes -= shares[i].memory_bytes;
    waiting.insert(waiting.begin(),
                   std::make_move_iterator(shares.begin() + static_cast<std::ptrdiff_t>(done)),
                   std::make_move_iterator(shares.end()));
    under_way = 0;
    make_room();
  }

  void delivered(size_t batches, const Delivery& delivery) {
    state.delivered += static_cast<i64>(batches);
    state.rejected += delivery.rejected;
    pause = not_before = 0;
    if (delivery.rejected == 0) {
      if (!std::exchange(state.last_error, {}).empty())
        log_limit.log(Level::info, steady_clock_now(), fmt::format("sink {}: works again", options.name));
      return;
    }
    tell(fmt::format("{} values were rejected: {}", delivery.rejected, delivery.rejected_why));
  }

  void failed(const Error& error) {
    ++state.failures;
    tell(error.message);
  }

  void tell(std::string error) {
    error.resize(std::min(error.size(), kMostErrorBytes));
    if (error != state.last_error)
      log_limit.log(Level::warning, steady_clock_now(), fmt::format("sink {}: {}", options.name, error));
    state.last_error = std::move(error);
  }

  void make_room() {
    const auto is_full = [&] {
      return waiting.size() + under_way > options.most_batches ||
             (bytes > options.most_bytes && waiting.size() > 1);  // the newest one may be as large as it is
    };
    while (!waiting.empty() && is_full()) {
      bytes -= waiting.front().memory_bytes;
      waiting.pop_front();
      ++state.dropped;
    }
  }

  const RunnerOptions options;
  std::mutex mutex;  // for all but the sink, which is the thread's
  std::condition_variable changed;
  Choice choice;
  std::deque<Share> waiting;
  size_t under_way = 0;  // batches that the sink has
  size_t bytes = 0;      // of both
  Ns pause = 0;          // the last one; 0: the last attempt did not fail
  Ns not_before = 0;
  std::minstd_rand random;
  SinkState state;
  LogLimit log_limit;
  bool is_ending = false, is_over = false;
  Ns end_at = 0;
  std::unique_ptr<Sink> sink;
  std::thread thread;
};

Result<std::unique_ptr<SinkRunner>> SinkRunner::start(std::unique_ptr<Sink> sink, RunnerOptions options) {
  auto body = std::make_shared<Body>(std::move(sink), std::move(options));
  try {
    body->thread = std::thread([body] { body->run(); });
  } catch (const std::system_error& error) {
    return fail(Code::busy, "sink {}: {}", body->options.name, error.what());
  }
  set_thread_name(body->thread.native_handle(), body->options.name);
  return std::unique_ptr<SinkRunner>(new SinkRunner(std::move(body)));
}

void SinkRunner::begin_end() {
  Body& b = *body_;
  const std::lock_guard lock(b.mutex);
  if (std::exchange(b.is_ending, true)) return;
  b.end_at = steady_clock_now() + b.options.last_time;
  b.pause = b.not_before = 0;
  b.changed.notify_all();
}

SinkRunner::~SinkRunner() {
  begin_end();
  Body& b = *body_;
  std::unique_lock lock(b.mutex);
  const auto is_over = [&] { return b.is_over; };
  const Ns left = b.end_at - steady_clock_now();
  if (!b.changed.wait_for(lock, std::chrono::nanoseconds(std::max<Ns>(left, 0)), is_over)) {
    lock.unlock();
    b.sink->interrupt();
    lock.lock();
    b.changed.wait_for(lock, std::chrono::nanoseconds(kHangTime), is_over);
  }
  if (const size_t lost = b.waiting.size() + b.under_way; lost > 0)
    log(Level::warning, "sink {}: {} batches were not delivered before the end", b.options.name, lost);
  const bool hangs = !b.is_over;
  lock.unlock();
  if (hangs) {
    b.thread.detach();
  } else {
    b.thread.join();
  }
}

void SinkRunner::offer(const SharedBatch& batch) {
  Body& b = *body_;
  const std::lock_guard lock(b.mutex);
  std::vector<const Table*> tables = b.choice.of(*batch);
  if (tables.empty()) return;
  const size_t bytes = memory_bytes(*batch);
  b.bytes += bytes;
  // The thread sleeps until then, or without end where nothing waited.
  const bool is_first = b.waiting.empty() && b.under_way == 0;
  if (is_first && !b.is_ending) b.not_before = std::max(b.not_before, steady_clock_now() + b.options.gather);
  b.waiting.push_back({batch, std::move(tables), bytes});
  const bool is_filling =
      b.waiting.size() >= b.options.most_batches / 2 || b.bytes >= b.options.most_bytes / 2;
  if (is_filling && b.pause == 0) b.not_before = 0;
  b.make_room();
  if (is_first || is_filling) b.changed.notify_all();
}

std::function<void(Ns)> SinkRunner::catch_up() const {
  return [body = body_](Ns patience) {
    Body& b = *body;
    std::unique_lock lock(b.mutex);
    if (b.pause == 0) b.not_before = 0;
    b.changed.notify_all();
    b.changed.wait_for(lock, std::chrono::nanoseconds(patience),
                       [&] { return b.is_over || (b.waiting.empty() && b.under_way == 0); });
  };
}

SinkState SinkRunner::state() const {
  const std::lock_guard lock(body_->mutex);
  SinkState state = body_->state;
  state.queued = static_cast<i64>(body_->waiting.size() + body_->under_way);
  return state;
}

}  // namespace spotter::sink
