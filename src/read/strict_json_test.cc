#include "read/strict_json.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include "read/test_events.h"

namespace spotter::read {
namespace {

// Its numbers have 64 bits; the standard knows no such limit.
bool simdjson_takes(const std::string& text) {
  simdjson::dom::parser parser;
  const simdjson::error_code error = parser.parse(text).error();
  return error == simdjson::SUCCESS || error == simdjson::NUMBER_ERROR;
}

TEST(StrictJson, TakesWhatTheStandardTakes) {
  for (const char* good : {"0", "-0.5e+7", "1E2", "\"\"", "\"\\u00aF\\\\\\/\\b\"", "true", "null", "[]",
                           "[1, 2]", "{}", "{\"a\": [{}, \"b\"]}", "\"\xC3\xA9\""})
    EXPECT_TRUE(read::json::is_strict(good)) << good;
  for (const char* bad :
       {"",          "NaN",    "-Infinity",   "01",          "1.",       ".5",       "+1",    "1e",
        "-",         "\"a",    "\"\\d\"",     "\"\\u12g4\"", "\"a\tb\"", "[1,]",     "[1 2]", "{\"a\": }",
        "{\"a\" 1}", "{a: 1}", "{\"a\": 1,}", "tru",         "1 2",      "\"\xFF\"", "[",     "{\"a\": [}"})
    EXPECT_FALSE(read::json::is_strict(bad)) << bad;
}

TEST(StrictJson, RandomEventsAgainstAnotherReader) {
  int mended = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    RandomEvents events(seed);
    for (int i = 0; i < 20; ++i) {
      std::string text = events.next().text;
      if (i % 2) text[events.random.below(text.size())] = static_cast<char>(events.random.below(256));
      read::json::EventMembers members;
      if (read::json::find_members(text, members)) {
        ASSERT_TRUE(simdjson_takes(text)) << text;
        continue;
      }
      const std::string strict = read::json::to_strict(text);
      if (strict.empty()) continue;
      ASSERT_TRUE(simdjson_takes(strict)) << text << "\n" << strict;
      ASSERT_TRUE(read::json::is_strict(strict)) << strict;
      ++mended;
    }
  }
  EXPECT_GT(mended, 250);
}

TEST(StrictJson, MendsWithTheSameMeaning) {
  EXPECT_EQ(read::json::to_strict("{\"a\": NaN, \"b\": [1, Infinity,], \"c\": ,}"),
            "{\"a\": \"NaN\", \"b\": [1, \"Infinity\"], \"c\": null}");
  EXPECT_EQ(read::json::to_strict("{\"n\": \"C:\\dir\ta\", \"t\": 1.50}"),
            "{\"n\": \"C:\\\\dir\\u0009a\", \"t\": 1.50}");
  EXPECT_EQ(read::json::to_strict("{\"x\": {1: 2}}"),
            "{\"x\": \"{1: 2}\"}");  // no object; as text nothing is lost
  EXPECT_EQ(read::json::to_strict("{\"x\": 1"), "");
}

TEST(StrictJson, FindsTheMembersOfTheEventAlone) {
  read::json::EventMembers m;
  ASSERT_TRUE(read::json::find_members(
      R"({"args": {"pid": 1, "ts": [{"tid": 2}]}, "ts": 1.50, "pid": "Spans", "tid":7 ,"id": 3, "pid": 4})",
      m));
  EXPECT_EQ(m.pid, "4");
  EXPECT_EQ(m.tid, "7");
  EXPECT_EQ(m.ts, "1.50");
  EXPECT_EQ(m.id, "3");
  ASSERT_TRUE(read::json::find_members("{}", m));
  EXPECT_TRUE(m.pid.empty());
  EXPECT_FALSE(
      read::json::find_members(R"({"p\u0069d": 1})", m));  // whoever looks for pid by its letters misses it
  EXPECT_FALSE(read::json::find_members("[]", m));
}

TEST(StrictJson, DeepNestingIsRefusedNotFollowed) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_FALSE(read::json::is_strict(deep));
  EXPECT_TRUE(read::json::is_strict(read::json::to_strict(deep)));
}

}  // namespace
}  // namespace spotter::read
