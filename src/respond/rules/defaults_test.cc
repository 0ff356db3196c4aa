// What people rely on who have set nothing: all rules with their families, urgencies, times and thresholds.
#include <gtest/gtest.h>

#include "respond/rules/list.h"
#include "respond/test_rules.h"

namespace spotter::respond {
namespace {

using namespace test;

struct Default {
  const char* rule;
  const char* family;
  const char* urgency;
  const char* hold;
  const char* recover;
  const char* settings;
};

// The most urgent first, as they are listed.
// clang-format off
constexpr Default kDefaults[] = {
    {"progress_stopped", "progress", "critical", "0s", "0s",
     "steps 10, least 60s, min_age 15m, checkpoint 30m, written 50000000"},
    {"collective_stuck", "progress", "critical", "0s", "0s", "apart 1m"},
    {"rank_gone", "progress", "critical", "10s", "0s", ""},
    {"gpu_fault", "gpu", "critical", "0s", "by hand", "xids 48,64,74,79,94,95,119"},
    {"gpu_memory_rows", "gpu", "critical", "0s", "1m", ""},
    {"oom_kill", "host", "critical", "0s", "15m", ""},
    {"storage_hangs", "storage", "critical", "20s", "30s", ""},
    {"log_error", "log", "critical", "0s", "1h", ""},
    {"step_time_up", "speed", "warning", "0s", "0s", "ratio 1.1, spreads 5, sensitive false"},
    {"rank_outlier", "speed", "warning", "0s", "0s", "window 5s, spreads 6, share 0.15, busy 0.5"},
    {"gpu_throttled", "gpu", "warning", "0s", "60s", "window 30s, share 0.5"},
    {"gpu_idle_in_job", "gpu", "warning", "5m", "2m", "active 0.05"},
    {"gpu_shared", "gpu", "info", "0s", "60s", "window 10s, share 0.5, least 0.1"},
    {"link_errors", "network", "warning", "0s", "15m", "window 10m, symbols 10, crc 100"},
    {"host_starved", "host", "warning", "30s", "60s", "memory 0.1, cpu 0.5, io 0.3"},
    {"step_time_creep", "speed", "info", "10m", "30m", "window 2h, per_hour 0.05, tau 0.5"},
    {"step_time_spikes", "speed", "info", "10m", "30m", "ratio 2"},
    {"rdma_congestion", "network", "info", "0s", "0s", "window 5s, rate 100"},
    {"cpu_throttled", "host", "info", "5s", "60s", "window 30s, share 0.5"},
};
// clang-format on

TEST(RuleDefaults, AreThese) {
  ASSERT_EQ(all_rules().size(), std::size(kDefaults));
  for (size_t i = 0; i < std::size(kDefaults); ++i) {
    const Default& expected = kDefaults[i];
    const Rule& rule = *all_rules()[i];
    EXPECT_STREQ(rule.name, expected.rule);
    EXPECT_STREQ(rule.family, expected.family) << rule.name;
    EXPECT_STREQ(urgency_name(rule.urgency), expected.urgency) << rule.name;
    const Settings settings = whole_settings(rule, {});
    EXPECT_EQ(settings.at("enabled"), "true") << rule.name;
    EXPECT_EQ(settings.at("for"), expected.hold) << rule.name;
    EXPECT_EQ(settings.at("recover"), expected.recover) << rule.name;
    std::string words;
    for (const Setting& setting : rule.settings)
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", setting.key, settings.at(setting.key));
    EXPECT_EQ(words, expected.settings) << rule.name;
  }
}

std::vector<Condition> said_of(const char* table, const Cells& row) {
  Machine machine;
  Cells whole = {{"gpu", i64{5}}, {"job", "4711"}, {"rank", i64{37}}, {"user", "alice"}};
  whole.insert(whole.end(), row.begin(), row.end());
  return machine.second({table_of(table, {whole})});
}

TEST(RuleDefaults, XidsThatAreFaults) {
  std::vector<i64> faults;
  for (i64 xid = 1; xid <= 200; ++xid) {
    const auto said = said_of("gpu_event", {{"event", "xid"}, {"xid", xid}, {"meaning", "it is broken"}});
    if (said.empty()) continue;
    faults.push_back(xid);
    EXPECT_EQ(said.size(), 1u);
    EXPECT_EQ(said[0].rule, "gpu_fault");
    EXPECT_EQ(said[0].urgency, Urgency::critical);
    EXPECT_EQ(said[0].rank, 37);
    EXPECT_EQ(said[0].text, fmt::format("XID {}: it is broken", xid));
  }
  EXPECT_EQ(faults, (std::vector<i64>{48, 64, 74, 79, 94, 95, 119}));
}

TEST(RuleDefaults, OtherFaultsOfAGpu) {
  const auto urgency_of = [](const char* table, const Cells& row) -> std::string {
    const auto said = said_of(table, row);
    if (said.empty()) return "nothing";
    EXPECT_EQ(said[0].rule, std::string_view(table) == "gpu" ? "gpu_memory_rows" : "gpu_fault");
    return urgency_name(said[0].urgency);
  };
  const auto event = [](const char* name) { return Cells{{"event", name}, {"meaning", "so it is"}}; };
  const auto rows = [](bool has_failed, bool is_pending) {
    return Cells{{"remap_failed", has_failed}, {"remap_pending", is_pending}};
  };
  EXPECT_EQ(urgency_of("gpu_event", event("lost")), "critical");
  EXPECT_EQ(urgency_of("gpu_event", event("ecc_uncorrected")), "critical");
  EXPECT_EQ(urgency_of("gpu_event", event("returned")), "nothing");
  EXPECT_EQ(urgency_of("gpu", rows(true, false)), "critical");
  EXPECT_EQ(urgency_of("gpu", rows(true, true)), "critical");
  EXPECT_EQ(urgency_of("gpu", rows(false, true)), "warning");
  EXPECT_EQ(urgency_of("gpu", rows(false, false)), "nothing");
}

}  // namespace
}  // namespace spotter::respond
