#include "kineto/config.h"

#include <gtest/gtest.h>

#include <random>

#include "kineto/config_keys.h"
#include "kineto/message.h"

namespace spotter::kineto {
namespace {

Config read(std::string_view text) {
  Notes notes;
  const Result<Config> config = read_config(text, notes);
  EXPECT_TRUE(config) << text << ": " << (config ? "" : config.error().message);
  return config.value_or(Config{});
}

std::string error(std::string_view text) {
  Notes notes;
  const Result<Config> config = read_config(text, notes);
  if (config) return "";
  EXPECT_EQ(config.error().code, Code::invalid);
  return config.error().message;
}

i64 noted(std::string_view text, std::string_view kind) {
  Notes notes;
  EXPECT_TRUE(read_config(text, notes)) << text;
  return notes.count(kind);
}

TEST(Config, NothingIsATraceWithDefaults) {
  for (const char* text : {"", "\n\n", "# a remark\n", " \t \n"}) {
    const Config c = read(text);
    EXPECT_EQ(c.duration_ms, 500);
    EXPECT_EQ(c.warmup_ms, 5000);
    EXPECT_EQ(c.start_time_ms, 0);
    EXPECT_FALSE(c.by_iterations());
  }
}

TEST(Config, ReadsWhatDynoSends) {
  const Config c = read(
      "PROFILE_START_TIME=1763740800123\n"
      "  ACTIVITIES_LOG_FILE = /tmp/a trace.json \n"
      "\tACTIVITIES_DURATION_MSECS=250  # short\n"
      "PROFILE_REPORT_INPUT_SHAPES=true\n"
      "PROFILE_PROFILE_MEMORY=FALSE\n"
      "PROFILE_WITH_STACK=y\n"
      "PROFILE_WITH_FLOPS=0\n"
      "PROFILE_WITH_MODULES=T\n"
      "ACTIVITY_TYPES=CPU_OP, kernel,,\n"
      "REQUEST_TRACE_ID=7");
  EXPECT_EQ(c.start_time_ms, 1763740800123);
  EXPECT_EQ(c.log_file, "/tmp/a trace.json");
  EXPECT_EQ(c.duration_ms, 250);
  EXPECT_TRUE(c.shapes && c.stacks && c.modules);
  EXPECT_FALSE(c.memory || c.flops);
  EXPECT_EQ(c.activity_types, (std::vector<std::string>{"cpu_op", "kernel"}));
  EXPECT_EQ(c.trace_id, "7");
}

TEST(Config, TheLastLineCounts) {
  EXPECT_EQ(read("ACTIVITIES_DURATION_SECS=2\nACTIVITIES_DURATION_MSECS=100").duration_ms, 100);
  EXPECT_EQ(read("ACTIVITIES_DURATION_MSECS=100\nACTIVITIES_DURATION_SECS=2").duration_ms, 2000);
  EXPECT_FALSE(read("PROFILE_WITH_STACK=1\nPYTHON_STACK_TRACE=0").stacks);
}

TEST(Config, StepsNeedAStart) {
  const Config by_steps = read("ACTIVITIES_ITERATIONS=3\nPROFILE_START_ITERATION_ROUNDUP=50");
  EXPECT_TRUE(by_steps.by_iterations());
  EXPECT_EQ(by_steps.start_iteration, 0);
  EXPECT_TRUE(read("ACTIVITIES_ITERATIONS=3\nPROFILE_START_ITERATION=0").by_iterations());
  EXPECT_FALSE(read("ACTIVITIES_ITERATIONS=3").by_iterations());
  EXPECT_EQ(noted("ACTIVITIES_ITERATIONS=3", "iterations_ignored"), 1);
  // A start alone is one by time.
  EXPECT_FALSE(read("PROFILE_START_ITERATION=7").by_iterations());
  EXPECT_FALSE(read("ACTIVITIES_ITERATIONS=3\nPROFILE_START_ITERATION_ROUNDUP=0").by_iterations());
}

TEST(Config, WhatMakesTheClientDropTheRequest) {
  const struct {
    const char *text, *words;
  } cases[] = {
      {"ACTIVITIES_DURATION_MSECS", "line 1: \"ACTIVITIES_DURATION_MSECS\" must have one '='"},
      {"\n# x\nACTIVITIES_LOG_FILE=/tmp/a=b.json", "line 3:"},
      {"ACTIVITIES_DURATION_MSECS=abc", "is no whole number from 0 to 2147483647"},
      {"ACTIVITIES_DURATION_MSECS=", "is no whole number"},
      {"ACTIVITIES_DURATION_MSECS=-1", "is no whole number"},
      {"ACTIVITIES_DURATION_MSECS=2147483648", "is no whole number"},
      {"ACTIVITIES_DURATION_MSECS=1.5", "is no whole number"},
      {"ACTIVITIES_DURATION_MSECS=500\r\nPROFILE_WITH_STACK=true", "control character"},
      {"PROFILE_START_TIME=99999999999999999999", "is no whole number from 0 to 9223372036854775807"},
      {"PROFILE_WITH_STACK=maybe", "is neither true nor false"},
      {"ACTIVITY_TYPES=cpu_op,gpu", "names no activity type: gpu"},
      {"ACTIVITIES_ENABLED=false", "there would be no trace"},
      {"ACTIVITIES_LOG_FILE=/tmp/\x1b[2J.json", "control character"},
      {"junk\x01\x02", "must have one '='"},
      {"=5=6", "must have one '='"},
  };
  for (const auto& c : cases)
    EXPECT_NE(error(c.text).find(c.words), std::string::npos) << c.text << "\n" << error(c.text);
  EXPECT_EQ(error("ACTIVITIES_ENABLED=false\nACTIVITIES_DURATION_SECS=1"), "");
  EXPECT_NE(error(std::string(kMaxConfigBytes + 1, '\n')), "");
}

TEST(Config, ErrorsCannotSteerATerminal) {
  const std::string message = error("ACTIVITIES_DURATION_MSECS=\x1b[31m");
  EXPECT_NE(message, "");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(Config, WhatTheClientIgnoresIsNoted) {
  EXPECT_EQ(noted("ACTIVITIES_COMPRESSION_ALGORITHM=GZIP\nDURATION=1", "unknown_key"), 2);
  EXPECT_EQ(noted("profile_with_stack=1", "unknown_key"), 1);  // keys are case sensitive
  EXPECT_EQ(noted("ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1", "key_without_effect"), 1);
  EXPECT_EQ(noted("SAMPLE_PERIOD_MSECS=10", "key_without_effect"), 1);
  EXPECT_EQ(noted("PROFILE_MEMORY=true", "memory_snapshot"), 1);
  EXPECT_EQ(noted("PROFILE_PROFILE_MEMORY=true", "memory_events"), 1);
  EXPECT_EQ(noted("PROFILE_WITH_STACK=true", "unknown_key"), 0);
}

TEST(Config, KeysAreUniqueAndTyped) {
  EXPECT_EQ(find_key("ACTIVITIES_DURATION_MSECS")->type, KeyType::int32);
  EXPECT_EQ(find_key("PROFILE_START_TIME")->type, KeyType::int64);
  EXPECT_EQ(find_key("NOTHING"), nullptr);
  EXPECT_TRUE(is_activity_type("cuda_sync"));
  EXPECT_FALSE(is_activity_type("CUDA_SYNC"));
}

TEST(Config, TextIsReadBack) {
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    Config c;
    const auto some = [&] { return random() % 2 == 0; };
    if (some()) c.log_file = "/tmp/traces/x.json";
    if (some()) c.activity_types = {"cpu_op", "kernel"};
    c.duration_ms = static_cast<i64>(random() % 10'000);
    c.warmup_ms = static_cast<i64>(random() % 10) * 1000;
    if (some()) c.start_time_ms = 1763740800000 + static_cast<i64>(random() % 1000);
    if (some()) {
      c.iterations = 1 + static_cast<i64>(random() % 10);
      c.warmup_iterations = static_cast<i64>(random() % 3);
      c.start_iteration = static_cast<i64>(random() % 100);
      if (some()) c.roundup = static_cast<i64>(random() % 50);
    }
    c.shapes = some(), c.memory = some(), c.stacks = some(), c.flops = some(), c.modules = some();
    if (some()) c.trace_id = "id-1";
    const std::string text = config_text(c);
    const Config back = read(text);
    EXPECT_EQ(config_text(back), text);
    EXPECT_EQ(back.by_iterations(), c.by_iterations());
  }
}

TEST(Config, ALongDurationIsWrittenInSeconds) {
  const Config c = read("ACTIVITIES_DURATION_SECS=2147483647");
  EXPECT_EQ(read(config_text(c)).duration_ms, 2'147'483'647'000);
}

TEST(Config, StartLeavesTimeForTheWarmup) {
  const i64 now = 1'763'740'800'000;
  Config c;
  EXPECT_EQ(start_of(c, now), now + 7000);
  c.warmup_ms = 0;
  EXPECT_EQ(start_of(c, now), now + 2000);
  c.warmup_ms = 5000;
  c.start_time_ms = now + 5000;
  EXPECT_EQ(start_of(c, now), now + 5000);
  c.start_time_ms = now + 4999;
  EXPECT_NE(start_of(c, now).error().message.find("5.0 s ahead"), std::string::npos);
  c.start_time_ms = now - 60'000;
  EXPECT_NE(start_of(c, now).error().message.find("60.0 s in the past"), std::string::npos);
}

TEST(OutputPath, GetsThePidWhereTheClientPutsIt) {
  EXPECT_EQ(output_path("", 42), "/tmp/libkineto_activities_42.json");
  EXPECT_EQ(output_path("/tmp/x.json", 42), "/tmp/x_42.json");
  EXPECT_EQ(output_path("/tmp/x.pt.trace.json", 42), "/tmp/x_42.pt.trace.json");
  EXPECT_EQ(output_path("/tmp/x.json.gz", 42), "/tmp/x_42.json.gz");
  EXPECT_EQ(output_path("/tmp/x", 42), "/tmp/x");
  EXPECT_EQ(output_path("/tmp/x.json.d/y.json", 42), "/tmp/x_42.json.d/y.json");
  EXPECT_EQ(output_path("/tmp/a.json/b.pt.trace.json", 42), "/tmp/a.json/b_42.pt.trace.json");
}

}  // namespace
}  // namespace spotter::kineto
