#include "collect/host/timex.h"

#include <gtest/gtest.h>

namespace spotter::collect {
namespace {

i64 number(const Table& table, const char* column) { return table.integer(0, table.column(column)); }

::timex clock_of(int status) {
  ::timex clock{};
  clock.status = status;
  clock.offset = -1500;
  clock.maxerror = 16000000;
  clock.esterror = 12;
  clock.freq = 65536 * 25 / 2;  // 12.5 parts in a million
  clock.tick = 10000;
  clock.tai = 37;
  return clock;
}

TEST(Timex, UnitsAreThoseOfAdjtimex) {
  const Table table = timex_table(clock_of(STA_PLL), TIME_OK);
  EXPECT_EQ(table.at(0, table.column("synchronized")), Value(true));
  EXPECT_EQ(number(table, "offset_ns"), -1'500'000);
  EXPECT_EQ(number(table, "max_error_ns"), 16'000'000'000);
  EXPECT_EQ(number(table, "estimated_error_ns"), 12'000);
  EXPECT_EQ(number(table, "tick_ns"), 10'000'000);
  EXPECT_EQ(number(table, "tai_offset_ns"), 37'000'000'000);
  EXPECT_EQ(number(table, "status"), STA_PLL);
  EXPECT_DOUBLE_EQ(table.real(0, table.column("frequency_adjustment_ratio")), 1.0000125);
}

TEST(Timex, OffsetsInNanoseconds) {
  EXPECT_EQ(number(timex_table(clock_of(STA_PLL | STA_NANO), TIME_OK), "offset_ns"), -1500);
}

TEST(Timex, OnlyAnErrorIsNotSynchronized) {
  const Table table = timex_table(clock_of(STA_UNSYNC), TIME_ERROR);
  EXPECT_EQ(table.at(0, table.column("synchronized")), Value(false));
  for (const int state : {TIME_INS, TIME_DEL, TIME_OOP, TIME_WAIT}) {
    const Table leap = timex_table(clock_of(STA_INS), state);
    EXPECT_EQ(leap.at(0, leap.column("synchronized")), Value(true));
  }
}

}  // namespace
}  // namespace spotter::collect
