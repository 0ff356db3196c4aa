#include "app/metrics_view.h"

#include <gtest/gtest.h>

#include <limits>

#include "collect/list.h"
#include "table/metric.h"
#include "table/ops.h"

namespace spotter {
namespace {

TEST(MetricsView, CurvesGoFromNothingToTheMost) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(curve(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 20), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(curve(std::vector<double>{5, 5}, 20), "██");
  EXPECT_EQ(curve(std::vector<double>{0, 0}, 20), "▁▁");
  EXPECT_EQ(curve(std::vector<double>{nan, 4, nan, -3}, 20), " █ ▁");
  EXPECT_EQ(curve(std::vector<double>{0, 0, 8, 8}, 2), "▁█");  // means of two
  EXPECT_EQ(curve({}, 20), "");
}

TEST(MetricsView, ALineForEachMetricOfEachThing) {
  constexpr Field kColumns[] = {
      {"time_ns", Type::integer, Unit::ns, Role::time, ""},
      {"gpu", Type::integer, Unit::none, Role::key, ""},
      {"name", Type::text, Unit::none, Role::detail, ""},
      {"power_watts", Type::real, Unit::watts, Role::value, ""},
      {"fan_ratio", Type::real, Unit::ratio, Role::value, ""},
  };
  Table samples("gpu", kColumns);
  for (const i64 gpu : {0, 1}) {
    for (const i64 time : {1, 2})
      samples.append({time, gpu, std::string_view("H100"), 100.0 * static_cast<double>(gpu + time), {}});
  }
  const Table view = metrics_view(std::vector{samples}, 10);
  ASSERT_EQ(view.rows(), 2U);  // what is null all the time has no line
  EXPECT_EQ(view.text(1, 0), "gpu_power_watts");
  EXPECT_EQ(view.text(1, 1), "gpu 1");
  EXPECT_EQ(view.text(1, 2), "300 W");
  EXPECT_EQ(view.text(1, 3), "300 W");
}

TEST(MetricsView, TheFirstMetricsAreThere) {
  for (const std::string& wanted : first_metrics()) {
    bool is_there = false;
    for (const collect::CollectorKind* collector : collect::all_collectors()) {
      for (const collect::TableKind& table : collector->tables) {
        for (const Field& field : table.columns) is_there |= collect::metric_name(table, field) == wanted;
      }
    }
    EXPECT_TRUE(is_there) << wanted;
  }
}

}  // namespace
}  // namespace spotter
