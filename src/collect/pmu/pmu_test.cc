// The collector, on recorded machines and on this one.
#include "collect/pmu/pmu.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "collect/list.h"
#include "collect/test_kernel.h"
#include "collect/test_machine.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

struct Machine {
  explicit Machine(const char* name) : tree(name) {}
  Result<std::unique_ptr<Collector>> open(bool per_core = false) {
    Surroundings surroundings;
    surroundings.host = tree.host();
    surroundings.per_core = per_core;
    return open_pmu(surroundings, kernel.system());
  }
  TestMachine tree;
  FakeKernel kernel;
};

Value cell(const Table& table, const char* column, size_t row = 0) {
  return table.at(row, table.column(column));
}
std::string quality_of(const Table& table) { return std::string(table.text(0, table.column("quality"))); }

TEST(Pmu, TwoSocketsOfSapphireRapids) {
  Machine machine("intel_8gpu");
  auto pmu = machine.open(true);
  ASSERT_TRUE(pmu) << pmu.error().message;
  machine.kernel.run(10 * kSecond, 3);
  auto tables = (*pmu)->sample();
  ASSERT_TRUE(tables);
  ASSERT_EQ(tables->size(), 3u);
  const Table& all = (*tables)[0];
  EXPECT_EQ(cell(all, "branch_misses"), Value(i64{16 * 3 * 0xc5}));
  EXPECT_EQ(cell(all, "dtlb_misses"), Value(i64{16 * 3 * (0xe12 + 0xe13)}));
  EXPECT_EQ(cell(all, "memory_read_bytes"), Value(i64{4 * 3 * 0xcf05 * 64}));
  EXPECT_EQ(cell(all, "smt_contention_slots"), Value());
  EXPECT_EQ(cell(all, "cpus"), Value(i64{16}));
  EXPECT_EQ(quality_of(all), "exact");
  EXPECT_TRUE(all.notes.empty());
  const Table& sockets = (*tables)[1];
  ASSERT_EQ(sockets.rows(), 2u);
  EXPECT_EQ(cell(sockets, "memory_write_bytes", 1), Value(i64{2 * 3 * 0xf005 * 64}));
  EXPECT_EQ((*tables)[2].rows(), 16u);
  EXPECT_EQ(cell((*tables)[2], "l2_misses", 7), Value(i64{3 * 0x1f25}));
  machine.kernel.run(10 * kSecond, 3, 0.5);
  tables = (*pmu)->sample();
  EXPECT_EQ(quality_of(tables->front()), "multiplexed");
  EXPECT_EQ(cell(tables->front(), "running_ratio"), Value(0.5));
}

TEST(Pmu, Grace) {
  Machine machine("arm_grace");
  auto pmu = machine.open();
  ASSERT_TRUE(pmu);
  machine.kernel.run(10 * kSecond, 1);
  const auto tables = (*pmu)->sample();
  ASSERT_TRUE(tables);
  EXPECT_EQ(cell(tables->front(), "slots"), Value(i64{8 * 8 * 0x11}));
  EXPECT_EQ(cell(tables->front(), "bad_speculation_slots"), Value(i64{8 * (0x3b - 0x3a)}));
  EXPECT_EQ(cell((*tables)[1], "memory_read_bytes"), Value(i64{32 * 0x1a5}));
}

TEST(Pmu, OfAVirtualMachineWhatTheKernelCountsItself) {
  Machine machine("small_vm");
  auto pmu = machine.open();
  ASSERT_TRUE(pmu);
  machine.kernel.run(10 * kSecond, 1);
  auto tables = (*pmu)->sample();
  ASSERT_TRUE(tables);
  ASSERT_EQ(tables->size(), 1u);
  EXPECT_EQ(cell(tables->front(), "cycles"), Value());
  EXPECT_EQ(cell(tables->front(), "context_switches"), Value(i64{2 * 3}));
  EXPECT_EQ(cell(tables->front(), "running_ratio"), Value());
  EXPECT_EQ(quality_of(tables->front()), "software");
  EXPECT_EQ(tables->front().notes.count("no_hardware_counters"), 1);
  machine.kernel.run(10 * kSecond, 1);
  tables = (*pmu)->sample();
  EXPECT_TRUE(tables->front().notes.empty());
}

TEST(Pmu, SaysAtEachSampleWhatItCannotCount) {
  Machine machine("intel_8gpu");
  machine.kernel.most_descriptors = 32;
  auto pmu = machine.open();
  ASSERT_TRUE(pmu);
  for (int i = 0; i < 2; ++i) {
    const auto tables = (*pmu)->sample();
    ASSERT_TRUE(tables);
    EXPECT_GT(tables->front().notes.count("events_left_out"), 0);
    EXPECT_EQ(tables->front().notes.all()[0].severity, Severity::loss);
  }
}

