// What the agent says of itself.
#include <gtest/gtest.h>

#include <algorithm>

#include "collect/list.h"

namespace spotter::collect {
namespace {

TEST(AgentCollector, IncidentsHaveRowsFromTheFirstOneOn) {
  i64 firing = 0;
  Surroundings surroundings;
  surroundings.incidents = [&] {
    return std::vector<IncidentCount>{{"firing", "warning", firing}, {"verdict", "critical", 0}};
  };
  const auto kind = std::ranges::find_if(
      all_collectors(), [](const CollectorKind* one) { return std::string_view(one->name) == "agent"; });
  ASSERT_NE(kind, all_collectors().end());
  const auto collector = (*kind)->open(surroundings);
  ASSERT_TRUE(collector) << collector.error().message;
  const auto counts = [&] {
    std::vector<i64> all;
    const auto tables = (*collector)->sample();
    EXPECT_TRUE(tables);
    for (const Table& table : *tables)
      for (size_t row = 0; table.name() == "incidents" && row < table.rows(); ++row)
        all.push_back(table.integer(row, table.column("incidents")));
    return all;
  };
  EXPECT_EQ(counts(), std::vector<i64>());
  firing = 2;
  EXPECT_EQ(counts(), std::vector<i64>{2});
  firing = 0;
  EXPECT_EQ(counts(), std::vector<i64>{0});
}

}  // namespace
}  // namespace spotter::collect
