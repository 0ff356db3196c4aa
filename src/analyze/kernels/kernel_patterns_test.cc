#include "analyze/kernels/kernel_patterns.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "trace/builder.h"

namespace spotter::analyze {
namespace {

// One kernel a letter, each 1 ns long and 1 ns after the one before; a stream per text.
TracePtr trace_of(const std::vector<std::string>& streams) {
  trace::TraceBuilder b;
  for (size_t s = 0; s < streams.size(); ++s)
    for (size_t i = 0; i < streams[s].size(); ++i) {
      const i64 correlation = static_cast<i64>(1000 * s + i + 1), stream = static_cast<i64>(s);
      b.span("cuda_runtime", "cudaLaunchKernel", 1, 1, static_cast<Ns>(2 * i), 1,
             {{Arg::correlation, correlation}});
      b.span("kernel", streams[s].substr(i, 1), 0, stream, static_cast<Ns>(100 + 2 * i), 1,
             {{Arg::stream, stream}, {Arg::correlation, correlation}});
    }
  return b.build();
}

std::string text_of(const Trace& trace, const KernelPattern& pattern) {
  std::string text;
  for (const StringId name : pattern.names) text += trace.strings()[name];
  return text;
}

std::map<std::string, i64> patterns_of(const std::vector<std::string>& streams, size_t least) {
  const TracePtr trace = trace_of(streams);
  std::map<std::string, i64> found;
  for (const KernelPattern& p : kernel_patterns(*trace, least)) found[text_of(*trace, p)] = p.count;
  return found;
}

using Found = std::map<std::string, i64>;

TEST(KernelPatterns, WhatRecursIsFoundOnce) {
  EXPECT_EQ(patterns_of({"abcxabcyabc"}, 2), (Found{{"abc", 3}}));
  EXPECT_EQ(patterns_of({"abcd"}, 2), Found{});
  EXPECT_EQ(patterns_of({}, 2), Found{});
}

TEST(KernelPatterns, ShorterOnesThatOccurMoreOftenStay) {
  EXPECT_EQ(patterns_of({"abcxabcyab"}, 2), (Found{{"abc", 2}, {"ab", 3}}));
}

TEST(KernelPatterns, OccurrencesDoNotOverlap) {
  EXPECT_EQ(patterns_of({"aaaa"}, 2), (Found{{"aa", 2}}));
  EXPECT_EQ(patterns_of({"aaa"}, 2), Found{});
}

TEST(KernelPatterns, ALayerThatRepeatsIsOnePattern) {
  std::string text = "x";
  for (int layer = 0; layer < 24; ++layer) text += "abcdefghij";
  EXPECT_EQ(patterns_of({text + "y"}, 3), (Found{{"abcdefghij", 24}}));
}

TEST(KernelPatterns, StreamsAreNotJoined) {
  EXPECT_EQ(patterns_of({"xa", "bx", "ab", "ab"}, 2), (Found{{"ab", 2}}));
}

TEST(KernelPatterns, ShortOnesAreLeftOut) {
  EXPECT_EQ(patterns_of({"abcabc"}, 3), (Found{{"abc", 2}}));
  EXPECT_EQ(patterns_of({"abcabc"}, 4), Found{});
}

TEST(KernelPatterns, WhatFusingWouldSave) {
  const TracePtr trace = trace_of({"abcxabc"});
  const std::vector<KernelPattern> found = kernel_patterns(*trace, 3);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].device, 6);
  EXPECT_EQ(found[0].launches, 4);  // two of 1 ns for each occurrence
  EXPECT_EQ(found[0].host, 4);
  EXPECT_EQ(found[0].gaps, 4);
}

// Re-Pair finds "ab" when "aa" and "ca" have taken two of its six.
TEST(KernelPatterns, OccurrencesAreCountedInTheStreamNotInTheGrammar) {
  EXPECT_EQ(patterns_of({"aacaabcaaaaabccacacabacaabababbb"}, 2).at("ab"), 6);
}

struct Started {
  const char* name;
  i64 launch;  // 0: not in the trace
};

std::vector<KernelPattern> patterns_of_launches(std::initializer_list<Started> rows) {
  trace::TraceBuilder b;
  std::set<i64> launches;
  Ns at = 0;
  for (const Started& row : rows) {
    if (row.launch > 0 && launches.insert(row.launch).second)
      b.span("cuda_runtime", "launch", 1, 1, row.launch * 10, row.launch, {{Arg::correlation, row.launch}});
    b.span("kernel", row.name, 0, 7, 1000 + 2 * at++, 1,
           {{Arg::stream, i64{7}}, {Arg::correlation, row.launch}});
  }
  return kernel_patterns(*b.build(), 2);
}

TEST(KernelPatterns, WhatOneGraphLaunchesSavesNoLaunch) {
  const auto found =
      patterns_of_launches({{"a", 1}, {"b", 1}, {"c", 1}, {"x", 2}, {"a", 3}, {"b", 3}, {"c", 3}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(found[0].launches, 0);
  EXPECT_EQ(found[0].host, 0);
  EXPECT_EQ(found[0].gaps, 4);
}

// A graph that goes on behind the occurrence is launched anyway, and of a launch that is not in the trace
// nothing is known: what is left are 4 and 5, and 8 and 9, each less the first.
TEST(KernelPatterns, LaunchesThatStartMoreStay) {
  const auto found = patterns_of_launches(
      {{"a", 4}, {"b", 5}, {"c", 0}, {"d", 6}, {"x", 6}, {"a", 8}, {"b", 9}, {"c", 0}, {"d", 7}, {"y", 7}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].names.size(), 4u);
  EXPECT_EQ(found[0].launches, 2);
  EXPECT_EQ(found[0].host, 5 + 9);
}

// Just as often as can be counted by hand, each once, and where nothing recurs, nothing.
TEST(KernelPatterns, HoldForAnyText) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const size_t n = random() % 40;
    for (size_t i = 0; i < n; ++i) text += static_cast<char>('a' + random() % 3);
    const auto count_of = [&](const std::string& part) {
      i64 count = 0;
      for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
      return count;
    };
    const TracePtr trace = trace_of({text});
    std::set<std::string> seen;
    for (const KernelPattern& p : kernel_patterns(*trace, 2)) {
      const std::string part = text_of(*trace, p);
      EXPECT_TRUE(seen.insert(part).second) << text << " " << part;
      EXPECT_GE(part.size(), 2u);
      EXPECT_GE(p.count, 2) << text << " " << part;
      EXPECT_EQ(p.count, count_of(part)) << text << " " << part;
      EXPECT_EQ(p.device, p.count * static_cast<i64>(part.size()));
      EXPECT_EQ(p.launches, p.count * (static_cast<i64>(part.size()) - 1));
      EXPECT_EQ(p.host, p.launches);
      EXPECT_EQ(p.gaps, p.host);
    }
    bool recurs = false;
    for (size_t at = 0; at + 2 <= n; ++at) recurs |= count_of(text.substr(at, 2)) >= 2;
    EXPECT_EQ(!seen.empty(), recurs) << text;
  }
}

}  // namespace
}  // namespace spotter::analyze