// A processor whose counters are listed but hidden by the hypervisor.
TEST(Pmu, HardwareThatIsNotThere) {
  Machine machine("intel_8gpu");
  machine.kernel.refuse = [](const perf_event_attr& attributes, i64) {
    return attributes.type == PERF_TYPE_SOFTWARE ? 0 : ENOENT;
  };
  auto pmu = machine.open();
  ASSERT_TRUE(pmu);
  machine.kernel.run(10 * kSecond, 1);
  const auto tables = (*pmu)->sample();
  ASSERT_TRUE(tables);
  EXPECT_EQ(quality_of(tables->front()), "software");
  EXPECT_EQ(tables->front().notes.count("no_hardware_counters"), 1);
}

TEST(Pmu, RefusalsSayWhyAndWhatToDo) {
  Machine machine("intel_8gpu");
  const auto refused = [&](int error, const char* status, const char* paranoid) {
    machine.tree.write("proc/self/status", status);
    if (paranoid)
      machine.tree.write("proc/sys/kernel/perf_event_paranoid", paranoid);
    else
      machine.tree.remove("proc/sys/kernel/perf_event_paranoid");
    machine.kernel.refuse = [&](const perf_event_attr&, i64) { return error; };
    auto pmu = machine.open();
    EXPECT_FALSE(pmu);
    return pmu ? Error{} : pmu.error();
  };
  const char *none = "CapEff:\t0000000000000000\n", *perfmon = "Name:\tx\nCapEff:\t0000004000000000\n";
  EXPECT_NE(refused(EACCES, none, "4\n").message.find("perf_event_paranoid is 4"), std::string::npos);
  EXPECT_EQ(refused(EACCES, none, "4\n").code, Code::denied);
  EXPECT_NE(refused(EPERM, perfmon, "4\n").message.find("seccomp"), std::string::npos);
  EXPECT_NE(refused(EPERM, none, "0\n").message.find("seccomp"), std::string::npos);
  EXPECT_NE(refused(ENOSYS, none, "2\n").message.find("seccomp"), std::string::npos);
  EXPECT_NE(refused(ENOSYS, none, nullptr).message.find("CONFIG_PERF_EVENTS"), std::string::npos);
  EXPECT_NE(refused(EMFILE, none, "2\n").message.find("LimitNOFILE"), std::string::npos);
  EXPECT_EQ(refused(ENOENT, none, "2\n").code, Code::not_found);
}

TEST(Pmu, ARecordedMachineIsNotCounted) {
  Machine machine("intel_8gpu");
  machine.kernel.is_running = false;
  const auto pmu = machine.open();
  ASSERT_FALSE(pmu);
  EXPECT_EQ(pmu.error().code, Code::not_found);
  EXPECT_TRUE(machine.kernel.groups.empty());
}

TEST(Pmu, ProcessorsAreLookedForOnceAMinute) {
  Machine machine("small_vm");
  auto pmu = machine.open();
  ASSERT_TRUE(pmu);
  machine.tree.write("sys/devices/system/cpu/online", "0\n");
  machine.tree.set_clock(59 * kSecond);
  machine.kernel.run(kSecond, 1);
  EXPECT_EQ(cell((*pmu)->sample()->front(), "cpus"), Value(i64{2}));
  machine.tree.set_clock(60 * kSecond);
  machine.kernel.run(kSecond, 1);
  EXPECT_EQ(cell((*pmu)->sample()->front(), "cpus"), Value(i64{1}));
}

// On this machine: whatever it allows, never a crash, and software counters that grow where they are there.
TEST(Pmu, ThisMachine) {
  auto pmu = kPmu.open({});
  if (!pmu) {
    EXPECT_FALSE(pmu.error().message.empty());
    return;
  }
  const auto first = (*pmu)->sample();
  ASSERT_TRUE(first);
  usleep(50'000);
  const auto second = (*pmu)->sample();
  ASSERT_TRUE(second);
  const Value before = cell(first->front(), "context_switches"),
              after = cell(second->front(), "context_switches");
  ASSERT_TRUE(std::holds_alternative<i64>(before) && std::holds_alternative<i64>(after));
  EXPECT_GT(std::get<i64>(after), std::get<i64>(before));
}

}  // namespace
}  // namespace spotter::collect
