#include "app/metrics/metrics_view.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "base/text/utf8.h"
#include "collect/list.h"
#include "table/metric.h"
#include "table/ops.h"

namespace spotter::app {
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

// So that eight GPUs do not hide the host, and one that is lost is not left out.
TEST(MetricsView, WhatThereAreManyOfHasOneLineInTheOverview) {
  constexpr Field kColumns[] = {
      {"time_ns", Type::integer, Unit::ns, Role::time, ""},
      {"gpu", Type::integer, Unit::none, Role::key, ""},
      {"quality", Type::text, Unit::none, Role::detail, ""},
      {"power_watts", Type::real, Unit::watts, Role::value, ""},
  };
  Table samples("gpu", kColumns);
  for (i64 gpu = 0; gpu < 8; ++gpu) {
    const bool is_lost = gpu == 5;
    for (const i64 time : {1, 2})
      samples.append({time, gpu, is_lost ? Value(std::string_view("lost")) : Value(),
                      is_lost ? Value() : Value(100.0 * static_cast<double>(gpu + time))});
  }
  const Table view = metrics_view(std::vector{samples}, 10, 4);
  ASSERT_EQ(view.rows(), 2U);
  EXPECT_EQ(view.text(0, 0), "gpu_power_watts");
  EXPECT_EQ(view.text(0, 1), "8: 200 W (gpu 0) to 900 W (gpu 7)");
  EXPECT_EQ(view.text(0, 2), "529 W");  // 3,700 W of seven
  EXPECT_EQ(view.text(1, 0), "gpu_quality");
  EXPECT_EQ(view.text(1, 1), "gpu 5");
  EXPECT_EQ(view.text(1, 2), "lost");
  EXPECT_EQ(metrics_view(std::vector{samples}, 10).rows(), 8U) << "who asks for them gets each";
}

// The widest line of a text, and how many there are.
std::pair<int, size_t> extent(const std::string& text) {
  std::pair<int, size_t> extent{0, 0};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); ++extent.second)
    extent.first = std::max(extent.first, display_width(line));
  return extent;
}

TEST(MetricsView, FitsTheTerminal) {
  constexpr Field kColumns[] = {
      {"time_ns", Type::integer, Unit::ns, Role::time, ""},
      {"gpu", Type::integer, Unit::none, Role::key, ""},
      {"tensor_active_ratio", Type::real, Unit::ratio, Role::value, ""},
      {"dram_active_ratio", Type::real, Unit::ratio, Role::value, ""},
  };
  Table table("gpu_activity", kColumns);
  for (i64 gpu = 0; gpu < 8; ++gpu) {
    for (i64 time = 0; time < 40; ++time) table.append({time, gpu, static_cast<double>(time) / 40, 0.5});
  }
  const std::vector samples{table};
  Notes notes;
  notes.add("n", Severity::info, "a note that is longer than a line of a small terminal is");
  for (const int width : {100, 80, 60, 50, 40}) {
    for (const size_t lines : {size_t{24}, size_t{11}}) {
      render::TextStyle style;
      style.width = width;
      const std::string text = metrics_text(samples, notes, style, {lines});
      const auto [widest, count] = extent(text);
      EXPECT_LE(widest, width) << text;
      EXPECT_LE(count, lines) << text;
      EXPECT_TRUE(text.starts_with("metric ")) << text;
      EXPECT_EQ(text.find("wider terminal"), text.npos) << text;
      EXPECT_EQ(text.find("most") != text.npos, width == 100) << text;
      EXPECT_NE(text.find("█"), text.npos) << text;
      EXPECT_EQ(text.find("more; --metric") != text.npos, lines == 11) << text;
    }
  }
  EXPECT_EQ(extent(metrics_text(samples, notes, {}, {0})).second, 4U)
      << "a header, a row, how many more, the note";
  EXPECT_TRUE(metrics_text({}, notes, {}, {5}).starts_with("Nothing has been measured"));
}

TEST(MetricsView, TheFirstMetricsAreThere) {
  for (const std::string& wanted : first_metrics()) {
    bool is_there = false;
    for (const collect::CollectorKind* collector : collect::all_collectors()) {
      for (const table::TableKind& table : collector->tables) {
        for (const Field& field : table.columns) is_there |= collect::metric_name(table, field) == wanted;
      }
    }
    EXPECT_TRUE(is_there) << wanted;
  }
}

}  // namespace
}  // namespace spotter::app
