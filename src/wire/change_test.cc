#include "wire/change.h"

#include <gtest/gtest.h>

#include "base/moment.h"

namespace spotter::wire {
namespace {

constexpr Ns kNow = 1'795'409'206 * kSecond;

TEST(ChangeText, OfItsOwnForm) {
  const std::string at = utc_text(kNow - kHour);
  const auto change =
      read_change(R"({"summary":"driver 570 rolled out","time":")" + at +
                      R"(","source":"ansible","kind":"driver","link":"https://x/1","job":"4711",)"
                      R"("hosts":["gpu05","gpu06"]})",
                  kNow);
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_EQ(change->change.what, "driver 570 rolled out");
  EXPECT_EQ(change->change.at, kNow - kHour);
  EXPECT_EQ(change->change.by, "ansible");
  EXPECT_EQ(change->change.kind, "driver");
  EXPECT_EQ(change->change.link, "https://x/1");
  EXPECT_EQ(change->job, "4711");
  EXPECT_EQ(change->hosts, (std::vector<std::string>{"gpu05", "gpu06"}));
  const auto again = read_change(change_text(*change), kNow);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(change_text(*again), change_text(*change));
}

TEST(ChangeText, WhatIsNotSaid) {
  const auto change = read_change(R"({"summary":"x"})", kNow);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->change.kind, "deployment");
  EXPECT_EQ(change->change.at, kNow);
}

TEST(ChangeText, OfPagerDuty) {
  const auto change = read_change(
      R"({"routing_key":"R0","payload":{"summary":"Build Success","timestamp":")" + utc_text(kNow - kMinute) +
          R"(","source":"acme-build","custom_details":{"a":1}},"links":[{"href":"https://ci/1","text":"t"}]})",
      kNow);
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_EQ(change->change.what, "Build Success");
  EXPECT_EQ(change->change.by, "acme-build");
  EXPECT_EQ(change->change.at, kNow - kMinute);
  EXPECT_EQ(change->change.link, "https://ci/1");
}

TEST(ChangeText, OfACloudEvent) {
  const auto change = read_change(
      R"({"specversion":"1.0","id":"1","type":"dev.cd.service.deployed","source":"/ci","time":")" +
          utc_text(kNow - kMinute) + R"(","data":{"summary":"v2","kind":"code"}})",
      kNow);
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_EQ(change->change.what + change->change.kind + change->change.by, "v2code/ci");
  EXPECT_EQ(change->change.at, kNow - kMinute);
}

TEST(ChangeText, WhatIsNone) {
  const std::string long_text(1025, 'x');
  for (const std::string& body :
       {std::string("x"), std::string("[]"), std::string("{}"), std::string(R"({"summary":""})"),
        std::string(R"({"summary":1})"), R"({"summary":")" + long_text + R"("})",
        std::string(R"({"summary":"x","sumary":"x"})"), std::string(R"({"summary":"x","time":"soon"})"),
        R"({"summary":"x","time":")" + utc_text(kNow + kHour) + R"("})",
        R"({"summary":"x","time":")" + utc_text(kNow - 31 * kDay) + R"("})",
        std::string(R"({"summary":"x","link":"javascript:alert"})"),
        std::string(R"({"summary":"x","hosts":"a"})"), std::string(R"({"summary":"x","hosts":[""]})"),
        std::string(R"({"payload":[]})"), std::string(R"({"payload":{}})"),
        std::string(R"({"specversion":"1.0"})"), std::string(R"({"specversion":"1.0","data":"x"})")}) {
    const auto change = read_change(body, kNow);
    ASSERT_FALSE(change) << body;
    EXPECT_EQ(change.error().code, Code::invalid) << body;
  }
}

TEST(ChangeText, ItsTextIsPrintable) {
  const auto change = read_change("{\"summary\":\"\\u001b[31mred\\n\",\"hosts\":[\"a\\u0007\"]}", kNow);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->change.what.find('\x1b'), std::string::npos);
  EXPECT_EQ(change->change.what.find('\n'), std::string::npos);
  EXPECT_EQ(change->hosts[0].find('\x07'), std::string::npos);
}

TEST(ChangeText, AsATable) {
  const std::vector<respond::Change> changes = {
      {.change = {.at = 1, .kind = "code", .what = "first"}},
      {.change = {.at = 2, .kind = "driver", .what = "second"}, .job = "7", .hosts = {"a", "b"}}};
  const Table table = changes_table(changes);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(std::get<std::string_view>(table.at(0, table.column("what"))), "second");
  EXPECT_EQ(std::get<std::string_view>(table.at(0, table.column("hosts"))), "a,b");
}

TEST(ChangeText, OfATableOfAnotherAgent) {
  const std::vector<respond::Change> changes = {
      {.change = {.at = 1,
                  .kind = "code",
                  .what = "first",
                  .before = "1",
                  .after = "2",
                  .by = "bob",
                  .link = "https://x"}},
      {.change = {.at = 2, .kind = "driver", .what = "second"}, .job = "7", .hosts = {"a", "b"}}};
  const std::vector<respond::Change> read = read_changes(changes_table(changes));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(change_text(read[0]), change_text(changes[1])) << "the newest first";
  EXPECT_EQ(change_text(read[1]), change_text(changes[0]));
  EXPECT_TRUE(read_changes(Table("changes", std::span<const Field>())).empty());
  const std::vector<respond::Change> hostile = {
      {.change = {.at = 1, .kind = std::string(5000, 'k'), .what = "\x1b[31m", .link = "javascript:alert"}}};
  const auto cleaned = read_changes(changes_table(hostile));
  ASSERT_EQ(cleaned.size(), 1u);
  EXPECT_EQ(cleaned[0].change.kind.size(), 256u);
  EXPECT_EQ(cleaned[0].change.what.find('\x1b'), std::string::npos);
  EXPECT_EQ(cleaned[0].change.link, "");
}

}  // namespace
}  // namespace spotter::wire
