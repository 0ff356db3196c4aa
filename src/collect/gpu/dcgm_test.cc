#include <gtest/gtest.h>

#include "base/system/file.h"
#include "collect/gpu/profiling_pause.h"
#include "collect/gpu/test_gpu.h"
#include "collect/list.h"

namespace spotter::collect {
namespace {

using collect::test::GpuMachine;
using collect::test::sample;
using collect::test::Sampled;

class DcgmTest : public testing::Test {
 protected:
  // The values' times follow the test's clock, one second on.
  void scenario(const std::string& text) {
    machine_.scenario(fmt::format("log {}\nunix_us {}\n{}", machine_.path("log"),
                                  (collect::test::clock_ns + 1'000'000'000) / 1000, text));
  }
  std::unique_ptr<Collector> open(bool embedded = false) {
    auto collector = kDcgm.open({.host = machine_.host,
                                 .identities = identities_,
                                 .dcgm_embedded = embedded,
                                 .profiling_pause = pause_});
    EXPECT_TRUE(collector) << collector.error().message;
    return collector ? std::move(*collector) : nullptr;
  }
  Error failure() {
    auto collector = kDcgm.open({.host = machine_.host});
    return collector ? Error{Code::internal, "it opened"} : collector.error();
  }
  std::string log() { return read_small_file(machine_.path("log"), 1 << 16).value_or(""); }

  collect::test::GpuMachine machine_;
  std::shared_ptr<Identities> identities_ = std::make_shared<Identities>(machine_.host);
  std::shared_ptr<ProfilingPause> pause_ = std::make_shared<ProfilingPause>();
};

TEST_F(DcgmTest, Row) {
  scenario("gpus 2\n");
  const auto collector = open();
  const collect::test::Sampled s = collect::test::sample(*collector);
  ASSERT_EQ(s.table("gpu_activity").rows(), 2u);
  EXPECT_EQ(s.integer("gpu_activity", 0, "gpu"), 1) << "NVML's index";
  EXPECT_EQ(s.text("gpu_activity", 0, "uuid"), "GPU-1b2c3d4e-0000-4000-8000-000000000001");
  EXPECT_EQ(s.text("gpu_activity", 0, "source"), "dcgm");
  EXPECT_EQ(s.text("gpu_activity", 0, "quality"), "(null)");
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "graphics_active_ratio"), 0.97);
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "sm_active_ratio"), 0.81);
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "dram_active_ratio"), 0.44);
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "fp64_active_ratio"), 0);
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "nvlink_rx_bytes_per_s"), 8.5e10);
  EXPECT_TRUE(is_null(s.at("gpu_activity", 0, "integer_active_ratio")));
}

TEST_F(DcgmTest, TheOwnerIsWhomTheCollectorNvidiaSaw) {
  scenario("gpus 2\n");
  const auto collector = open();
  EXPECT_EQ(collect::test::sample(*collector).text("gpu_activity", 0, "job"), "(null)");
  Who owner;
  owner.job = "42";
  owner.rank = 3;
  identities_->set_gpu_owner("GPU-1b2c3d4e-0000-4000-8000-000000000001", owner);
  const collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu_activity", 0, "job"), "42");
  EXPECT_EQ(s.integer("gpu_activity", 0, "rank"), 3);
  EXPECT_EQ(s.text("gpu_activity", 1, "job"), "(null)");
}

TEST_F(DcgmTest, LetsGoOfEverything) {
  scenario("");
  open().reset();
  EXPECT_EQ(
      log(),
      "connect localhost:5555\nadd 0\nwatch 1000000 3\nunwatch\ndestroy fields\ndestroy group\ndisconnect\n"
      "shutdown\n");
}

TEST_F(DcgmTest, PausesAndResumesByItself) {
  scenario("");
  const auto collector = open();
  pause_->until(collect::test::clock_ns + 2'500'000'000);
  collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu_activity", 0, "quality"), "paused");
  EXPECT_TRUE(is_null(s.at("gpu_activity", 0, "sm_active_ratio")));
  collect::test::sample(*collector);
  EXPECT_EQ(log().find("resume"), std::string::npos);
  scenario("");
  s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu_activity", 0, "quality"), "(null)");
  EXPECT_NE(log().find("pause\nresume\n"), std::string::npos) << log();
}

TEST_F(DcgmTest, ResumesWhenItCloses) {
  scenario("");
  auto collector = open();
  pause_->until(collect::test::clock_ns + 60'000'000'000);
  collect::test::sample(*collector);
  collector.reset();
  EXPECT_NE(log().find("pause\nresume\nunwatch\n"), std::string::npos) << log();
}

TEST_F(DcgmTest, PlaceholdersAreNull) {
  scenario(
      "gpu 0 value 1002 blank\ngpu 0 value 1003 unsupported\ngpu 0 value 1004 nan\ngpu 0 value 1005 7\n"
      "gpu 0 value 203 blank\ngpu 0 value 1006 STATUS:-6\n");
  const auto collector = open();
  collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu_activity", 0, "quality"), "blank");
  for (const char* column : {"sm_active_ratio", "sm_occupancy_ratio", "tensor_active_ratio",
                             "dram_active_ratio", "fp64_active_ratio"})
    EXPECT_TRUE(is_null(s.at("gpu_activity", 0, column))) << column;
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "fp32_active_ratio"), 0.07);
  scenario("gpu 0 value 1002 denied\ngpu 0 value 1003 STATUS:-18\ngpu 0 value 1004 STATUS:-15\n");
  s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu_activity", 0, "quality"), "lost+stale+denied");
}

