#include "read/json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace spotter::read::json {
namespace {

// What a scanning function says of a text: how much it took, or why not.
std::string said(const Scan& s, std::string_view text) {
  if (s.state == State::ok) return std::string(text.substr(0, static_cast<size_t>(s.stop - text.data())));
  return s.state == State::bad ? "bad" : "incomplete";
}

std::string string_of(std::string_view text) {
  return said(scan_string(text.data(), text.data() + text.size()), text);
}
std::string value_of(std::string_view text) {
  return said(scan_value(text.data(), text.data() + text.size()), text);
}

TEST(Json, ScanString) {
  EXPECT_EQ(string_of(R"("abc", 1)"), R"("abc")");
  EXPECT_EQ(string_of(R"("")"), R"("")");
  EXPECT_EQ(string_of(R"("a\"b"c)"), R"("a\"b")");
  EXPECT_EQ(string_of(R"("a\\"b)"), R"("a\\")");
  EXPECT_EQ(string_of("\"line\nend\""), "\"line\nend\"");
  EXPECT_EQ(string_of(R"("abc)"), "incomplete");
  EXPECT_EQ(string_of(R"("abc\")"), "incomplete");
  EXPECT_EQ(string_of(R"("abc\)"), "incomplete");
  EXPECT_EQ(string_of(R"(abc")"), "bad");
  EXPECT_EQ(string_of(""), "bad");
  const std::string_view plain = R"("ab")", escaped = R"("a\nb")";
  EXPECT_FALSE(scan_string(plain.data(), plain.data() + plain.size()).escaped);
  EXPECT_TRUE(scan_string(escaped.data(), escaped.data() + escaped.size()).escaped);
}

TEST(Json, ScanValue) {
  EXPECT_EQ(value_of("12.5e3, 1"), "12.5e3");
  EXPECT_EQ(value_of("-Infinity}"), "-Infinity");
  EXPECT_EQ(value_of("null"), "null");
  EXPECT_EQ(value_of(R"("]" ])"), R"("]")");
  EXPECT_EQ(value_of(R"([1, {"a": "]}"}, []] ])"), R"([1, {"a": "]}"}, []])");
  EXPECT_EQ(value_of("{}{}"), "{}");
  EXPECT_EQ(value_of("[1}"), "bad");
  EXPECT_EQ(value_of(R"({"a": [}])"), "bad");
  EXPECT_EQ(value_of(","), "bad");
  EXPECT_EQ(value_of(""), "incomplete");
  EXPECT_EQ(value_of("[1, 2"), "incomplete");
  EXPECT_EQ(value_of(R"([1, "2)"), "incomplete");
}

// Nesting costs no stack. Of the innermost 64 levels the kinds of brackets are known.
TEST(Json, ScanValueOfAnyDepth) {
  const size_t deep = 1'000'000;
  const std::string lists = std::string(deep, '[') + std::string(deep, ']');
  EXPECT_TRUE(value_of(lists + "]") == lists);
  EXPECT_EQ(value_of(lists.substr(0, lists.size() - 1)), "incomplete");
  std::string mixed, closing;
  for (int i = 0; i < 200; i++) {
    mixed += i % 3 == 0 ? '{' : '[';
    closing.insert(closing.begin(), i % 3 == 0 ? '}' : ']');
  }
  EXPECT_EQ(value_of(mixed + closing), mixed + closing);
  const std::string inside =
      mixed.substr(0, 60) + closing.substr(140);  // opened again where kinds had been forgotten
  const std::string again = mixed + closing.substr(0, 140) + inside + inside + closing.substr(140);
  EXPECT_EQ(value_of(again), again);
  for (size_t i = 0; i < 64; i++) {
    std::string wrong = closing;
    wrong[i] = wrong[i] == ']' ? '}' : ']';
    EXPECT_EQ(value_of(mixed + wrong), "bad") << i;
  }
}

TEST(Json, ScanWord) {
  const auto word = [](std::string_view text) { return scan_word(text.data(), text.data() + text.size()); };
  EXPECT_EQ(word("-1.5e+3,"), "-1.5e+3");
  EXPECT_EQ(word("NaN }"), "NaN");
  EXPECT_EQ(word("\"a\""), "");
  EXPECT_EQ(word("{}"), "");
  EXPECT_EQ(word(""), "");
  for (int c = 0; c < 256; c++) {
    const std::string text(1, static_cast<char>(c));
    const bool is_part = (c < 128 && std::isalnum(c)) || c == '+' || c == '-' || c == '.';
    EXPECT_EQ(word(text).size(), is_part ? 1u : 0u) << c;
  }
}

