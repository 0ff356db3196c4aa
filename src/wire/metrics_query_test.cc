#include "wire/metrics_query.h"

#include <gtest/gtest.h>

namespace spotter::wire {
namespace {

TEST(MetricsQuery, IsReadAsItIsWritten) {
  MetricsQuery query;
  query.selection.metrics = {"gpu_*", "cpu_user_ns"};
  query.since = 600'000'000'000;
  query.until = 5'000'000;
  query.step = 10'000'000'000;
  query.selection.job = "a b&c=d";
  query.rates = true;
  const std::string target = target_of(query);
  const auto read = read_metrics_query(Target(target));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->selection.metrics, query.selection.metrics);
  EXPECT_EQ(read->since, query.since);
  EXPECT_EQ(read->until, query.until);
  EXPECT_EQ(read->step, query.step);
  EXPECT_EQ(read->selection.job, query.selection.job);
  EXPECT_TRUE(read->rates);
  EXPECT_TRUE(read_metrics_query(Target("/v1/metrics")));
}

TEST(MetricsQuery, WhatCannotBe) {
  const std::string many = "/v1/metrics?metric=" + std::string(200, ',') + "a,a",
                    long_one = "/x?metric=" + std::string(300, 'a');
  for (const std::string target :
       {"/x?since_ms=-1", "/x?since_ms=1e3", "/x?until_ms=99999999999999", "/x?rates=1",
        "/x?since_ms=5&until_ms=5", "/x?until_ms=5", "/x?step_ms=5", "/x?since_ms=5&rates=yes",
        "/x?since_ms=5&rates=2", "/x?format=csv", "/x?job=1&job=2", "/x?since=5", long_one.c_str()})
    EXPECT_EQ(read_metrics_query(Target(target)).error().code, Code::invalid) << target;
  EXPECT_EQ(read_metrics_query(Target(many))->selection.metrics.size(), 2U);  // empty ones are none
}

}  // namespace
}  // namespace spotter::wire