TEST_F(DcgmTest, OldValuesAreStale) {
  scenario("gpu 0 age 3\n");
  const auto collector = open();
  EXPECT_EQ(collect::test::sample(*collector).text("gpu_activity", 0, "quality"), "(null)");
  scenario("gpu 0 age 4\n");
  const collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu_activity", 0, "quality"), "stale");
  EXPECT_TRUE(is_null(s.at("gpu_activity", 0, "sm_active_ratio")));
}

TEST_F(DcgmTest, CountersThatStandStillContradict) {
  scenario("gpu 0 value 203 100\ngpu 0 value 1001 0\ngpu 0 value 1002 0\n");
  const auto collector = open();
  collect::test::Sampled s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu_activity", 0, "quality"), "contradictory");
  EXPECT_TRUE(is_null(s.at("gpu_activity", 0, "graphics_active_ratio")));
  scenario("gpu 0 value 203 0\ngpu 0 value 1001 0\ngpu 0 value 1002 0\n");
  s = collect::test::sample(*collector);
  EXPECT_EQ(s.text("gpu_activity", 0, "quality"), "(null)");
  EXPECT_DOUBLE_EQ(s.real("gpu_activity", 0, "sm_active_ratio"), 0);
}

TEST_F(DcgmTest, FieldsInTurnsAreMultiplexed) {
  scenario("passes 2\n");
  const auto collector = open();
  EXPECT_EQ(collect::test::sample(*collector).text("gpu_activity", 0, "quality"), "multiplexed");
}

TEST_F(DcgmTest, NothingMeasuredYetIsNoRow) {
  std::string text;
  for (int id = 1001; id <= 1012; ++id) text += fmt::format("gpu 0 value {} STATUS:-14\n", id);
  scenario(text);
  const auto collector = open();
  EXPECT_EQ(collect::test::sample(*collector).table("gpu_activity").rows(), 0u);
  EXPECT_EQ(collect::test::sample(*collector, 5'000'000'000).text("gpu_activity", 0, "quality"),
            "blank+stale");
}

TEST_F(DcgmTest, TheEngineEndsAndComesBack) {
  scenario("");
  const auto collector = open();
  scenario("error dcgmEntitiesGetLatestValues -21\n");
  auto failed = collector->sample();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::io);
  scenario("embedded_only 1\n");
  failed = collector->sample();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::not_found);
  scenario("");
  EXPECT_EQ(collect::test::sample(*collector).table("gpu_activity").rows(), 1u);
}

TEST_F(DcgmTest, WhyItDoesNotOpen) {
  scenario("embedded_only 1\n");
  EXPECT_EQ(failure().code, Code::not_found);
  EXPECT_NE(failure().message.find("localhost:5555"), std::string::npos);
  scenario("gpu 0 hopper\n");
  EXPECT_EQ(failure().code, Code::not_found);
  EXPECT_NE(failure().message.find("collector nvidia"), std::string::npos);
  scenario("error dcgmWatchFields -29\n");
  EXPECT_EQ(failure().code, Code::denied);
  scenario("error dcgmWatchFields -36\n");
  EXPECT_EQ(failure().code, Code::unsupported);
  scenario("error dcgmInit -1\n");
  EXPECT_EQ(failure().code, Code::io);
  machine_.host.libraries = "/nonexistent";
  EXPECT_EQ(failure().code, Code::not_found);
}

TEST_F(DcgmTest, EmbeddedOnRequestOnly) {
  scenario("embedded_only 1\n");
  auto collector = open(true);
  EXPECT_EQ(collect::test::sample(*collector).table("gpu_activity").rows(), 1u);
  collector.reset();
  EXPECT_NE(log().find("start embedded 1\n"), std::string::npos);
  EXPECT_NE(log().find("stop embedded\nshutdown\n"), std::string::npos);
}

}  // namespace
}  // namespace spotter::collect