TEST(Json, Unescape) {
  EXPECT_EQ(unescape("plain"), "plain");
  EXPECT_EQ(unescape(R"(\"\\\/\b\f\n\r\t)"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(unescape(R"(\u0041\u00e9\u6F22)"), "Aé漢");
  EXPECT_EQ(unescape(R"(\ud83d\ude00!)"), "😀!");
  EXPECT_EQ(unescape(R"(a\u0000b)"), std::string("a\0b", 3));
  // Surrogates without their other half.
  EXPECT_EQ(unescape(R"(\ud83d)"), "\uFFFD");
  EXPECT_EQ(unescape(R"(\ude00\ud83d)"), "\uFFFD\uFFFD");
  EXPECT_EQ(unescape(R"(\ud83dx\ude00)"), "\uFFFDx\uFFFD");
  EXPECT_EQ(unescape(R"(\ud83d\u0041)"), "\uFFFDA");
  EXPECT_EQ(unescape(R"(\ud83d\ud83d\ude00)"), "\uFFFD😀");
  // What is no escape stays.
  EXPECT_EQ(unescape(R"(C:\dir\x)"), R"(C:\dir\x)");
  EXPECT_EQ(unescape(R"(\u12)"), R"(\u12)");
  EXPECT_EQ(unescape(R"(\u12g4)"), R"(\u12g4)");
  EXPECT_EQ(unescape(R"(\u+123)"), R"(\u+123)");
  EXPECT_EQ(unescape(R"(\u-123)"), R"(\u-123)");
  EXPECT_EQ(unescape(R"(\ud83d\u12)"), "\uFFFD\\u12");
  EXPECT_EQ(unescape("end\\"), "end\\");
}

// Every code point, by its escapes, against the UTF-8 that the compiler makes of it.
TEST(Json, UnescapeEveryCodePoint) {
  const auto utf8 = [](u32 c) {
    std::string s;
    if (c < 0x80) return std::string(1, static_cast<char>(c));
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    const u32 lead[] = {0, 0xC0, 0xE0, 0xF0};
    s += static_cast<char>(lead[more] | c >> 6 * more);
    for (int i = more - 1; i >= 0; i--) s += static_cast<char>(0x80 | (c >> 6 * i & 0x3F));
    return s;
  };
  char text[16];
  for (u32 c = 0; c <= 0x10FFFF; c++) {
    if (c >= 0xD800 && c < 0xE000) continue;
    if (c < 0x10000) {
      std::snprintf(text, sizeof text, "\\u%04x", c);
    } else {
      std::snprintf(text, sizeof text, "\\u%04X\\u%04x", 0xD800 + ((c - 0x10000) >> 10),
                    0xDC00 + ((c - 0x10000) & 0x3FF));
    }
    ASSERT_EQ(unescape(text), utf8(c)) << text;
  }
}

TEST(Json, ToInteger) {
  EXPECT_EQ(to_integer("0"), 0);
  EXPECT_EQ(to_integer("-7"), -7);
  EXPECT_EQ(to_integer("9223372036854775807"), std::numeric_limits<i64>::max());
  EXPECT_EQ(to_integer("-9223372036854775808"), std::numeric_limits<i64>::min());
  for (const char* no : {"", "-", "+1", "1.0", "1e3", "9223372036854775808", "12a", " 1", "1 ", "NaN"}) {
    EXPECT_EQ(to_integer(no), std::nullopt) << no;
  }
}

std::string members_of(std::string_view raw, bool expect_damage = false) {
  bool damaged = false;
  std::string out;
  for (const Member& m : members(raw, &damaged)) out += m.key + "=" + std::string(m.raw) + ";";
  EXPECT_EQ(damaged, expect_damage) << raw;
  return out;
}

TEST(Json, Members) {
  EXPECT_EQ(members_of(R"({"a": 1, "b" : [1, 2] , "c":{"d": "}"}})"), R"(a=1;b=[1, 2];c={"d": "}"};)");
  EXPECT_EQ(members_of(" {} "), "");
  EXPECT_EQ(members_of(R"({"k\u0065y": "v"})"), R"(key="v";)");
  EXPECT_EQ(members_of(R"([1, "two", {"x": 3}])"), R"(=1;="two";={"x": 3};)");
  EXPECT_EQ(members_of("[]"), "");
  EXPECT_EQ(members_of("12"), "");
  EXPECT_EQ(members_of(""), "");
}

