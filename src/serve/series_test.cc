#include "serve/series.h"

#include <gtest/gtest.h>

namespace spotter::serve {
namespace {

using Places = std::vector<size_t>;

Recording recording(std::string name, std::optional<Ns> start = {}, std::optional<Ns> end = {},
                    std::optional<i64> rank = {}) {
  return {std::move(name), rank, start, end};
}

std::vector<std::pair<std::string, Places>> shown(const std::vector<Recording>& files) {
  std::vector<std::pair<std::string, Places>> all;
  for (const Span& span : spans_of(files)) all.emplace_back(span.label, span.files);
  return all;
}

TEST(Series, Names) {
  const auto name = recording_name("gpu07.example_4711.1623143089861.pt.trace.json.gz");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->worker, "gpu07.example_4711");
  EXPECT_EQ(name->time, "1623143089861");
  EXPECT_TRUE(recording_name("w.1.pt.trace.json"));
  for (const char* other : {"worker0.pt.trace.json", "w.1.json", "w.x1.pt.trace.json", ".1.pt.trace.json",
                            "w.1.pt.trace.txt", "rank_0.node0.pt.trace.json.gz"})
    EXPECT_FALSE(recording_name(other)) << other;
}

TEST(Series, FilesOfOneWorkerAreSpansByTheirTimes) {
  const std::vector<Recording> files = {recording("w.10.pt.trace.json"), recording("w.9.pt.trace.json")};
  EXPECT_EQ(shown(files), (std::vector<std::pair<std::string, Places>>{{"1", {1}}, {"2", {0}}}));
  EXPECT_EQ(repeated(files), (Places{1, 0}));
}

TEST(Series, OneFileOfEachWorkerIsOneJob) {
  const std::vector<Recording> files = {recording("a.1.pt.trace.json"), recording("b.2.pt.trace.json")};
  EXPECT_EQ(shown(files), (std::vector<std::pair<std::string, Places>>{{"", {0, 1}}}));
  EXPECT_TRUE(repeated(files).empty());
}

TEST(Series, WhatOverlapsIsNoSeries) {
  const std::vector<Recording> files = {recording("w.1.pt.trace.json", 100, 200),
                                        recording("w.2.pt.trace.json", 150, 250)};
  EXPECT_EQ(shown(files), (std::vector<std::pair<std::string, Places>>{{"", {0, 1}}}));
}

TEST(Series, OtherRanksAreNoSeries) {
  const std::vector<Recording> files = {recording("w.1.pt.trace.json", {}, {}, 0),
                                        recording("w.2.pt.trace.json", {}, {}, 1)};
  EXPECT_EQ(shown(files), (std::vector<std::pair<std::string, Places>>{{"", {0, 1}}}));
}

TEST(Series, WorkersOfAsManyFilesAreMatchedByNumber) {
  const std::vector<Recording> files = {recording("a.1.pt.trace.json"), recording("a.5.pt.trace.json"),
                                        recording("b.2.pt.trace.json"), recording("b.6.pt.trace.json")};
  EXPECT_EQ(shown(files), (std::vector<std::pair<std::string, Places>>{{"1", {0, 2}}, {"2", {1, 3}}}));
}

TEST(Series, WorkersOfOtherNumbersAreMatchedByTime) {
  const std::vector<Recording> files = {recording("a.1.pt.trace.json", 0, 10),
                                        recording("a.2.pt.trace.json", 20, 30),
                                        recording("b.2.pt.trace.json", 21, 29)};
  EXPECT_EQ(shown(files), (std::vector<std::pair<std::string, Places>>{{"1", {0}}, {"2", {1, 2}}}));
}

TEST(Series, OthersStayByThemselvesAndCopiesGo) {
  const std::vector<Recording> files = {recording("other.json"), recording("w.1.pt.trace.json"),
                                        recording("w.1.pt.trace.json.gz"), recording("w.2.pt.trace.json")};
  EXPECT_EQ(shown(files), (std::vector<std::pair<std::string, Places>>{{"1", {1}}, {"2", {3}}, {"", {0}}}));
}

}  // namespace
}  // namespace spotter::serve
