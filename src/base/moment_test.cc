#include "base/moment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "base/time.h"

namespace spotter {
namespace {

constexpr Ns kNoon = 1'795'435'200 * kSecond;  // 2026-11-23T12:00:00Z

class MomentTest : public testing::Test {
 protected:
  MomentTest() { zone("Europe/Berlin"); }
  ~MomentTest() override { zone("UTC"); }
  static void zone(const char* name) {
    setenv("TZ", name, 1);
    tzset();
  }
};

TEST_F(MomentTest, AsText) {
  EXPECT_EQ(utc_text(kNoon + 123'999'999), "2026-11-23T12:00:00.123Z");
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(utc_text(-1), "1969-12-31T23:59:59.999Z");
}

TEST_F(MomentTest, WithAZone) {
  for (const char* text : {"2026-11-23T12:00:00Z", "2026-11-23t12:00z", "2026-11-23 13:00:00+01:00",
                           "2026-11-23T13:00+0100", "2026-11-23T06:30:00-05:30", "2026-11-23T12:00:00.000Z"})
    EXPECT_EQ(parse_moment(text).value(), kNoon) << text;
  EXPECT_EQ(parse_moment("2026-11-23T12:00:00.123456789012Z").value(), kNoon + 123'456'789);
  EXPECT_EQ(parse_moment("1970-01-01T00:00:00Z").value(), 0);
  EXPECT_EQ(parse_moment("2024-02-29T00:00:00Z").value(), 1'709'164'800 * kSecond);
}

TEST_F(MomentTest, InLocalTime) {
  EXPECT_EQ(parse_moment("2026-11-23 13:00").value(), kNoon);
  EXPECT_EQ(parse_moment("2026-11-23").value(), kNoon - 13 * kHour);
  EXPECT_EQ(parse_moment("2026-07-01T14:00:00").value(), parse_moment("2026-07-01T12:00:00Z").value())
      << "summer";
}

TEST_F(MomentTest, WhatIsNone) {
  for (const char* text : {"",
                           "now",
                           "2026",
                           "2026-11",
                           "2026-13-01",
                           "2026-11-31",
                           "2026-02-29",
                           "1969-12-31",
                           "26-11-23",
                           "2026-11-23T",
                           "2026-11-23T12",
                           "2026-11-23T24:00",
                           "2026-11-23T12:60",
                           "2026-11-23T12:00:60Z",
                           "2026-11-23T12:00:00.Z",
                           "2026-11-23T12:00:00ZZ",
                           "2026-11-23T12:00:00+",
                           "2026-11-23T12:00:00+1:00",
                           "2026-11-23T12:00:00+01:00x",
                           "2026-11-23Z",
                           "2026-11-23x12:00",
                           "-026-11-23",
                           " 2026-11-23"})
    EXPECT_EQ(parse_moment(text).error().code, Code::invalid) << text;
}

TEST_F(MomentTest, Ago) {
  EXPECT_EQ(parse_ago("10m", kNoon).value(), 10 * kMinute);
  EXPECT_EQ(parse_ago("2026-11-23T11:59:00Z", kNoon).value(), kMinute);
  EXPECT_EQ(parse_ago("2026-11-23T12:00:00Z", kNoon).value(), 0);
  EXPECT_EQ(parse_ago("2026-11-23T12:00:01Z", kNoon).error().message,
            "\"2026-11-23T12:00:01Z\" is not over yet");
  EXPECT_EQ(parse_ago("yesterday", kNoon).error().message,
            "\"yesterday\" is neither so long ago, as 10m, nor a time such as 2026-11-23T14:05:00Z");
}

}  // namespace
}  // namespace spotter
