#include "app/cli/words.h"

#include <gtest/gtest.h>

namespace spotter::app {
namespace {

TEST(WordsTest, Durations) {
  const std::pair<const char*, i64> times[] = {
      {"500ms", 500},    {"1s", 1000},       {"1.5s", 1500}, {"2m", 120'000},
      {"1h", 3'600'000}, {"1d", 86'400'000}, {"0s", 0},      {"0.4ms", 0},
      {".5s", 500},      {"1e3ms", 1000},    {"0.0015s", 2}, {"277777h", 999'997'200'000}};
  for (const auto& [text, ms] : times) EXPECT_EQ(parse_duration_ms(text).value_or(-1), ms) << text;
  for (const std::string& text :
       {std::string(), std::string("1"), std::string("s"), std::string("1 s"), std::string(" 1s"),
        std::string("1S"), std::string("1sec"), std::string("1s1"), std::string("-1s"), std::string("+1s"),
        std::string("nans"), std::string("infs"), std::string("infinitys"), std::string("1e400s"),
        std::string("277778h"), std::string("0x1s"), std::string("1s\0", 3)}) {
    const auto ms = parse_duration_ms(text);
    ASSERT_FALSE(ms) << text;
    EXPECT_EQ(ms.error().code, Code::invalid);
  }
}

TEST(Words, DurationsInNanoseconds) {
  const std::pair<const char*, i64> times[] = {
      {"250ns", 250},        {"100us", 100'000},      {"1.5s", 1'500'000'000},       {"0.000000001s", 1},
      {"1.001us", 1'001},    {"2m", 120'000'000'000}, {"1.5d", 129'600'000'000'000}, {"0ms", 0},
      {"3.s", 3'000'000'000}};
  for (const auto& [text, ns] : times) EXPECT_EQ(parse_duration_ns(text).value_or(-1), ns) << text;
  for (const char* text :
       {"", "5", "s", "-1s", "1.2.3s", "1,5s", "5 s", "99999999999999s", "1.0000000001s", ".5s"})
    EXPECT_FALSE(parse_duration_ns(text).has_value()) << text;
}

TEST(WordsTest, Sizes) {
  EXPECT_EQ(parse_size("8G").value(), i64{8} << 30);
  EXPECT_EQ(parse_size("512KiB").value(), 512 << 10);
  EXPECT_EQ(parse_size("3m").value(), 3 << 20);
  EXPECT_EQ(parse_size("17").value(), 17);
  for (const char* text : {"", "0", "G", "-1G", "1.5G", "8P", "9999999999T", "8 G"})
    EXPECT_FALSE(parse_size(text)) << text;
}

TEST(WordsTest, Numbers) {
  EXPECT_EQ(parse_number("5", 1, 5).value(), 5);
  for (const char* text : {"0", "6", "-1", "5.0", "", "x"}) EXPECT_FALSE(parse_number(text, 1, 5)) << text;
}

TEST(Words, Commas) {
  EXPECT_EQ(split_commas("a,b"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(split_commas(" a , ,b c,"), (std::vector<std::string>{"a", "b c"}));
  EXPECT_TRUE(split_commas("").empty());
  EXPECT_TRUE(split_commas(" ,, ").empty());
}

}  // namespace
}  // namespace spotter::app
