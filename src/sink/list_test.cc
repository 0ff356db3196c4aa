#include "sink/list.h"

#include <gtest/gtest.h>

#include "sink/test_batches.h"

namespace spotter::sink {
namespace {

TEST(ListTest, WhatAConfigurationMayNotSay) {
  EXPECT_NE(
      make_sink("kafka", {}, {}).error().message.find("there is no sink \"kafka\"; there are json_lines"),
      std::string::npos);
  const auto message = [](const Settings& settings) {
    return make_sink("json_lines", settings, {}).error().message;
  };
  EXPECT_NE(message({{"paht", "x"}}).find("has no option paht; it has names, path, "), std::string::npos);
  EXPECT_EQ(message({{"path", ""}}), "path of the sink json_lines: there is no path");
  EXPECT_NE(message({{"rotate_size", "big"}}).find("rotate_size of the sink json_lines: \"big\" is no size"),
            std::string::npos);
  EXPECT_NE(message({{"rotate_files", "-1"}}).find("is no whole number"), std::string::npos);
  EXPECT_NE(message({{"every", "often"}}).find("is no time"), std::string::npos);
  EXPECT_NE(message({{"queue", "0"}}).find("is no whole number"), std::string::npos);
  EXPECT_EQ(check("json_lines", {{"path", ""}}).error().message, message({{"path", ""}}));
  EXPECT_TRUE(check("json_lines", {{"path", "a"}}));
}

TEST(ListTest, EveryFallbackIsAllowed) {
  for (const SinkKind* kind : all_sinks()) {
    for (const auto options : {kind->options, options_of_all_sinks()}) {
      for (const Setting& option : options) {
        if (option.check && option.fallback) {
          EXPECT_TRUE(option.check(option.fallback)) << kind->name << " " << option.key;
        }
      }
    }
    EXPECT_EQ(find_sink(kind->name), kind);
  }
}

TEST(ListTest, ARunnerTakesWhatTheConfigurationSays) {
  const Folder folder;
  {
    const auto runner =
        start_sink("json_lines", {{"path", folder.path("a")}, {"tables", "disk, net*"}, {"every", "10s"}},
                   {.host_name = "n1"})
            .value();
    runner->offer(disk_batch(11'000'000'000, 1));
    runner->offer(disk_batch(12'000'000'000, 2));
    runner->offer(disk_batch(20'000'000'000, 3));
    runner->offer(disk_batch(20'000'000'000, 4, "network"));
    runner->offer(disk_batch(20'000'000'000, 5, "cpu"));
    EXPECT_EQ(runner->state().name, "json_lines");
  }
  std::string numbers;
  const std::string text = folder.text("a"), key = "\"read_bytes\":";
  for (size_t at = 0; (at = text.find(key, at)) != text.npos;) numbers += text[at += key.size()];
  EXPECT_EQ(numbers, "134");
}

}  // namespace
}  // namespace spotter::sink
