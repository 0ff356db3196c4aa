#include "collect/pmu/pmu_counters.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "collect/list.h"
#include "collect/pmu/pmu.h"
#include "collect/test_machine.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

// A kernel of our own: groups whose counts and times the test sets. Descriptors are real ones of /dev/null,
// so that what is not closed is seen.
class FakeKernel {
 public:
  struct Event {
    u32 type;
    u64 config;
    u64 count = 0;
  };
  struct Group {
    i64 cpu;
    std::vector<Event> events;
    u64 enabled = 0, running = 0;
    ssize_t error = 0;
  };

  std::function<int(const perf_event_attr&, i64 cpu)> refuse = [](const perf_event_attr&, i64) { return 0; };
  size_t most_descriptors = 10'000;
  bool is_running = true;
  std::map<int, Group> groups;  // by the leader's descriptor

  PerfSystem system() {
    return {[this](const Host&) { return is_running; },
            [this](const perf_event_attr& attributes, i64 cpu, int leader) {
              return add(attributes, cpu, leader);
            },
            [this](int fd, std::span<u64> into) { return read(fd, into); }, most_descriptors};
  }

  // Time passes, and each event counts `count` times its configuration where its group runs all the time.
  void run(u64 time, u64 count, double share = 1) {
    for (auto& [fd, group] : groups) {
      group.enabled += time;
      group.running += static_cast<u64>(static_cast<double>(time) * share);
      for (Event& event : group.events)
        event.count += static_cast<u64>(static_cast<double>(count * event.config) * share);
    }
  }

 private:
  int add(const perf_event_attr& attributes, i64 cpu, int leader) {
    EXPECT_EQ(attributes.size, sizeof attributes);
    EXPECT_EQ(attributes.read_format,
              PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
    if (const int error = refuse(attributes, cpu)) return -error;
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const Event event{attributes.type, attributes.config};
    if (leader < 0) {
      groups[fd] = {cpu, {event}};
    } else {
      EXPECT_TRUE(groups.contains(leader));
      EXPECT_EQ(groups[leader].cpu, cpu);
      groups[leader].events.push_back(event);
    }
    return fd;
  }
  ssize_t read(int fd, std::span<u64> into) {
    const Group& group = groups.at(fd);
    if (group.error != 0) return group.error < 0 ? group.error : 0;
    EXPECT_EQ(into.size(), 3 + group.events.size());
    into[0] = group.events.size();
    into[1] = group.enabled;
    into[2] = group.running;
    for (size_t i = 0; i < group.events.size(); ++i) into[3 + i] = group.events[i].count;
    return static_cast<ssize_t>(into.size_bytes());
  }
};

size_t open_descriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

PlannedGroup group_of(std::vector<PmuColumn> columns, std::vector<i64> cpus = {}) {
  PlannedGroup group{"core", {}, std::move(cpus)};
  for (const PmuColumn column : columns) {
    PlannedEvent event;
    event.attributes.type = PERF_TYPE_RAW;
    event.attributes.config = static_cast<u64>(column) + 1;
    event.terms[0] = {column, 1};
    group.events.push_back(event);
  }
  return group;
}

constexpr auto kCycles = PmuColumn::cycles, kInstructions = PmuColumn::instructions,
               kSlots = PmuColumn::slots;
using Told = std::optional<i64>;

TEST(PmuCounters, AddsUpTheProcessors) {
  FakeKernel kernel;
  const size_t before = open_descriptors();
  {
    PmuCounters counters(kernel.system(), {group_of({kCycles, kInstructions})});
    counters.follow({0, 1, 5});
    EXPECT_EQ(counters.descriptors(), 6u);
    EXPECT_EQ(open_descriptors(), before + 6);
    EXPECT_EQ(counters.total(kCycles), Told());
    kernel.run(1000, 10);
    counters.read();
    EXPECT_EQ(counters.total(kCycles), Told(30));
    EXPECT_EQ(counters.total(kInstructions), Told(60));
    EXPECT_EQ(counters.total(kInstructions, 5), Told(20));
    EXPECT_EQ(counters.total(kSlots), Told());
    EXPECT_EQ(counters.running_ratio(), 1.0);
    EXPECT_FALSE(counters.is_partial());
  }
  EXPECT_EQ(open_descriptors(), before);
}

// Each interval is scaled by its own share: 1000 in all of the first, 100 in a tenth of the second are 2000,
// where the shares since the beginning would give 1100 / 0.55.
TEST(PmuCounters, ScalesIntervalsAndNeverShrinks) {
  FakeKernel kernel;
  PmuCounters counters(kernel.system(), {group_of({kCycles})});
  counters.follow({0});
  kernel.run(1000, 1000);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(1000));
  kernel.run(1000, 1000, 0.1);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(2000));
  EXPECT_DOUBLE_EQ(*counters.running_ratio(), 0.1);
  // Not at all in the third: what it counts in the fourth stands for both.
  kernel.run(1000, 0, 0);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(2000));
  EXPECT_DOUBLE_EQ(*counters.running_ratio(), 0);
  kernel.run(1000, 500);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(3000));
  EXPECT_DOUBLE_EQ(*counters.running_ratio(), 1);
}

