#include "base/text/utf8.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

using namespace std::string_view_literals;

struct Case {
  std::string_view text;
  std::string_view valid;  // what to_valid_utf8 makes of it
};

// The ill-formed ones are the examples of The Unicode Standard, section 3.9, tables 3-8 to 3-11, and their
// kin.
const Case kCases[] = {
    {"", ""},
    {"plain ascii, longer than eight bytes", "plain ascii, longer than eight bytes"},
    {"naïve 漢字 🚀", "naïve 漢字 🚀"},
    {"nul\0byte"sv, "nul\0byte"sv},
    {"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
     "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
    {"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41"},
    {"\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41"},
    {"\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41\uFFFD\uFFFD\x42"},
    {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", "\uFFFD\uFFFD\uFFFD\uFFFD\x41"},
    {"cut short \xe6\xbc", "cut short \uFFFD"},
    {"\x80", "\uFFFD"},
    {"\xf5\x80\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
};

TEST(Utf8, ValidatesAndMends) {
  for (const Case& c : kCases) {
    EXPECT_EQ(to_valid_utf8(c.text), c.valid);
    EXPECT_EQ(is_valid_utf8(c.text), c.text == c.valid) << c.valid;
    EXPECT_TRUE(is_valid_utf8(c.valid));
  }
}

// Every code point encodes, by the rule of the standard's table 3-6, to something that decodes to itself.
TEST(Utf8, EveryCodePointDecodes) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    std::string text;
    const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
    if (c < 0x80) {
      text += static_cast<char>(c);
    } else if (c < 0x800) {
      text += static_cast<char>(0xC0 | c >> 6), tail(0);
    } else if (c < 0x10000) {
      text += static_cast<char>(0xE0 | c >> 12), tail(6), tail(0);
    } else {
      text += static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0);
    }
    const CodePoint decoded = first_code_point(text);
    const bool is_surrogate = c >= 0xD800 && c <= 0xDFFF;
    ASSERT_EQ(decoded.good, !is_surrogate) << std::hex << static_cast<u32>(c);
    if (!is_surrogate) {
      ASSERT_EQ(decoded.value, c);
      ASSERT_EQ(decoded.bytes, text.size());
    }
  }
}

TEST(Utf8, PrintableTextCannotSteerATerminal) {
  EXPECT_EQ(to_printable("kernel<int>(α)"), "kernel<int>(α)");
  EXPECT_EQ(to_printable("a\x1b[31mb"), "a\uFFFD[31mb");
  EXPECT_EQ(to_printable("a\nb\tc\rd"), "a b c d");
  EXPECT_EQ(to_printable("\x7f\xc2\x9b"), "\uFFFD\uFFFD");
  EXPECT_EQ(to_printable("a\u202Eb"), "a\uFFFDb");
  EXPECT_EQ(to_printable("\xff"), "\uFFFD");
}

TEST(Utf8, DisplayWidth) {
  const std::pair<std::string_view, int> cases[] = {
      {"", 0},   {"abc", 3}, {"µs", 2},       {"漢字", 4},     {"カタカナ", 8}, {"한글", 4}, {"e\u0301", 1},
      {"🚀", 2}, {"…", 1},   {"ｆｕｌｌ", 8}, {"\xff\xff", 2}, {"a\u200Bb", 2}, {"Ω→∞", 3},  {"\u4DC0", 1},
  };
  for (const auto& [text, width] : cases) EXPECT_EQ(display_width(text), width) << text;
}

}  // namespace
}  // namespace spotter