TEST(Json, MembersOfWhatWritersGetWrong) {
  EXPECT_EQ(members_of(R"({,"a": 1,, "b": 2,})"), "a=1;b=2;");
  EXPECT_EQ(members_of(R"({"a": , "b": 2, "c": })"), "a=;b=2;c=;");
  EXPECT_EQ(members_of(R"({"a": NaN, "b": -Infinity})"), "a=NaN;b=-Infinity;");
}

TEST(Json, MembersUpToTheDamage) {
  EXPECT_EQ(members_of(R"({"a": 1, "b": [1)", true), "a=1;");
  EXPECT_EQ(members_of(R"({"a": 1, "b")", true), "a=1;");
  EXPECT_EQ(members_of(R"({"a": 1, b: 2})", true), "a=1;");
  EXPECT_EQ(members_of(R"({"a": 1)", true), "a=1;");
  EXPECT_EQ(members_of("{", true), "");
  EXPECT_EQ(members_of("[1}", true), "=1;");
  EXPECT_EQ(members_of("[{}}, 2]", true), "={};");
  EXPECT_EQ(members_of(R"({"a": ]})", true), "a=;");
  EXPECT_EQ(members_of(R"({"a": 1])", true), "a=1;");
}

TEST(Json, MembersUpToANumberOfThem) {
  bool damaged = false;
  EXPECT_EQ(members("[1, 2, 3]", &damaged, 2).size(), 2u);
  EXPECT_EQ(members("[1, 2", &damaged, 2).size(), 2u);
  EXPECT_EQ(members("[1", &damaged, 0).size(), 0u);
  EXPECT_FALSE(damaged);
}

TEST(Json, TextOf) {
  EXPECT_EQ(text_of(R"("a\nb")"), "a\nb");
  EXPECT_EQ(text_of("12"), "12");
  EXPECT_EQ(text_of(R"([1, "x"])"), R"([1, "x"])");
  EXPECT_EQ(text_of("\""), "\"");
  EXPECT_EQ(text_of(""), "");
}

// microseconds_to_ns. A decimal is sign * digits * 10^exponent; the oracle moves digits about in text and
// never multiplies.
struct Decimal {
  bool negative = false;
  std::string digits;  // without a point
  i64 exponent = 0;
};

// In nanoseconds, rounded half away from zero; nullopt where its size is more than 2^63 - 1.
std::optional<i64> exact_ns(const Decimal& d, bool& inexact) {
  std::string digits = d.digits;
  i64 exponent = d.exponent + 3;
  for (; exponent > 0; exponent--) digits += '0';
  std::string below;
  if (exponent < 0) {
    const size_t cut = std::min(digits.size(), static_cast<size_t>(-exponent));
    below = std::string(static_cast<size_t>(-exponent) - cut, '0') + digits.substr(digits.size() - cut);
    digits.resize(digits.size() - cut);
  }
  inexact = below.find_first_not_of('0') != below.npos;
  digits.insert(0, 1, '0');
  if (!below.empty() && below[0] >= '5') {
    size_t i = digits.size() - 1;
    for (; digits[i] == '9'; i--) digits[i] = '0';
    digits[i]++;
  }
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.size() > 19 || (digits.size() == 19 && digits > "9223372036854775807")) return std::nullopt;
  const i64 value = digits.empty() ? 0 : std::stoll(digits);
  return d.negative ? -value : value;
}

void expect_exact(const Decimal& d, const std::string& text) {
  bool inexact = false, expect_inexact = false;
  const std::optional<i64> expected = exact_ns(d, expect_inexact);
  ASSERT_EQ(microseconds_to_ns(text, inexact), expected) << text;
  if (expected) {
    ASSERT_EQ(inexact, expect_inexact) << text;
  }
}

