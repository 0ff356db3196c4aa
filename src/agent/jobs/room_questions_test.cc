#include "agent/jobs/room_questions.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "net/testing.h"

namespace spotter::agent {
namespace {

TEST(RoomQuestions, ADiskThatDoesNotAnswerIsNotWaitedForAndIsHeardOnce) {
  net::Loop loop;
  RoomQuestions questions(loop, 20 * kMillisecond);
  const auto disk = std::make_shared<std::promise<void>>();
  auto in_thread = std::make_shared<int>();  // goes with the thread, after it has answered
  const std::weak_ptr thread = in_thread;
  std::vector<std::string> said;
  const auto hear = [&](std::string why_not) { said.push_back(std::move(why_not)); };
  questions.ask(
      [answer = disk->get_future().share(), in_thread = std::move(in_thread)] {
        answer.wait();
        return std::string("no room");
      },
      hear);
  ASSERT_TRUE(net::run_until(loop, [&] { return !said.empty(); }));
  EXPECT_EQ(said, (std::vector<std::string>{"the disk took too long to say what is free"}));
  disk->set_value();
  ASSERT_TRUE(net::run_until(loop, [&] { return thread.expired(); }));
  net::run_due(loop);
  EXPECT_EQ(said.size(), 1U);
}

TEST(RoomQuestions, WhatADiskSays) {
  net::Loop loop;
  RoomQuestions questions(loop, kMinute);
  std::vector<std::string> said;
  const auto hear = [&](std::string why_not) { said.push_back(std::move(why_not)); };
  questions.ask([] { return std::string("no room"); }, hear);
  ASSERT_TRUE(net::run_until(loop, [&] { return said.size() == 1; }));
  questions.ask([] { return std::string(); }, hear);
  ASSERT_TRUE(net::run_until(loop, [&] { return said.size() == 2; }));
  EXPECT_EQ(said, (std::vector<std::string>{"no room", ""}));
}

TEST(RoomQuestions, NotMoreThanTwoHang) {
  net::Loop loop;
  RoomQuestions questions(loop, kMinute);
  const auto disk = std::make_shared<std::promise<void>>();
  std::vector<std::string> said;
  const auto hear = [&](std::string why_not) { said.push_back(std::move(why_not)); };
  const auto hang = [answer = disk->get_future().share()] {
    answer.wait();
    return std::string();
  };
  for (int i = 0; i < 3; ++i) questions.ask(hang, hear);
  EXPECT_EQ(said, (std::vector<std::string>{"too many wait for the disk"}));
  disk->set_value();
  EXPECT_TRUE(net::run_until(loop, [&] { return said.size() == 3; }));
}

}  // namespace
}  // namespace spotter::agent
