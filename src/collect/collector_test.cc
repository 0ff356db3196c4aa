#include "collect/collector.h"

#include <gtest/gtest.h>

namespace spotter::collect {
namespace {

constexpr Field kColumns[] = {{"time_ns", Type::integer, Unit::ns, Role::time, "When."}};
constexpr TableKind kTables[] = {
    {.name = "boot", .source = "a test", .help = "A boot.", .columns = kColumns},
    {.name = "fault", .source = "a test", .help = "A fault.", .columns = kColumns, .is_events = true},
};
constexpr CollectorKind kKind = {
    .name = "test", .help = "For a test.", .period = 1, .tables = kTables, .open = nullptr};

class OfBoth : public Collector {
  Result<std::vector<Table>> sample() override {
    if (std::exchange(has_sampled_, true)) return fail(Code::io, "it fails");
    return std::vector{Table("boot", kColumns), Table("fault", kColumns)};
  }
  bool has_sampled_ = false;
};

TEST(Ask, TablesKnowWhatIsDeclaredOfTheirRows) {
  OfBoth collector;
  const auto tables = ask(kKind, collector);
  ASSERT_TRUE(tables);
  EXPECT_FALSE(tables->at(0).is_events);
  EXPECT_TRUE(tables->at(1).is_events);
  EXPECT_EQ(ask(kKind, collector).error().code, Code::io);
}

}  // namespace
}  // namespace spotter::collect
