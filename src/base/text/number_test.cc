#include "base/text/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "base/types.h"

namespace spotter {
namespace {

TEST(Number, IsTheWholeText) {
  EXPECT_EQ(number_in<i64>("-12"), -12);
  EXPECT_EQ(number_in<i64>("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(number_in<u64>("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "0x1", "1e3", "9223372036854775808"})
    EXPECT_EQ(number_in<i64>(text), std::nullopt) << text;
  EXPECT_EQ(number_in<u64>("-1"), std::nullopt);
  EXPECT_EQ(number_in<i64>({}), std::nullopt);
}

TEST(Number, MayBeReal) {
  EXPECT_EQ(number_in<double>("-1.5e3"), -1500);
  EXPECT_TRUE(std::isnan(number_in<double>("nan").value()));  // as from_chars: whoever minds looks
  for (const char* text : {"", "1.5x", "1e999"}) EXPECT_EQ(number_in<double>(text), std::nullopt) << text;
}

TEST(Number, MayHaveAnotherBase) {
  EXPECT_EQ(number_in<u64>("1f", 16), 31u);
  EXPECT_EQ(number_in<i64>("-ff", 16), -255);
  for (const char* text : {"", "0x1f", "1g"}) EXPECT_EQ(number_in<u64>(text, 16), std::nullopt) << text;
}

}  // namespace
}  // namespace spotter
