#include <gtest/gtest.h>

#include "collect/list.h"
#include "collect/test_machine.h"

namespace spotter::collect {
namespace {

constexpr const char* kStat = "proc/1/net/stat/nf_conntrack";

i64 drops(Collector& conntrack) {
  const auto tables = conntrack.sample();
  EXPECT_TRUE(tables);
  return tables->front().integer(0, tables->front().column("drops"));
}

// The kernel's counters are of 32 bits and of one processor each.
TEST(Conntrack, CountersThatWrap) {
  TestMachine machine;
  machine.write(kStat, "entries drop\n00000001 fffffffe\n00000001 00000010\n");
  const auto conntrack = kConntrack.open({.host = machine.host()});
  ASSERT_TRUE(conntrack);
  EXPECT_EQ(drops(**conntrack), 0xfffffffeLL + 0x10);
  machine.write(kStat, "entries drop\n00000001 00000003\n00000001 00000011\n");
  EXPECT_EQ(drops(**conntrack), 0x100000003LL + 0x11);
  // A processor that went takes its count along.
  machine.write(kStat, "entries drop\n00000001 00000004\n");
  EXPECT_EQ(drops(**conntrack), 0x100000003LL + 0x11);
  machine.write(kStat, "entries drop\n00000001 00000009\n");
  EXPECT_EQ(drops(**conntrack), 0x100000008LL + 0x11);
}

}  // namespace
}  // namespace spotter::collect
