#include "sink/protobuf.h"

#include <gtest/gtest.h>

namespace spotter::sink {
namespace {

using std::string_literals::operator""s;

// The examples of protobuf.dev/programming-guides/encoding.
TEST(ProtobufTest, TheExamplesOfTheGuide) {
  ProtobufWriter number;
  number.integer(1, 150);
  EXPECT_EQ(number.bytes(), "\x08\x96\x01"s);
  ProtobufWriter text;
  text.text(2, "testing");
  EXPECT_EQ(text.bytes(), "\x12\x07testing"s);
  ProtobufWriter within;
  within.message(3, [&] { within.integer(1, 150); });
  EXPECT_EQ(within.bytes(), "\x1a\x03\x08\x96\x01"s);
  ProtobufWriter negative;
  negative.integer(1, static_cast<u64>(i64{-2}));
  EXPECT_EQ(negative.bytes(), "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
}

TEST(ProtobufTest, FixedNumbersAreLittleEndian) {
  ProtobufWriter out;
  out.fixed(1, 0x0102030405060708);
  out.real(2, 1.0);
  EXPECT_EQ(out.bytes(), "\x09\x08\x07\x06\x05\x04\x03\x02\x01\x11\0\0\0\0\0\0\xf0\x3f"s);
}

TEST(ProtobufTest, LongMessagesAndHighFields) {
  ProtobufWriter out;
  out.message(1, [&] { out.message(16, [&] { out.text(1, std::string(300, 'x')); }); });
  EXPECT_EQ(out.bytes().size(), 3 + 4 + 3 + 300u);
  EXPECT_EQ(out.bytes().substr(0, 10), "\x0a\xb3\x02\x82\x01\xaf\x02\x0a\xac\x02"s);
}

TEST(ProtobufTest, ReadsWhatWasWritten) {
  ProtobufWriter out;
  out.integer(1, ~u64{0});
  out.message(2, [&] { out.flag(3, true); });
  out.fixed(4, 7);
  ProtobufReader reader(out.bytes());
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.field, 1u);
  EXPECT_EQ(reader.integer, ~u64{0});
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.text, "\x18\x01"s);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.integer, 7u);
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.is_broken);
}

TEST(ProtobufTest, WhatIsNoMessage) {
  for (const std::string& bytes :
       {"\x08"s, "\x08\x80"s, "\x12\x07test"s, "\x09\x01"s, "\x0d\x01\x02\x03"s, "\x03"s, "\x00\x01"s,
        "\x08"s + std::string(10, '\xff'), "<html>"s, "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"s}) {
    ProtobufReader reader(bytes);
    while (reader.next()) {
    }
    EXPECT_TRUE(reader.is_broken) << testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace spotter::sink
