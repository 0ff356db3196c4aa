#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "render/render.h"

namespace spotter::render {
namespace {

constexpr i64 kLowest = std::numeric_limits<i64>::min(), kHighest = std::numeric_limits<i64>::max();

TEST(Human, Times) {
  const std::pair<Ns, const char*> cases[] = {
      {0, "0 ns"},
      {7, "7 ns"},
      {999, "999 ns"},
      {1000, "1.00 µs"},
      {1234, "1.23 µs"},
      {9'994, "9.99 µs"},
      {9'996, "10.0 µs"},
      {99'960, "100 µs"},
      {999'499, "999 µs"},
      {999'500, "1.00 ms"},  // would round to 1,000 µs
      {1'234'567, "1.23 ms"},
      {123'456'789, "123 ms"},
      {1'500'000'000, "1.50 s"},
      {59'900'000'000, "59.9 s"},
      {59'960'000'000, "1.00 min"},
      {90'000'000'000, "1.50 min"},
      {7'200'000'000'000, "120 min"},
      {86'400'000'000'000, "1,440 min"},
      {-1'234, "-1.23 µs"},
      {-5, "-5 ns"},
      {kHighest, "153,722,867 min"},
      {kLowest, "-153,722,867 min"},
  };
  for (const auto& [ns, text] : cases) EXPECT_EQ(human_ns(ns), text) << ns;
}

TEST(Human, Values) {
  struct Case {
    Value value;
    Unit unit;
    const char* text;
  };
  const Case cases[] = {
      {i64{1234567}, Unit::none, "1234567"},  // a number that names something
      {kLowest, Unit::none, "-9223372036854775808"},
      {i64{0}, Unit::count, "0"},
      {i64{999}, Unit::count, "999"},
      {i64{1000}, Unit::count, "1,000"},
      {i64{-1000}, Unit::count, "-1,000"},
      {i64{-100}, Unit::count, "-100"},
      {i64{1234567}, Unit::count, "1,234,567"},
      {kLowest, Unit::count, "-9,223,372,036,854,775,808"},
      {i64{512}, Unit::bytes, "512 B"},
      {i64{1023}, Unit::bytes, "1023 B"},
      {i64{1024}, Unit::bytes, "1.00 KiB"},
      {i64{1'000'000}, Unit::bytes, "977 KiB"},
      {i64{4'509'715'661}, Unit::bytes, "4.20 GiB"},
      {i64{1} << 50, Unit::bytes, "1,024 TiB"},
      {i64{-2048}, Unit::bytes, "-2.00 KiB"},
      {1.5 * 1024 * 1024, Unit::bytes_per_s, "1.50 MiB/s"},
      {i64{0}, Unit::bytes_per_s, "0 B/s"},
      {0.1234, Unit::ratio, "12.3 %"},
      {1.0, Unit::ratio, "100.0 %"},
      {0.0, Unit::ratio, "0.0 %"},
      {-0.05, Unit::ratio, "-5.0 %"},
      {i64{2}, Unit::ratio, "200.0 %"},
      {i64{0}, Unit::ratio, "0.0 %"},
      {1500.25, Unit::ns, "1.50 µs"},
      {5.25, Unit::ns, "5.25 ns"},
      {5.0, Unit::ns, "5 ns"},
      {12.5, Unit::count, "12.5"},
      {3.0, Unit::count, "3"},
      {12345.6, Unit::count, "12,346"},
      {0.00123, Unit::none, "0.00123"},
      {1e12, Unit::none, "1,000,000,000,000"},
      {std::nan(""), Unit::ns, "-"},
      {HUGE_VAL, Unit::count, "-"},
      {-HUGE_VAL, Unit::bytes, "-"},
      {true, Unit::none, "yes"},
      {false, Unit::none, "no"},
      {Value(), Unit::ns, "-"},
      {"gemm", Unit::none, "gemm"},
      {"a\x1b[2J\n", Unit::none, "a\uFFFD[2J "},
  };
  for (const Case& c : cases) EXPECT_EQ(human(c.value, c.unit, Role::value), c.text);
}

TEST(Human, PositionsInTimeKeepTheirDigits) {
  const std::pair<Value, const char*> cases[] = {
      {i64{0}, "0.000000 s"},
      {i64{1'234'567'890}, "1.234568 s"},
      {i64{499}, "0.000000 s"},
      {i64{999'999'500}, "1.000000 s"},
      {i64{-1'500'000}, "-0.001500 s"},
      {i64{1'712'345'678'123'456'789}, "1712345678.123457 s"},
      {kLowest, "-9223372036.854776 s"},
      {2'500'000.0, "0.002500 s"},
      {Value(), "-"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(human(value, Unit::ns, Role::time), text);
}

}  // namespace
}  // namespace spotter::render