TEST(Json, MicrosecondsAgainstExactArithmetic) {
  std::mt19937_64 random(1);
  const auto below = [&](u64 n) { return random() % n; };
  for (int i = 0; i < 100'000; i++) {
    std::string whole, fraction;
    const u64 shape = below(4);  // digits from a small set meet the halves and the limits
    const std::string_view from = shape == 0 ? "0123456789" : shape == 1 ? "05" : shape == 2 ? "9" : "0459";
    for (u64 n = below(3) == 0 ? 16 : 1 + below(19); n > 0; n--) whole += from[below(from.size())];
    for (u64 n = below(9); n > 0; n--) fraction += from[below(from.size())];
    if (below(8) == 0) whole = std::to_string(9223372036854775 + static_cast<i64>(below(3)) - 1);
    Decimal d{below(4) == 0, whole + fraction, -static_cast<i64>(fraction.size())};
    std::string text = (d.negative ? "-" : below(8) == 0 ? "+" : "") + whole;
    if (!fraction.empty() || below(8) == 0) text += '.' + fraction;
    if (below(4) == 0) {
      const i64 exponent = static_cast<i64>(below(61)) - 30;
      d.exponent += exponent;
      text += (below(2) ? "e" : "E") + std::string(exponent >= 0 && below(2) ? "+" : "") +
              std::to_string(exponent);
    }
    expect_exact(d, text);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Json, MicrosecondsOfManyDigits) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; i++) {
    std::string digits;
    for (u64 n = 1 + random() % 60; n > 0; n--) digits += "0123456789559"[random() % 13];
    const size_t point = random() % (digits.size() + 1);
    Decimal d{false, digits, -static_cast<i64>(digits.size() - point)};
    std::string text = digits;
    text.insert(point, ".");
    const i64 exponent = static_cast<i64>(random() % 61) - 30;
    d.exponent += exponent;
    text += "e" + std::to_string(exponent);
    expect_exact(d, text);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Json, MicrosecondsAtTheLimits) {
  bool inexact = false;
  EXPECT_EQ(microseconds_to_ns("9223372036854775.807", inexact), std::numeric_limits<i64>::max());
  EXPECT_EQ(microseconds_to_ns("-9223372036854775.807", inexact), -std::numeric_limits<i64>::max());
  EXPECT_FALSE(inexact);
  EXPECT_EQ(microseconds_to_ns("9223372036854775.808", inexact), std::nullopt);
  EXPECT_EQ(microseconds_to_ns("9223372036854775.8075", inexact), std::nullopt);
  EXPECT_EQ(microseconds_to_ns("9223372036854775.80749", inexact), std::numeric_limits<i64>::max());
  EXPECT_TRUE(inexact);
  inexact = false;
  EXPECT_EQ(microseconds_to_ns("0.0005", inexact), 1);
  EXPECT_EQ(microseconds_to_ns("-0.0005", inexact), -1);
  EXPECT_EQ(microseconds_to_ns("0.00049999999999999999999999", inexact), 0);
  EXPECT_EQ(microseconds_to_ns("5e-4", inexact), 1);
  EXPECT_EQ(microseconds_to_ns("4e-4", inexact), 0);
  EXPECT_TRUE(inexact);
  inexact = false;
  EXPECT_EQ(microseconds_to_ns("0e99", inexact), 0);
  EXPECT_EQ(microseconds_to_ns("1e-100", inexact), 0);
  EXPECT_EQ(microseconds_to_ns(".5", inexact), 500);
  EXPECT_EQ(microseconds_to_ns("5.", inexact), 5000);
  EXPECT_EQ(microseconds_to_ns("1712345678123456.789", inexact), 1712345678123456789);
}

TEST(Json, MicrosecondsOfNoNumber) {
  bool inexact = false;
  for (const char* no : {"", "-", ".", "-.", "NaN", "Infinity", "-Infinity", "1e", "1e+", "1ex", "e5",
                         "1.2.3", "0x10", "12a", "1e1000", "1e-1000", "1 ", "--1"}) {
    EXPECT_EQ(microseconds_to_ns(no, inexact), std::nullopt) << no;
  }
  EXPECT_FALSE(inexact);
}

}  // namespace
}  // namespace spotter::read::json