TEST(PmuCounters, AGroupThatNeverRanTellsNothing) {
  FakeKernel kernel;
  PmuCounters counters(kernel.system(), {group_of({kCycles})});
  counters.follow({0});
  kernel.run(1000, 0, 0);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told());
  EXPECT_DOUBLE_EQ(*counters.running_ratio(), 0);
}

TEST(PmuCounters, AMissingEventLeavesTheOthersOfItsGroup) {
  for (const int error : {ENOENT, EINVAL, EOPNOTSUPP}) {
    FakeKernel kernel;
    kernel.refuse = [&](const perf_event_attr& attributes, i64) {
      return attributes.config == 1 ? error : 0;
    };
    PmuCounters counters(kernel.system(), {group_of({kCycles, kInstructions})});
    counters.follow({0, 1});
    kernel.run(1000, 10);
    counters.read();
    EXPECT_EQ(counters.total(kCycles), Told());
    EXPECT_EQ(counters.total(kInstructions), Told(40));
    EXPECT_FALSE(counters.is_partial());
    EXPECT_EQ(counters.first_error(), 0);
  }
}

// Of two kinds of cores only one knows the event.
TEST(PmuCounters, AnEventOfSomeProcessorsIsPartial) {
  FakeKernel kernel;
  kernel.refuse = [](const perf_event_attr& attributes, i64 cpu) {
    return attributes.config == 2 && cpu == 1 ? ENOENT : 0;
  };
  PmuCounters counters(kernel.system(), {group_of({kCycles, kInstructions})});
  counters.follow({0, 1});
  kernel.run(1000, 10);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(20));
  EXPECT_EQ(counters.total(kInstructions), Told(20));
  EXPECT_TRUE(counters.is_partial());
}

TEST(PmuCounters, AColumnOfTwoEventsNeedsBoth) {
  FakeKernel kernel;
  PlannedGroup loads = group_of({PmuColumn::dtlb_misses, PmuColumn::dtlb_misses});
  loads.events[1].attributes.config = 77;
  kernel.refuse = [](const perf_event_attr& attributes, i64) { return attributes.config == 77 ? ENOENT : 0; };
  PmuCounters counters(kernel.system(), {loads});
  counters.follow({0});
  kernel.run(1000, 10);
  counters.read();
  EXPECT_EQ(counters.total(PmuColumn::dtlb_misses), Told());
}

TEST(PmuCounters, DifferencesDoNotTakeBack) {
  FakeKernel kernel;
  PlannedGroup ops = group_of({PmuColumn::bad_speculation_slots, PmuColumn::retiring_slots});
  ops.events[0].attributes.config = 3;
  ops.events[1].attributes.config = 2;
  ops.events[1].terms[1] = {PmuColumn::bad_speculation_slots, -1};
  PmuCounters counters(kernel.system(), {ops});
  counters.follow({0});
  kernel.run(1000, 10);
  counters.read();
  EXPECT_EQ(counters.total(PmuColumn::bad_speculation_slots), Told(10));
  EXPECT_EQ(counters.total(PmuColumn::retiring_slots), Told(20));
  auto& group = kernel.groups.begin()->second;
  group.enabled += 1000;
  group.running += 1000;
  group.events[1].count += 5;
  counters.read();
  EXPECT_EQ(counters.total(PmuColumn::bad_speculation_slots), Told(10));
  EXPECT_EQ(counters.total(PmuColumn::retiring_slots), Told(25));
}

