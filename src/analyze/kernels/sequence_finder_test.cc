#include "analyze/kernels/sequence_finder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace spotter::analyze {
namespace {

using Text = std::vector<StringId>;
using Found = std::vector<std::pair<u32, u32>>;  // (number, begin)

Found found_in(const SequenceFinder& finder, const Text& text) {
  Found found;
  finder.find(text, [&](u32 number, u32 begin) { found.emplace_back(number, begin); });
  std::ranges::sort(found);
  return found;
}

TEST(SequenceFinder, FindsAllAlsoWhereOneEndsAnother) {
  SequenceFinder finder;
  EXPECT_EQ(finder.add(Text{1, 2, 3}), 0u);
  EXPECT_EQ(finder.add(Text{2, 3}), 1u);
  EXPECT_EQ(finder.add(Text{1, 2, 3}), 0u);
  EXPECT_EQ(finder.add(Text{3, 3}), 2u);
  finder.finish();
  EXPECT_EQ(found_in(finder, {1, 2, 3, 3, 3, 2, 3}), (Found{{0, 0}, {1, 1}, {1, 5}, {2, 2}, {2, 3}}));
  EXPECT_EQ(found_in(finder, {}), Found{});
}

TEST(SequenceFinder, FindsWhatLoopsFind) {
  std::mt19937 random(1);
  const auto some = [&](size_t least, size_t most) {
    Text text(least + random() % (most - least + 1));
    for (StringId& name : text) name = random() % 2;
    return text;
  };
  size_t seen = 0;
  for (int round = 0; round < 300; ++round) {
    const Text text = some(0, 40);
    SequenceFinder finder;
    std::vector<Text> sequences;
    for (int i = 0; i < 6; ++i) {
      const Text sequence = some(1, 5);
      if (finder.add(sequence) == sequences.size()) sequences.push_back(sequence);
    }
    finder.finish();
    Found expected;
    for (u32 s = 0; s < sequences.size(); ++s)
      for (u32 begin = 0; begin + sequences[s].size() <= text.size(); ++begin)
        if (std::equal(sequences[s].begin(), sequences[s].end(), text.begin() + begin))
          expected.emplace_back(s, begin);
    EXPECT_EQ(found_in(finder, text), expected);
    seen += expected.size();
  }
  EXPECT_GT(seen, 1000u);
}

}  // namespace
}  // namespace spotter::analyze
