#include "notify/delivery.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <system_error>
#include <thread>

#include "base/system/host.h"
#include "base/system/thread_name.h"

namespace spotter::notify {
namespace {

constexpr Ns kLongestSleep = kMinute;  // a clock that jumps is noticed

Chance usual_chance() {
  return {.unix_now = unix_clock_now, .jitter = [random = std::mt19937_64(std::random_device()())]() mutable {
            return std::uniform_real_distribution(0.0, 1.0)(random);
          }};
}

}  // namespace

// Shared with the thread, which may outlive the delivery.
struct Delivery::Body {
  Body(Receiver receiver, std::shared_ptr<Outbox> outbox, const Chance& c, CourierLimits limits)
      : chance(c), courier(std::move(receiver), std::move(outbox), c, limits) {}

  void run() {
    std::unique_lock lock(mutex);
    while (!is_ending) {
      has_news = false;
      lock.unlock();
      const Ns next = courier.step();
      const Ns wait = std::min(next - chance.unix_now(), kLongestSleep);
      lock.lock();
      changed.wait_for(lock, std::chrono::nanoseconds(std::max<Ns>(wait, 0)),
                       [&] { return has_news || is_ending; });
    }
    is_over = true;
    changed.notify_all();
  }

  Chance chance;
  Courier courier;
  std::mutex mutex;  // of the rest
  std::condition_variable changed;
  bool has_news = false, is_ending = false, is_over = false;
  std::thread thread;
};

Result<std::unique_ptr<Delivery>> Delivery::start(std::vector<Receiver> receivers,
                                                  std::shared_ptr<Outbox> outbox, DeliveryOptions options) {
  std::unique_ptr<Delivery> delivery(new Delivery());
  delivery->hang_time_ = options.hang_time;
  for (Receiver& receiver : receivers) {
    // Each its own: they are not shared between threads.
    const Chance chance = options.chance.unix_now ? options.chance : usual_chance();
    const std::string name = receiver.name;
    auto body = std::make_shared<Body>(std::move(receiver), outbox, chance, options.limits);
    try {
      body->thread = std::thread([body] { body->run(); });
    } catch (const std::system_error& error) {
      return fail(Code::busy, "notifier {}: {}", name, error.what());
    }
    set_thread_name(body->thread.native_handle(), name);
    delivery->bodies_.push_back(std::move(body));
    delivery->names_.push_back(name);
  }
  return delivery;
}

Delivery::~Delivery() {
  for (const auto& body : bodies_) {
    const std::lock_guard lock(body->mutex);
    body->is_ending = true;
    body->changed.notify_all();
    body->courier.interrupt();
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(hang_time_);
  for (const auto& body : bodies_) {
    std::unique_lock lock(body->mutex);
    const bool is_over = body->changed.wait_until(lock, end, [&] { return body->is_over; });
    lock.unlock();
    if (is_over) {
      body->thread.join();
    } else {
      body->thread.detach();
    }
  }
}

void Delivery::wake() {
  for (const auto& body : bodies_) {
    const std::lock_guard lock(body->mutex);
    body->has_news = true;
    body->changed.notify_all();
  }
}

std::vector<NotifierState> Delivery::state() const {
  std::vector<NotifierState> states;
  for (const auto& body : bodies_) states.push_back(body->courier.state());
  return states;
}

}  // namespace spotter::notify
