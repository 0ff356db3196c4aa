#include "wire/json.h"

#include <gtest/gtest.h>

namespace spotter::wire {
namespace {

boost::json::object object(std::string_view text) {
  const Result<boost::json::object> read = read_object(text);
  EXPECT_TRUE(read) << text;
  return read.value_or(boost::json::object());
}

// The member "x" of such a text, as `read` takes it.
template <class F>
auto x(F read, std::string_view value) {
  return read(object(fmt::format(R"({{"x": {}}})", value)), "x");
}

TEST(JsonTest, WhatIsNoObject) {
  for (const char* text : {"", " ", "{", "{}}", "{} x", "[]", "1", "null", "\"x\"", "{'x': 1}", "{\"x\": 1,}",
                           "{\"x\": NaN}", "{\"x\": 01}", "{\"x\": \"\xff\"}", "{\"x\" 1}", "/**/{}"}) {
    const auto read = read_object(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::invalid);
  }
  EXPECT_FALSE(read_object(std::string("{}\0", 3)));
}

TEST(JsonTest, Depth) {
  const auto nested = [](size_t levels) {
    return "{\"x\": " + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  EXPECT_TRUE(read_object(nested(kMostJsonDepth)));
  EXPECT_NE(read_object(nested(kMostJsonDepth + 1)).error().message.find("32 levels"), std::string::npos);
  EXPECT_FALSE(read_object(std::string(1'000'000, '[')));
}

TEST(JsonTest, WholeNumbers) {
  const std::pair<const char*, i64> numbers[] = {{"3", 3},
                                                 {"-3", -3},
                                                 {"3.0", 3},
                                                 {"3e2", 300},
                                                 {"9223372036854775807", INT64_MAX},
                                                 {"-9223372036854775808", INT64_MIN},
                                                 {"9007199254740992.0", i64{1} << 53}};
  for (const auto& [text, value] : numbers) EXPECT_EQ(x(integer_of, text).value(), value) << text;
  for (const char* text : {"3.5", "9223372036854775808", "18446744073709551616", "1e300", "-1e300",
                           "9007199254740993.0e1", "true", "\"3\"", "[3]", "{}"}) {
    const auto read = x(integer_of, text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::invalid);
    EXPECT_NE(read.error().message.find("\"x\" must be a whole number"), std::string::npos);
  }
  EXPECT_FALSE(read_object("{\"x\": 1e400}").and_then([](const auto& o) { return integer_of(o, "x"); }));
}

TEST(JsonTest, OtherTypes) {
  EXPECT_EQ(x(flag_of, "true").value(), true);
  EXPECT_EQ(x(text_of, R"("a\u0000\u00e4")").value(), std::string("a\0\xc3\xa4", 4));
  EXPECT_EQ(x(integers_of, "[1, 2.0, -3]").value(), (std::vector<i64>{1, 2, -3}));
  EXPECT_EQ(x(integers_of, "[]").value(), std::vector<i64>());
  EXPECT_EQ(x(texts_of, R"(["a", ""])").value(), (std::vector<std::string>{"a", ""}));
  for (const char* text : {"1", "\"true\"", "[]"}) EXPECT_FALSE(x(flag_of, text)) << text;
  for (const char* text : {"1", "true", "[]"}) EXPECT_FALSE(x(text_of, text)) << text;
  for (const char* text : {"1", "[\"1\"]", "[1, null]", "[[1]]", "{}"})
    EXPECT_FALSE(x(integers_of, text)) << text;
  for (const char* text : {"\"a\"", "[1]", "[null]", "{}"}) EXPECT_FALSE(x(texts_of, text)) << text;
}

TEST(JsonTest, WhatIsAbsent) {
  for (const auto& o : {object("{}"), object(R"({"x": null})")}) {
    EXPECT_EQ(integer_of(o, "x").value(), std::nullopt);
    EXPECT_EQ(flag_of(o, "x").value(), std::nullopt);
    EXPECT_EQ(text_of(o, "x").value(), std::nullopt);
    EXPECT_EQ(integers_of(o, "x").value(), std::nullopt);
    EXPECT_EQ(texts_of(o, "x").value(), std::nullopt);
  }
}

TEST(JsonTest, OfDuplicatesTheLastCounts) {
  EXPECT_EQ(integer_of(object(R"({"x": 1, "x": 2})"), "x").value(), 2);
}

}  // namespace
}  // namespace spotter::wire
