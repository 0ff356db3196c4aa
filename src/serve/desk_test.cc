#include "serve/desk.h"

#include <gtest/gtest.h>

#include <chrono>

#include "net/testing.h"

namespace spotter::serve {
namespace {

// An order that waits for the test's word, or to be given up.
class SlowOrder final : public Order {
 public:
  struct Shared {
    std::atomic<int> begun = 0, ended = 0;
    std::atomic<bool> may_end = false;
    std::atomic<size_t> together = 0;
  };
  SlowOrder(std::string of_key, std::string of_group, Shared& shared)
      : Order(std::move(of_key), std::move(of_group)), shared_(shared) {}
  std::vector<Made> make(std::span<const std::shared_ptr<Order>> all,
                         const std::atomic<bool>& cancelled) override {
    ++shared_.begun;
    shared_.together = all.size();
    while (!shared_.may_end && !cancelled) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::vector<Made> made;
    for (const auto& order : all) {
      if (cancelled)
        made.push_back({order->key, fail(Code::cancelled, "given up")});
      else
        made.push_back({order->key, Body{.packed = "of " + order->key, .content_type = {}}});
    }
    if (!cancelled) made.push_back({"extra", Body{.packed = "extra", .content_type = {}}});
    ++shared_.ended;
    return made;
  }

 private:
  Shared& shared_;
};

class DeskTest : public testing::Test {
 protected:
  std::function<void()> order(const std::string& key, const std::string& group = {}) {
    return desk_.order(std::make_shared<SlowOrder>(key, group, shared_),
                       [this](const Result<Desk::BodyPtr>& body) {
                         got_.push_back(body ? (*body)->packed : body.error().message);
                       });
  }
  bool until(const std::function<bool()>& is_so) { return net::run_until(loop_, is_so); }

  net::Loop loop_;
  SlowOrder::Shared shared_;
  std::vector<std::string> got_;
  Desk desk_{loop_, 2, 1 << 20};
};

TEST_F(DeskTest, OneKeyIsMadeOnceAndKept) {
  order("a");
  order("a");
  ASSERT_TRUE(until([&] { return shared_.begun == 1; }));
  shared_.may_end = true;
  ASSERT_TRUE(until([&] { return got_.size() == 2; }));
  EXPECT_EQ(got_, (std::vector<std::string>{"of a", "of a"}));
  order("a");
  order("extra");  // came with it
  EXPECT_EQ(got_.size(), 4u);
  EXPECT_EQ(shared_.begun, 1);
}

TEST_F(DeskTest, TwoAtOnceAndGroupsTogether) {
  order("a", "g");
  ASSERT_TRUE(until([&] { return shared_.begun == 1; }));
  order("b", "g");  // waits for its group
  order("c", "g");
  order("d");
  ASSERT_TRUE(until([&] { return shared_.begun == 2; }));
  order("e");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(shared_.begun, 2);
  shared_.may_end = true;
  ASSERT_TRUE(until([&] { return got_.size() == 5; }));
  EXPECT_EQ(shared_.begun, 4);  // a; d; b with c; e
}

TEST_F(DeskTest, WhatNobodyWaitsForIsGivenUp) {
  const auto take_back = order("a"), other = order("a");
  ASSERT_TRUE(until([&] { return shared_.begun == 1; }));
  take_back();
  take_back();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(shared_.ended, 0);
  other();
  ASSERT_TRUE(until([&] { return shared_.ended == 1; }));
  order("a");  // anew, and not answered by what was given up
  shared_.may_end = true;
  ASSERT_TRUE(until([&] { return got_.size() == 1; }));
  EXPECT_EQ(got_[0], "of a");
}

TEST_F(DeskTest, WhatIsTakenBackBeforeItsTurnIsNotBegun) {
  order("a");
  order("b");
  ASSERT_TRUE(until([&] { return shared_.begun == 2; }));
  order("c")();
  shared_.may_end = true;
  ASSERT_TRUE(until([&] { return got_.size() == 2; }));
  EXPECT_EQ(shared_.begun, 2);
}

TEST(Cache, TheLeastUsedGoes) {
  const auto body = [](size_t bytes) {
    return std::make_shared<const Body>(Body{.packed = std::string(bytes, 'x'), .content_type = {}});
  };
  Cache cache(3000);
  cache.put("a", body(1000));
  cache.put("b", body(1000));
  EXPECT_TRUE(cache.find("a"));
  cache.put("c", body(1000));
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_LE(cache.bytes(), 3000u);
  cache.put("large", body(4000));
  EXPECT_FALSE(cache.find("large"));
  EXPECT_TRUE(cache.find("a"));
}

}  // namespace
}  // namespace spotter::serve