TEST(PmuCounters, TooFewDescriptorsLeaveOutTheLastGroups) {
  FakeKernel kernel;
  kernel.most_descriptors = 9;
  PmuCounters counters(kernel.system(), {group_of({kCycles, kInstructions}), group_of({kSlots}),
                                         group_of({PmuColumn::l2_misses})});
  counters.follow({0, 1, 2});
  EXPECT_EQ(counters.descriptors(), 9u);
  EXPECT_EQ(counters.left_out(), 1u);
  kernel.run(1000, 1);
  counters.read();
  EXPECT_EQ(counters.total(PmuColumn::l2_misses), Told());
  EXPECT_FALSE(is_null(or_null(counters.total(kSlots))));
}

TEST(PmuCounters, NoDescriptorInTheMiddleIsPartialAndNothingLeaks) {
  FakeKernel kernel;
  const size_t before = open_descriptors();
  kernel.refuse = [](const perf_event_attr& attributes, i64 cpu) {
    return cpu == 1 && attributes.config == 2 ? EMFILE : 0;
  };
  PmuCounters counters(kernel.system(), {group_of({kCycles, kInstructions})});
  counters.follow({0, 1});
  EXPECT_EQ(open_descriptors(), before + 2);
  EXPECT_TRUE(counters.is_partial());
}

TEST(PmuCounters, ProcessorsGoAndComeBack) {
  FakeKernel kernel;
  PmuCounters counters(kernel.system(), {group_of({kCycles}), group_of({kSlots}, {1})});
  counters.follow({0, 1});
  EXPECT_EQ(counters.descriptors(), 3u);
  kernel.run(1000, 10);
  counters.read();
  const Told both = counters.total(kCycles);
  counters.follow({0});
  EXPECT_EQ(counters.descriptors(), 1u);
  counters.follow({0, 1});
  EXPECT_EQ(counters.descriptors(), 3u);
  EXPECT_EQ(counters.total(kCycles), both);
  kernel.run(1000, 10);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(*both + 20));
}

TEST(PmuCounters, AGroupThatCannotBeReadIsOpenedAgain) {
  for (const ssize_t error : {ssize_t{-EIO}, ssize_t{1}}) {  // 1: the end of the file
    FakeKernel kernel;
    PmuCounters counters(kernel.system(), {group_of({kCycles})});
    counters.follow({0, 1});
    kernel.run(1000, 10);
    counters.read();
    kernel.groups.begin()->second.error = error;
    kernel.run(1000, 10);
    counters.read();
    EXPECT_EQ(counters.total(kCycles), Told(30));
    EXPECT_EQ(counters.descriptors(), 1u);
    EXPECT_TRUE(counters.is_partial());
    kernel.groups.clear();  // the fake's numbers are used again
    counters.follow({0, 1});
    EXPECT_EQ(counters.descriptors(), 2u);
    EXPECT_FALSE(counters.is_partial());
  }
}

TEST(PmuCounters, CountsThatShrinkOrTimeThatStandsEndTheGroup) {
  FakeKernel kernel;
  PmuCounters counters(kernel.system(), {group_of({kCycles})});
  counters.follow({0});
  kernel.run(1000, 10);
  counters.read();
  counters.read();
  EXPECT_EQ(counters.descriptors(), 0u);
  kernel.groups.clear();
  counters.follow({0});
  kernel.run(1000, 10);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(20));
  kernel.run(1000, 0);
  kernel.groups.begin()->second.events[0].count = 3;
  counters.read();
  EXPECT_EQ(counters.descriptors(), 0u);
  EXPECT_EQ(counters.total(kCycles), Told(20));
}

TEST(PmuCounters, EnormousCountsStayAtTheEnd) {
  FakeKernel kernel;
  PlannedGroup group = group_of({kCycles});
  group.events[0].terms[0].weight = 64;
  PmuCounters counters(kernel.system(), {group});
  counters.follow({0});
  auto& only = kernel.groups.begin()->second;
  only.enabled = 1000;
  only.running = 1;
  only.events[0].count = ~u64{0};
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(std::numeric_limits<i64>::max()));
}

// --- The collector, on recorded machines ---

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
