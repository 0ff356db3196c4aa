#include "app/metrics/metrics_missed.h"

#include <gtest/gtest.h>

namespace spotter::app {
namespace {

constexpr Field kColumns[] = {
    {"time_ns", Type::integer, Unit::ns, Role::time, ""},
    {"user_cores", Type::real, Unit::ratio, Role::value, ""},
};

std::vector<Table> samples(const char* name) {
  Table table(name, kColumns);
  table.append({1, 0.5});
  return {table};
}

TEST(MetricsMissed, MisspeltNames) {
  const auto count = [](std::vector<std::string> patterns, const std::vector<Table>& tables = {}) {
    return unknown_metrics({.metrics = std::move(patterns), .job = {}}, tables).size();
  };
  EXPECT_EQ(count({}), 0U);
  EXPECT_EQ(count({"cpu_*", "gpu_power_watts", "*"}), 0U);
  EXPECT_EQ(count({"CPU_*", "nothing", "cpu_user_ns"}), 2U);
  EXPECT_EQ(count({"spotter_gpu_power_watts"}), 1U);
  EXPECT_EQ(count({"gpu_event_gpu"}), 0U) << "a table of events is chosen by any of its columns";
  EXPECT_EQ(count({"nothing"}, samples("cpu")), 1U);
  EXPECT_EQ(count({"later_*"}, samples("later")), 0U) << "another release's";
}

TEST(MetricsMissed, AnEmptyAnswerIsTold) {
  EXPECT_TRUE(missed({}, samples("cpu")).empty());
  EXPECT_EQ(missed({}, {}).size(), 1U);
  EXPECT_EQ(missed({.metrics = {"nothing"}, .job = {}}, {}).size(), 1U);
  const auto of_job = missed({.metrics = {}, .job = "47"}, {});
  ASSERT_EQ(of_job.size(), 1U);
  EXPECT_NE(of_job[0].find("\"47\""), std::string::npos);
}

}  // namespace
}  // namespace spotter::app
