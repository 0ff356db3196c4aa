#include "agent/telemetry/telemetry.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <thread>

#include "base/log.h"
#include "collect/list.h"
#include "store/test_history.h"

namespace spotter::agent {
namespace {

constexpr Field kRule[] = {
    {"rule", Type::text, Unit::none, Role::key, "The rule."},
    {"is_on", Type::flag, Unit::none, Role::value, "Whether it holds."},
};

// What somebody else than the sampler has to say, now.
SharedBatch rules(bool is_on) {
  Batch batch{unix_clock_now(), kMinute, {}, "rules"};
  batch.tables.emplace_back("rule", kRule).append({"slow", is_on});
  return std::make_shared<const Batch>(std::move(batch));
}

// With a history, and a collector that is asked once.
class TelemetryTest : public testing::Test {
 protected:
  TelemetryTest() {
    set_log_level(Level::error);
    TelemetryOptions options;
    options.collectors = {{collect::find_collector("uptime"), kHour}};
    options.history = store::HistoryOptions{folder_.file()};
    telemetry_ = std::make_unique<Telemetry>(TelemetrySite{loop_, host_, host_name_, identities_, {}});
    const Result<void> begun = telemetry_->begin(options);
    EXPECT_TRUE(begun) << begun.error().message;
  }
  ~TelemetryTest() override { set_log_level(Level::info); }

  static wire::MetricsQuery of_rules(Ns since) {
    return {.selection = {.metrics = {"rule_*"}, .job = {}}, .since = since};
  }

  store::TestFolder folder_;
  net::Loop loop_;
  Host host_;
  std::string host_name_ = "here";
  std::shared_ptr<collect::Identities> identities_ = std::make_shared<collect::Identities>(host_);
  std::unique_ptr<Telemetry> telemetry_;
};

TEST_F(TelemetryTest, WhatOthersOfferIsAmongTheNewest) {
  std::thread([&] {
    telemetry_->offer(rules(false));
    telemetry_->offer(rules(true));
  }).join();
  Tables tables;
  telemetry_->query(of_rules(0), "ann", std::identity(), [&](Tables made) { tables = std::move(made); });
  ASSERT_TRUE(tables);
  ASSERT_EQ(tables->size(), 1U);
  EXPECT_EQ(tables->at(0).rows(), 1U);
  EXPECT_EQ(tables->at(0).at(0, tables->at(0).column("is_on")), Value(true));
}

TEST_F(TelemetryTest, TablesOfTheHistoryAreMadeSomethingOfOffTheLoop) {
  telemetry_->offer(rules(true));
  const auto here = std::this_thread::get_id();
  size_t answers = 0;
  const auto rows_of = [here](const Tables& tables) {
    EXPECT_NE(std::this_thread::get_id(), here);
    return tables && tables->size() == 1 ? tables->at(0).rows() : 0;
  };
  const auto take = [&](size_t rows) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(rows, 1U);
    if (++answers == 2) loop_.stop();
  };
  // A query waits a second for what the history has not taken yet; a busy disk may take longer.
  int asked = 0;
  const std::function<void()> ask = [&] {
    ++asked;
    telemetry_->query(of_rules(kMinute), "ann", rows_of,
                      [&](size_t rows) { rows == 0 && asked < 60 ? ask() : take(rows); });
  };
  ask();
  telemetry_->catalogue(
      store::CatalogueTable::events, "ann", [](const Tables& tables) { return tables ? tables->size() : 0; },
      take);
  std::optional<Error> error;  // of a third one: the last place is for somebody else
  telemetry_->query(of_rules(kMinute), "ann", std::identity(), [&](const Tables& tables) {
    if (!tables) error = tables.error();
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Code::busy);
  loop_.run();
  EXPECT_EQ(answers, 2U);
}

TEST_F(TelemetryTest, NobodyIsToldOnceItHasGone) {
  bool is_told = false;
  std::promise<void> made;
  telemetry_->query(
      of_rules(kMinute), "ann",
      [&](const Tables&) {
        made.set_value();
        return 0;
      },
      [&](int) { is_told = true; });
  made.get_future().wait();
  telemetry_.reset();
  net::Timer timer(loop_);
  timer.set(kSecond / 5, [&] { loop_.stop(); });
  loop_.run();
  EXPECT_FALSE(is_told);
}

}  // namespace
}  // namespace spotter::agent
