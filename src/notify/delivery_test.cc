#include "notify/delivery.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "notify/test_outbox.h"

namespace spotter::notify {
namespace {

using namespace std::chrono_literals;

class Deliveries : public ::testing::Test {
 protected:
  std::shared_ptr<Script> add(const std::string& name) {
    auto script = std::make_shared<Script>();
    receivers_.push_back({name, "test", std::make_unique<TestNotifier>(script)});
    return script;
  }
  void start(Ns hang_time = kSecond) {
    auto started = Delivery::start(std::move(receivers_), outbox_,
                                   {.limits = {.least_gap = kMillisecond}, .hang_time = hang_time});
    ASSERT_TRUE(started);
    delivery_ = std::move(*started);
  }
  // Whether it was told so often, in good time.
  static bool was_told(Script& script, size_t count) {
    std::unique_lock lock(script.mutex);
    return script.changed.wait_for(lock, 20s, [&] { return script.kept.size() >= count; });
  }

  std::shared_ptr<TestOutbox> outbox_ = std::make_shared<TestOutbox>();
  std::vector<Receiver> receivers_;
  std::unique_ptr<Delivery> delivery_;
};

TEST_F(Deliveries, WhatWaitedIsToldAtTheStartAndNewsWhenWoken) {
  const auto ops = add("ops");
  outbox_->put("ops", word_of(incident_of(1)));
  start();
  EXPECT_TRUE(was_told(*ops, 1));
  EXPECT_EQ(delivery_->names(), (std::vector<std::string>{"ops"}));
  for (size_t i = 2; i < 30; ++i) {
    outbox_->put("ops", word_of(incident_of(static_cast<i64>(i))));
    delivery_->wake();
    ASSERT_TRUE(was_told(*ops, i)) << i;
  }
  delivery_.reset();
  EXPECT_EQ(ops->told.size(), 29U);
}

TEST_F(Deliveries, OneThatHangsDelaysOnlyItself) {
  const auto slow = add("slow"), ops = add("ops");
  slow->hangs = true;
  start();
  for (const char* name : {"slow", "ops"}) outbox_->put(name, word_of(incident_of(1)));
  delivery_->wake();
  EXPECT_TRUE(was_told(*slow, 1));
  EXPECT_TRUE(was_told(*ops, 1));
  outbox_->put("ops", word_of(incident_of(2)));
  delivery_->wake();
  EXPECT_TRUE(was_told(*ops, 2));
  const auto state = delivery_->state();
  ASSERT_EQ(state.size(), 2U);
  EXPECT_EQ(state[0].sent, 0);
  EXPECT_EQ(state[0].waiting, 1);
  delivery_.reset();  // interrupts it
  EXPECT_TRUE(slow->is_interrupted);
}

TEST_F(Deliveries, OneThatHangsForGoodIsLeftBehind) {
  const auto slow = add("slow");
  slow->hangs = slow->is_deaf = true;
  outbox_->put("slow", word_of(incident_of(1)));
  start(50 * kMillisecond);
  EXPECT_TRUE(was_told(*slow, 1));
  const auto begun = std::chrono::steady_clock::now();
  delivery_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
  {
    const std::lock_guard lock(slow->mutex);
    slow->hangs = false;  // its thread may end now
    slow->changed.notify_all();
  }
  for (int i = 0; i < 2000 && slow.use_count() > 1; ++i) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(slow.use_count(), 1);
}

}  // namespace
}  // namespace spotter::notify
