#include "base/text/strings.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace spotter {
namespace {

TEST(Strings, EmptyStringIsZero) {
  const Strings pool;
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(pool[0], "");
  EXPECT_EQ(pool.find(""), 0u);
  EXPECT_EQ(pool.find("x"), kNone);
}

TEST(Strings, IdsAreDenseInOrderOfArrival) {
  Strings pool;
  EXPECT_EQ(pool.intern("a"), 1u);
  EXPECT_EQ(pool.intern("b"), 2u);
  EXPECT_EQ(pool.intern("a"), 1u);
  EXPECT_EQ(pool.intern(""), 0u);
  EXPECT_EQ(pool.intern("c"), 3u);
  EXPECT_EQ(pool.size(), 4u);
  EXPECT_EQ(pool.find("b"), 2u);
}

TEST(Strings, CopiesItsText) {
  Strings pool;
  std::string text = "will be overwritten";
  const StringId id = pool.intern(text);
  text.assign(text.size(), '#');
  EXPECT_EQ(pool[id], "will be overwritten");
}

// Every length has its own path through the hash; a byte at any place must matter, NUL bytes and length
// included.
TEST(Strings, EveryByteOfEveryLengthMatters) {
  Strings pool;
  size_t distinct = 1;
  for (size_t n = 1; n <= 70; ++n) {
    std::string text(n, '\0');
    EXPECT_EQ(pool.intern(text), distinct++);
    for (size_t i = 0; i < n; ++i) {
      for (const char c : {'\x01', '\x80', '\xff'}) {
        text[i] = c;
        EXPECT_EQ(pool.intern(text), distinct++) << "length " << n << " byte " << i;
      }
      text[i] = '\0';
    }
  }
  EXPECT_EQ(pool.size(), distinct);
}

TEST(Strings, AgreesWithAMapWhileItGrows) {
  Strings pool;
  std::map<std::string, StringId> expected = {{"", 0}};
  std::vector<std::string_view> views = {pool[0]};
  std::mt19937 random(1);
  for (int i = 0; i < 200'000; ++i) {
    std::string text = "void at::native::kernel<" + std::to_string(random() % 60'000) + ">";
    if (i % 1000 == 0) text += std::string(random() % 100'000, 'x');  // longer than a block's share
    const auto [it, is_new] = expected.emplace(text, static_cast<StringId>(expected.size()));
    ASSERT_EQ(pool.intern(text), it->second);
    if (is_new) views.push_back(pool[it->second]);
  }
  ASSERT_EQ(pool.size(), expected.size());
  for (const auto& [text, id] : expected) {
    ASSERT_EQ(pool[id], text);
    ASSERT_EQ(pool.find(text), id);
    ASSERT_EQ(views[id].data(), pool[id].data());  // views from before the growth are still good
  }
}

TEST(Strings, CountsItsMemory) {
  Strings pool;
  const size_t before = pool.memory_bytes();
  pool.intern(std::string(1'000'000, 'x'));
  EXPECT_GE(pool.memory_bytes(), before + 1'000'000);
  EXPECT_LT(pool.memory_bytes(), before + 1'100'000);
}

TEST(Strings, MoveKeepsViews) {
  Strings a;
  const std::string_view view = a[a.intern("kept")];
  const Strings b = std::move(a);
  EXPECT_EQ(view.data(), b[1].data());
  EXPECT_EQ(b.find("kept"), 1u);
}

}  // namespace
}  // namespace spotter
