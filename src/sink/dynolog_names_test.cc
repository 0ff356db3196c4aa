#include "sink/dynolog_names.h"

#include <gtest/gtest.h>

#include <array>

#include "base/time.h"
#include "sink/list.h"
#include "sink/test_batches.h"

namespace spotter::sink {
namespace {

constexpr Ns kTime = 1'795'345'200'123'000'000;  // 2026-11-22T11:00:00.123Z

constexpr Field count(const char* name) { return {name, Type::integer, Unit::count, Role::counter, ""}; }
constexpr Field real(const char* name) { return {name, Type::real, Unit::ratio, Role::value, ""}; }
constexpr Field key(const char* name, Type type) { return {name, type, Unit::none, Role::key, ""}; }

constexpr Field kCpu[] = {count("user_ns"),   count("nice_ns"),      count("system_ns"),  count("idle_ns"),
                          count("iowait_ns"), count("irq_ns"),       count("softirq_ns"), count("steal_ns"),
                          count("guest_ns"),  count("guest_nice_ns")};
constexpr Field kUptime[] = {count("uptime_ns")};
constexpr Field kNetwork[] = {key("interface", Type::text), count("rx_bytes"), count("tx_drops")};
constexpr Field kPmu[] = {count("instructions"), count("cycles"), count("cpus")};
constexpr Field kGpu[] = {key("gpu", Type::integer),  key("name", Type::text), key("uuid", Type::text),
                          key("quality", Type::text), real("power_watts"),     real("utilization_ratio"),
                          count("sm_clock_hertz"),    key("job", Type::text)};
constexpr Field kActivity[] = {key("gpu", Type::integer), real("sm_active_ratio"),
                               real("tensor_active_ratio"), real("nvlink_rx_bytes_per_s")};

class DynologNamesTest : public testing::Test {
 protected:
  void at(Ns time) {
    batch_ = std::make_shared<Batch>();
    batch_->unix_ns = time;
  }
  template <size_t N>
  Table& table(const char* name, const Field (&schema)[N]) {
    return batch_->tables.emplace_back(name, schema);
  }
  // In seconds: user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice.
  void cpu(const std::array<i64, 10>& seconds) {
    std::vector<Value> row;
    for (const i64 s : seconds) row.push_back(s * 1'000'000'000);
    table("cpu", kCpu).append(row);
  }
  std::string lines() { return names_.lines(share_of(batch_)); }

  DynologNames names_;
  std::shared_ptr<Batch> batch_;
};

TEST_F(DynologNamesTest, TheMachine) {
  at(kTime);
  table("uptime", kUptime).append({i64{90'999'000'000}});
  table("network", kNetwork).append({"eth0", i64{1000}, i64{5}});
  cpu({10, 0, 10, 100, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(lines(), "time = 2026-11-22T11:00:00.123Z data = {\"uptime\":90}\n");

  // 60 s of two processors: user 30 + guest 6, nice 3 + guest 3, system 12, idle 60, iowait 2, irq 1, softirq
  // 2, steal 1.
  at(kTime + kMinute);
  cpu({40, 3, 22, 160, 2, 1, 2, 1, 6, 3});
  Table& network = table("network", kNetwork);
  network.append({"eth0", i64{4000}, i64{5}});
  network.append({"eth1", i64{7}, i64{0}});
  EXPECT_EQ(
      lines(),
      "time = 2026-11-22T11:01:00.123Z data = {\"cpu_guest\":\"5.000\",\"cpu_guest_ms\":6000,"
      "\"cpu_guest_nice\":\"2.500\",\"cpu_guest_nice_ms\":3000,\"cpu_i\":\"50.000\",\"cpu_n_ms\":6000,"
      "\"cpu_s\":\"10.000\",\"cpu_s_ms\":12000,\"cpu_u\":\"30.000\",\"cpu_u_ms\":36000,\"cpu_util\":\"50.000\","
      "\"cpu_w_ms\":2000,\"cpu_x_ms\":1000,\"cpu_y_ms\":2000,\"cpu_z_ms\":1000,"
      "\"rx_bytes.eth0\":3000,\"tx_drops.eth0\":0,\"uptime\":150}\n");
}

TEST_F(DynologNamesTest, CountersThatBeganAnewGiveNoNumber) {
  at(kTime);
  cpu({10, 0, 10, 100, 5, 0, 0, 0, 0, 0});
  table("network", kNetwork).append({"eth0", i64{1000}, i64{5}});
  lines();
  at(kTime + kMinute);
  cpu({20, 0, 10, 150, 4, 0, 0, 0, 0, 0});  // the kernel's iowait may shrink
  table("network", kNetwork).append({"eth0", i64{10}, i64{6}});
  const std::string second = lines();
  EXPECT_NE(second.find("\"cpu_u_ms\":10000"), std::string::npos) << second;
  EXPECT_EQ(second.find("cpu_w_ms"), std::string::npos);
  EXPECT_EQ(second.find("\"cpu_u\""), std::string::npos);
  EXPECT_EQ(second.find("cpu_util"), std::string::npos);
  EXPECT_EQ(second.find("rx_bytes"), std::string::npos);
  EXPECT_NE(second.find("\"tx_drops.eth0\":1"), std::string::npos);
  at(kTime + 2 * kMinute);
  cpu({30, 0, 10, 180, 4, 0, 0, 0, 0, 0});
  table("network", kNetwork).append({"eth0", i64{25}, i64{6}});
  const std::string third = lines();
  EXPECT_NE(third.find("\"cpu_util\":\"25.000\""), std::string::npos) << third;
  EXPECT_NE(third.find("\"rx_bytes.eth0\":15"), std::string::npos);
}

TEST_F(DynologNamesTest, NoTimeNoPercent) {
  for (int i = 0; i < 2; ++i) {
    at(kTime);
    cpu({1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    EXPECT_EQ(lines().find("nan"), std::string::npos);
  }
}

TEST_F(DynologNamesTest, CountersOfTheProcessors) {
  at(kTime);
  table("pmu", kPmu).append({i64{1}, i64{1}, i64{4}});
  EXPECT_EQ(lines(), "");
  at(kTime + kMinute);
  table("pmu", kPmu).append({i64{480'000'000'001}, i64{600'000'000'001}, i64{4}});
  EXPECT_EQ(
      lines(),
      "time = 2026-11-22T11:01:00.123Z data = {\"mega_cycles_per_second\":\"2500.000\",\"mips\":\"2000.000\"}\n");
}

TEST_F(DynologNamesTest, ARecordForEachGpu) {
  at(kTime);
  Table& gpu = table("gpu", kGpu);
  gpu.append({i64{0}, "H100", "GPU-1", Value(), 700.1239, 0.995, i64{1'980'000'000}, "j\"1"});
  gpu.append({i64{1}, "H100", "GPU-2", "stale+blank", Value(), 0.0, i64{345'000'000}, Value()});
  table("gpu_activity", kActivity).append({i64{0}, 0.5, 0.25, 1e9});
  EXPECT_EQ(
      lines(),
      "time = 2026-11-22T11:00:00.123Z data = {\"dcgm_error\":0,\"device\":0,\"gpu_device_utilization\":100,"
      "\"gpu_frequency_mhz\":1980,\"gpu_name\":\"H100\",\"gpu_power_draw\":\"700.124\",\"gpu_uuid\":\"GPU-1\","
      "\"job_id\":\"j\\\"1\",\"nvlink_rx_bytes\":1000000000,\"sm_active_ratio\":\"0.500\","
      "\"tensorcore_active\":\"0.250\"}\n"
      "time = 2026-11-22T11:00:00.123Z data = {\"dcgm_error\":1,\"device\":1,\"gpu_device_utilization\":0,"
      "\"gpu_frequency_mhz\":345,\"gpu_name\":\"H100\",\"gpu_uuid\":\"GPU-2\"}\n");
}

TEST(DynologSinkTest, AsAnOptionOfTheLines) {
  const Folder folder;
  const Settings settings = {{"path", folder.path("a")}, {"names", "dynolog"}};
  EXPECT_EQ(kJsonLines.every(settings), kMinute);
  EXPECT_FALSE(make_sink("json_lines", {{"names", "nagios"}}, {}));
  const auto sink = make_sink("json_lines", settings, {}).value();
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = kTime;
  batch->tables.emplace_back("gpu_activity", kActivity).append({i64{0}, 0.5, Value(), Value()});
  const Share shares[] = {share_of(disk_batch(kTime, 1)), share_of(batch)};
  EXPECT_EQ(sink->deliver(shares).batches, 2u);
  EXPECT_EQ(
      folder.text("a"),
      "time = 2026-11-22T11:00:00.123Z data = {\"dcgm_error\":0,\"device\":0,\"sm_active_ratio\":\"0.500\"}\n");
}

}  // namespace
}  // namespace spotter::sink
