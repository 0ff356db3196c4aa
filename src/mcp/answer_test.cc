// Answers within their bytes, and where they go on.
#include "mcp/answer.h"

#include <gtest/gtest.h>

#include "mcp/cells.h"
#include "mcp/cursor.h"
#include "mcp/pace.h"
#include "wire/json.h"

namespace spotter::mcp {
namespace {

constexpr Field kColumns[] = {
    {"rank", Type::integer, Unit::none, Role::key, "."},
    {"name", Type::text, Unit::none, Role::key, "."},
    {"at_ns", Type::integer, Unit::ns, Role::time, "."},
    {"huge", Type::integer, Unit::count, Role::value, "."},
    {"more", Type::text, Unit::none, Role::detail, "."},
};

Answer answer_with(size_t rows, size_t bytes) {
  Answer answer{
      .sentence = "There are rows [s1].", .table = Table("t", kColumns), .limit = 200, .version = "v"};
  const std::string text(bytes, 'x');
  for (size_t i = 0; i < rows; ++i)
    answer.table.append({static_cast<i64>(i), std::string_view(text), i64{1'795'000'000'123'456'789},
                         i64{1} << 60, std::string_view(text)});
  answer.sources.push_back({"rows", "t", "spotter analyze x --table t --format json"});
  return answer;
}

TEST(Answer, RowsGoBeforeItIsTooLarge) {
  for (const size_t rows : {0U, 1U, 30U, 1'000U})
    for (const size_t bytes : {1U, 100U, 5'000U})
      for (const size_t most : {kUsualBytes, kMoreBytes}) {
        const auto result = result_of(answer_with(rows, bytes), most, {"t", "{}"});
        EXPECT_LE(wire::json_text(result).size(), most);
        const auto& said = result.at("structuredContent").as_object();
        const auto shown = static_cast<i64>(said.at("rows").as_array().size());
        EXPECT_EQ(said.at("total_rows").as_int64(), static_cast<i64>(rows));
        EXPECT_EQ(said.at("left_out").as_int64(), static_cast<i64>(rows) - shown);
        EXPECT_EQ(said.contains("next_cursor"), shown < static_cast<i64>(rows));
        EXPECT_LE(result.at("content").as_array()[0].at("text").as_string().size(), kTextBytes);
      }
}

TEST(Answer, ManyWideColumnsGoToo) {
  std::vector<Field> fields;
  for (int i = 0; i < 300; ++i)
    fields.push_back({lasting_text(fmt::format("column_{}", i)), Type::text, Unit::none, Role::value, "."});
  Answer answer{.table = Table("wide", std::move(fields)), .version = "v"};
  const std::string text(300, 'y');
  answer.table.append(std::vector<Value>(300, Value(std::string_view(text))));
  const auto result = result_of(answer, kUsualBytes, {"t", "{}"});
  EXPECT_LE(wire::json_text(result).size(), kUsualBytes);
  EXPECT_FALSE(result.at("isError").as_bool());
  EXPECT_NE(wire::json_text(result.at("structuredContent").at("notes")).find("columns did not fit"),
            std::string::npos);
}

TEST(Answer, NumbersThatADoubleDoesNotHoldAreTexts) {
  const auto result = result_of(answer_with(1, 1), kUsualBytes, {"t", "{}"});
  const auto& row = result.at("structuredContent").at("rows").as_array()[0].as_array();
  EXPECT_EQ(row[2].as_string(), "2026-11-18T11:06:40.123456789Z");
  EXPECT_EQ(row[3].as_string(), "1152921504606846976");
}

TEST(Cursor, IsOfOneQuestion) {
  const std::string text = cursor_text({"t", "{}", "v", 20});
  const auto read = read_cursor(text, "t", "{}");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->offset, 20U);
  EXPECT_EQ(read->version, digest_of("v"));
  EXPECT_FALSE(read_cursor(text, "u", "{}"));
  EXPECT_FALSE(read_cursor(text, "t", "{\"a\":1}"));
  for (size_t i = 0; i < text.size(); ++i) {
    std::string wrong = text;
    wrong[i] = wrong[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(read_cursor(wrong, "t", "{}")) << i;
  }
  for (const char* wrong : {"", "x", "====", "\xff"}) EXPECT_FALSE(read_cursor(wrong, "t", "{}"));
}

TEST(Cells, WhatIsNotSeenIsGone) {
  EXPECT_EQ(clean("a\x1b[31mb\x1b]0;title\x07"
                  "c\x1b\\d"),
            "abc\\d");
  EXPECT_EQ(clean("a\xE2\x80\xAE\xE2\x80\x8B\xEF\xBB\xBF\xF3\xA0\x81\x81"
                  "b\x7f\xc2\x9b"),
            "ab");
  EXPECT_EQ(clean("a\tb\r\nc"), "a b  c");
  EXPECT_EQ(clean("a\xff"), "a\xEF\xBF\xBD");
  EXPECT_EQ(clean("äöüß", 3), "äö…");
  EXPECT_EQ(clean("äöü", 3), "äöü");
}

TEST(Cells, CommandsHaveNoneOfItEither) {
  EXPECT_EQ(command_word("/a/b c"), "'/a/b c'");
  EXPECT_EQ(command_word("a\xE2\x80\xAE'\\\n"), "$'a\\342\\200\\256\\047\\134\\012'");
  EXPECT_EQ(command_word("50 %\n'; x"), "\"$(printf '50 %%\\012\\047; x')\"");
}

TEST(Cells, TimesHaveTheDigitsThatTheyNeed) {
  EXPECT_EQ(time_text(1'795'000'000'000'000'000), "2026-11-18T11:06:40Z");
  EXPECT_EQ(time_text(1'795'000'000'120'000'000), "2026-11-18T11:06:40.12Z");
  EXPECT_EQ(time_text(1'795'000'000'000'000'001), "2026-11-18T11:06:40.000000001Z");
}

TEST(Pace, SomeAtOnceThenSoManyASecond) {
  Pace pace;
  Ns now = 1'000 * kSecond;
  int taken = 0;
  while (pace.may(now)) ++taken;
  EXPECT_EQ(taken, static_cast<int>(Pace::kAtOnce));
  taken = 0;
  for (int i = 0; i < 100; ++i) taken += pace.may(now += 100 * kMillisecond);
  EXPECT_NEAR(taken, 50, 1);
  EXPECT_GT(pace.take(now), 0);
}

}  // namespace
}  // namespace spotter::mcp
