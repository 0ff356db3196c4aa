#include "analyze/kernel_patterns.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "trace/builder.h"

namespace spotter {
namespace {

// One kernel a letter, each 1 ns long and 1 ns after the one before; a stream per text.
TracePtr trace_of(const std::vector<std::string>& streams) {
  TraceBuilder b;
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

std::map<std::string, i64> patterns_of(const std::vector<std::string>& streams, size_t least, size_t most) {
  const TracePtr trace = trace_of(streams);
  std::map<std::string, i64> found;
  for (const KernelPattern& p : kernel_patterns(*trace, least, most)) found[text_of(*trace, p)] = p.count;
  return found;
}

using Found = std::map<std::string, i64>;

TEST(KernelPatterns, WhatRecursIsFoundOnce) {
  EXPECT_EQ(patterns_of({"abcxabcyabc"}, 2, 4), (Found{{"abc", 3}}));
  EXPECT_EQ(patterns_of({"abcd"}, 2, 4), Found{});
  EXPECT_EQ(patterns_of({}, 2, 4), Found{});
}

TEST(KernelPatterns, ShorterOnesThatOccurMoreOftenStay) {
  EXPECT_EQ(patterns_of({"abcxabcyab"}, 2, 4), (Found{{"abc", 2}, {"ab", 3}}));
}

TEST(KernelPatterns, OccurrencesDoNotOverlap) { EXPECT_EQ(patterns_of({"aaaa"}, 2, 4), (Found{{"aa", 2}})); }

TEST(KernelPatterns, StreamsAreNotJoined) {
  EXPECT_EQ(patterns_of({"xa", "bx", "ab", "ab"}, 2, 4), (Found{{"ab", 2}}));
}

TEST(KernelPatterns, LengthsAreBounded) {
  EXPECT_EQ(patterns_of({"abcabc"}, 3, 8), (Found{{"abc", 2}}));
  EXPECT_EQ(patterns_of({"abcabc"}, 2, 2), Found{});  // parts of one that is longer
  EXPECT_EQ(patterns_of({"abcabc"}, 4, 8), Found{});
}

TEST(KernelPatterns, WhatFusingWouldSave) {
  const TracePtr trace = trace_of({"abcxabc"});
  const std::vector<KernelPattern> found = kernel_patterns(*trace, 3, 3);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].device, 6);
  EXPECT_EQ(found[0].host, 4);  // two launches of 1 ns for each occurrence
  EXPECT_EQ(found[0].gaps, 4);
}

// Against every substring, counted by hand.
TEST(KernelPatterns, EqualASlowCount) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    const size_t n = 2 + random() % 30;
    for (size_t i = 0; i < n; ++i) text += static_cast<char>('a' + random() % 3);
    const auto count_of = [&](const std::string& part) {
      i64 count = 0;
      for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
      return count;
    };
    constexpr size_t kLeast = 2, kMost = 5;
    std::map<std::string, i64> counts;
    for (size_t length = kLeast; length <= kMost + 1; ++length)
      for (size_t at = 0; at + length <= n; ++at)
        counts[text.substr(at, length)] = count_of(text.substr(at, length));
    Found expected;
    for (const auto& [part, count] : counts) {
      if (count < 2 || part.size() > kMost) continue;
      const bool is_part =
          std::any_of(counts.begin(), counts.end(), [&, &p = part, c = count](const auto& other) {
            return other.second == c && other.first.size() == p.size() + 1 &&
                   other.first.find(p) != std::string::npos;
          });
      if (!is_part) expected[part] = count;
    }
    EXPECT_EQ(patterns_of({text}, kLeast, kMost), expected) << text;
  }
}

}  // namespace
}  // namespace spotter
