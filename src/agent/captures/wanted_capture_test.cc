#include "agent/captures/wanted_capture.h"

#include <gtest/gtest.h>

namespace spotter::agent {
namespace {

constexpr i64 kNow = 1'700'000'000'000;

Result<WantedCapture> read_and_want(std::string_view body) {
  TRY_ASSIGN(const wire::CaptureRequest asked, wire::read_capture_request(body));
  return wanted_capture(asked, kNow);
}

WantedCapture read(std::string_view body) {
  const Result<WantedCapture> request = read_and_want(body);
  EXPECT_TRUE(request) << body << ": " << request.error().message;
  return request.value_or(WantedCapture());
}

TEST(WantedCaptureTest, NothingIsNeeded) {
  for (const char* body : {"", "{}", R"({"pids": null, "output": null, "iterations": null})"}) {
    const WantedCapture r = read(body);
    EXPECT_TRUE(r.target.pids.empty() && r.target.ranks.empty() && r.target.job.empty() && !r.target.helpers);
    EXPECT_EQ(r.request.output, "");  // the agent's first directory
    EXPECT_EQ(r.request.deadline, 0);
    EXPECT_EQ(r.request.config.duration_ms, 500);
    EXPECT_EQ(r.request.config.warmup_ms, 5000);
    EXPECT_FALSE(r.request.config.by_iterations());
    EXPECT_EQ(r.request.config.start_time_ms, 0);
  }
}

TEST(WantedCaptureTest, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "no JSON object"},
      {"{", "no JSON"},
      {R"({"pid": [1]})", "\"pid\""},
      {R"({"PIDS": [1]})", "\"PIDS\""},
      {R"({"pids": 1})", "\"pids\""},
      {R"({"ranks": ["0"]})", "\"ranks\""},
      {R"({"job": 1})", "\"job\""},
      {R"({"all": 1})", "\"all\""},
      {R"({"output": 1})", "\"output\""},
      {R"({"shapes": "yes"})", "\"shapes\""},
      {R"({"duration_ms": 0})", "\"duration_ms\""},
      {R"({"duration_ms": -1})", "\"duration_ms\""},
      {R"({"duration_ms": 86400001})", "\"duration_ms\""},
      {R"({"duration_ms": "1s"})", "\"duration_ms\""},
      {R"({"warmup_ms": 1500})", "whole seconds"},
      {R"({"iterations": 1000000001})", "\"iterations\""},
      {R"({"roundup": 10})", "goes with \"iterations\""},
      {R"({"start_in_ms": 1, "start_time_ms": 1})", "exclude each other"},
      {R"({"start_time_ms": 9223372036854775807})", "\"start_time_ms\""},
      {R"({"deadline_ms": -1})", "\"deadline_ms\""},
      {R"({"activities": ["cpu_op", "nonsense\n"]})", "no activity type"},
      {"{\"x\\n\": 1}", "a capture has no"},
  };
  for (const auto& [body, words] : cases) {
    const auto request = read_and_want(body);
    ASSERT_FALSE(request) << body;
    EXPECT_EQ(request.error().code, Code::invalid);
    EXPECT_NE(request.error().message.find(words), std::string::npos) << request.error().message;
    EXPECT_EQ(request.error().message.find('\n'), std::string::npos);
  }
}

TEST(WantedCaptureTest, Iterations) {
  const kineto::Config next = read(R"({"iterations": 3})").request.config;
  EXPECT_TRUE(next.by_iterations());
  EXPECT_EQ(next.roundup, 1);
  const kineto::Config rounded = read(R"({"iterations": 3, "roundup": 10})").request.config;
  EXPECT_EQ(rounded.iterations, 3);
  EXPECT_EQ(rounded.roundup, 10);
  EXPECT_EQ(rounded.start_iteration, 0);
}

TEST(WantedCaptureTest, Times) {
  EXPECT_EQ(read(R"({"start_in_ms": 9000})").request.config.start_time_ms, kNow + 9000);
  EXPECT_EQ(read(R"({"start_time_ms": 123})").request.config.start_time_ms, 123);
  EXPECT_EQ(read(R"({"deadline_ms": 1500})").request.deadline, 1'500'000'000);
  EXPECT_EQ(read(R"({"warmup_ms": 0})").request.config.warmup_ms, 0);
}

TEST(WantedCaptureTest, WhatAUserWishesIsWhatIsRead) {
  wire::CaptureRequest wish;
  wish.pids = {1, 2};
  wish.ranks = {3};
  wish.job = "a \"job\"";
  wish.output = "/tmp/\xc3\xa4";
  wish.activities = {"CPU_OP", "kernel"};
  wish.all = wish.stacks = wish.flops = true;
  wish.duration_ms = 700;
  wish.start_in_ms = 8000;
  wish.warmup_ms = 2000;
  wish.deadline_ms = 90'000;
  const WantedCapture r = read(wire::capture_request_text(wish));
  EXPECT_EQ(r.target.pids, wish.pids);
  EXPECT_EQ(r.target.ranks, wish.ranks);
  EXPECT_EQ(r.target.job, wish.job);
  EXPECT_TRUE(r.target.helpers);
  EXPECT_EQ(r.request.output, wish.output);
  EXPECT_EQ(r.request.deadline, 90'000'000'000);
  const kineto::Config& c = r.request.config;
  EXPECT_EQ(c.activity_types, (std::vector<std::string>{"cpu_op", "kernel"}));
  EXPECT_TRUE(c.stacks && c.flops);
  EXPECT_FALSE(c.shapes || c.memory || c.modules);
  EXPECT_EQ(c.duration_ms, 700);
  EXPECT_EQ(c.start_time_ms, kNow + 8000);
  EXPECT_EQ(c.warmup_ms, 2000);

  wire::CaptureRequest other;
  other.shapes = other.memory = other.modules = true;
  other.iterations = 5;
  other.roundup = 20;
  const kineto::Config o = read(wire::capture_request_text(other)).request.config;
  EXPECT_TRUE(o.shapes && o.memory && o.modules);
  EXPECT_FALSE(o.stacks || o.flops);
  EXPECT_EQ(o.iterations, 5);
  EXPECT_EQ(o.roundup, 20);
  EXPECT_EQ(wire::capture_request_text({}), "{}");
}

}  // namespace
}  // namespace spotter::agent
