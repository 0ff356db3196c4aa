#include "net/sessions.h"

#include <gtest/gtest.h>

#include <vector>

namespace spotter::net {
namespace {

struct Fake final : Session {
  explicit Fake(Sessions& s) : sessions(s) {}
  ~Fake() override { sessions.remove(*this); }
  void close() override { ++closed; }
  Sessions& sessions;
  int closed = 0;
};

TEST(SessionsTest, OfTooManyTheOldestIsClosed) {
  Sessions sessions(2);
  std::vector<std::shared_ptr<Fake>> all;
  for (int i = 0; i < 4; i++) {
    all.push_back(std::make_shared<Fake>(sessions));
    sessions.add(all.back());
  }
  EXPECT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions.closed(), 2);
  for (size_t i = 0; i < all.size(); i++) EXPECT_EQ(all[i]->closed, i < 2) << i;
  all.clear();
  EXPECT_EQ(sessions.size(), 0u);
}

// One that waits for an answer outlives its closing; its place must go to others all the same.
TEST(SessionsTest, OneIsClosedOnce) {
  Sessions sessions(1);
  const auto slow = std::make_shared<Fake>(sessions);
  sessions.add(slow);
  for (int i = 0; i < 3; i++) {
    const auto next = std::make_shared<Fake>(sessions);
    sessions.add(next);
    EXPECT_EQ(sessions.size(), 1u);
    EXPECT_EQ(next->closed, 0);
  }
  EXPECT_EQ(slow->closed, 1);
}

// A crowd of either kind displaces its own.
TEST(SessionsTest, OfTooManyTheLargerGroupGivesWay) {
  for (const bool crowd_is_served : {false, true}) {
    Sessions sessions(8);
    const auto one = std::make_shared<Fake>(sessions);
    sessions.add(one);
    if (!crowd_is_served) sessions.is_served(*one);
    std::vector<std::shared_ptr<Fake>> crowd;
    for (int i = 0; i < 20; i++) {
      crowd.push_back(std::make_shared<Fake>(sessions));
      sessions.add(crowd.back());
      if (crowd_is_served) sessions.is_served(*crowd.back());
    }
    EXPECT_EQ(one->closed, 0);
    EXPECT_EQ(sessions.size(), 8u);
    EXPECT_EQ(sessions.closed(), 13);
    EXPECT_TRUE(crowd[12]->closed && !crowd[13]->closed);
  }
}

// Whoever has most of a group takes the place of his own.
TEST(SessionsTest, OfTooManyWhoHasMostGivesWay) {
  Sessions sessions(8);
  std::vector<std::shared_ptr<Fake>> all;
  for (int i = 0; i < 20; i++) {
    all.push_back(std::make_shared<Fake>(sessions));
    sessions.add(all.back());
    sessions.is_of(*all.back(), i == 0 ? "0" : "1000");
    sessions.is_served(*all.back());
  }
  EXPECT_EQ(all[0]->closed, 0);
  EXPECT_EQ(sessions.closed(), 12);
  EXPECT_TRUE(all[12]->closed && !all[13]->closed);
}

TEST(SessionsTest, AllAreClosed) {
  Sessions sessions(3);
  const auto a = std::make_shared<Fake>(sessions), b = std::make_shared<Fake>(sessions);
  sessions.close_oldest();
  sessions.close_all();
  sessions.add(a);
  sessions.add(b);
  sessions.is_served(*b);
  sessions.close_all();
  EXPECT_TRUE(a->closed == 1 && b->closed == 1);
}

}  // namespace
}  // namespace spotter::net
