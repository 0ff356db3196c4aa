#include <gtest/gtest.h>

#include "collect/host/interrupt_lines.h"
#include "collect/list.h"
#include "collect/test_machine.h"
#include "collect/wrapped_counter.h"

namespace spotter::collect {
namespace {

const std::string kHeader = "           CPU0       CPU1       \n";

std::unique_ptr<Collector> open_interrupts(const TestMachine& tree) {
  Surroundings surroundings;
  surroundings.host = tree.host();
  return std::move(*kInterrupts.open(surroundings));
}

// The number in a column of the first table.
Value total(Collector& collector, const char* column) {
  const auto tables = collector.sample();
  EXPECT_TRUE(tables) << tables.error().message;
  if (!tables) return {};
  const Table& table = tables->front();
  return table.at(0, table.column(column));
}

i64 count_of(const Table& table, std::string_view name) {
  for (size_t row = 0; row < table.rows(); ++row)
    if (table.text(row, 0) == name) return table.integer(row, 1);
  return -1;
}

TEST(WrappedCounter, AWrapOfOneOfItsCountersIsGrowth) {
  WrappedCounter counter;
  const i64 most = i64{1} << 32;
  EXPECT_EQ(counter.update(most - 10 + 500, false), most + 490);
  EXPECT_EQ(counter.update(most + 495, true), most + 495);
  EXPECT_EQ(counter.update(5 + 500, true), most + 505);  // the first went on by 10
}

TEST(WrappedCounter, CountersThatGoTakeNothingBack) {
  WrappedCounter counter;
  EXPECT_EQ(counter.update(1000, false), 1000);
  EXPECT_EQ(counter.update(400, false), 1000);
  EXPECT_EQ(counter.update(450, true), 1050);
}

TEST(Interrupts, DeviceClasses) {
  const auto named = [](const char* action) {
    return std::string(device_class_of(std::string("PCI-MSIX-0000:00:01.0   0-edge      ") + action));
  };
  EXPECT_EQ(named("nvme0q12"), "nvme");
  EXPECT_EQ(named("mlx5_comp12@pci:0000:18:00.0"), "mlx5_comp");
  EXPECT_EQ(named("virtio0-config"), "virtio");
  EXPECT_EQ(named("ice-ens1f0-TxRx-3"), "ice");
  EXPECT_EQ(named("eth0-TxRx-3"), "eth");
  EXPECT_EQ(named("e1000e"), "e1000e");
  EXPECT_EQ(named("hfi1_0"), "hfi1");
  EXPECT_EQ(named("ahci[0000:00:17.0]"), "ahci");
  EXPECT_EQ(named("ehci_hcd:usb1, i801_smbus"), "ehci_hcd");
  EXPECT_EQ(named("nvidia"), "nvidia");
  EXPECT_EQ(named("q0"), "q");
  EXPECT_EQ(named("123"), "unnamed");  // as the kernel writes an interrupt that nobody has
  EXPECT_EQ(named("3f200000.gpio"), "gpio");
  EXPECT_EQ(named(""), "unnamed");
  EXPECT_EQ(device_class_of("IO-APIC   8-edge    "), "unnamed");
  EXPECT_EQ(device_class_of("GICv3  77 Level   "), "unnamed");
  EXPECT_EQ(device_class_of(""), "unnamed");
}

TEST(Interrupts, CountersGoOnWhenOneWraps) {
  TestMachine tree;
  tree.write("proc/interrupts", kHeader + "RES: 4294967290 100 Rescheduling interrupts\n");
  const auto interrupts = open_interrupts(tree);
  EXPECT_EQ(total(*interrupts, "reschedule"), Value(i64{4294967390}));
  tree.write("proc/interrupts", kHeader + "RES: 4 110 Rescheduling interrupts\n");
  EXPECT_EQ(total(*interrupts, "reschedule"), Value(i64{4294967410}));
}

// A processor that goes offline takes its counts along.
TEST(Interrupts, FewerProcessorsAreNoWrap) {
  TestMachine tree;
  tree.write("proc/interrupts", kHeader + "LOC: 3000000000 3000000000 Local timer interrupts\n");
  const auto interrupts = open_interrupts(tree);
  EXPECT_EQ(total(*interrupts, "local_timer"), Value(i64{6000000000}));
  tree.write("proc/interrupts", "           CPU0\nLOC: 3000000010 Local timer interrupts\n");
  EXPECT_EQ(total(*interrupts, "local_timer"), Value(i64{6000000000}));
  tree.write("proc/interrupts", "           CPU0\nLOC: 3000000030 Local timer interrupts\n");
  EXPECT_EQ(total(*interrupts, "local_timer"), Value(i64{6000000020}));
}

TEST(Interrupts, ClassesBeyondTheLimitAreSummedAndNoneMovesLater) {
  TestMachine tree;
  const auto write = [&](i64 of_the_last) {
    std::string text = kHeader;
    for (int i = 0; i < 40; ++i) {
      const std::string name = {static_cast<char>('a' + i / 10), static_cast<char>('a' + i % 10), 'x'};
      text += fmt::format("{}: {} 0 PCI-MSIX-0000:00:01.0   0-edge      {}\n", 24 + i,
                          i == 39 ? of_the_last : 1000 - i, name);
    }
    tree.write("proc/interrupts", text);
  };
  write(1);
  const auto interrupts = open_interrupts(tree);
  auto tables = interrupts->sample();
  ASSERT_TRUE(tables);
  EXPECT_EQ((*tables)[1].rows(), 33u);
  const i64 other = 968 + 967 + 966 + 965 + 964 + 963 + 962 + 1;
  EXPECT_EQ(count_of((*tables)[1], "other"), other);
  write(5001);
  tables = interrupts->sample();
  ASSERT_TRUE(tables);
  EXPECT_EQ((*tables)[1].rows(), 33u);
  EXPECT_EQ(count_of((*tables)[1], "other"), other + 5000);
}

TEST(Interrupts, LinesLongerThanAPiece) {
  TestMachine tree;
  std::string header = "    ", line = "RES:";
  for (int i = 0; i < 9000; ++i) {
    header += fmt::format("CPU{:<8}", i);
    line += fmt::format("{:>11}", i);
  }
  tree.write("proc/interrupts", header + "\n" + line + "   Rescheduling interrupts\n" + line);
  const auto interrupts = open_interrupts(tree);
  EXPECT_EQ(total(*interrupts, "reschedule"), Value(i64{2 * 8999 * 9000 / 2}));
}

TEST(Interrupts, GarbageIsAnErrorOrSkipped) {
  TestMachine tree;
  tree.write("proc/interrupts",
             kHeader + "no label\n:::\nRES: -5 x\n TLB: 99999999999999999999999999 1 TLB\n\n");
  const auto interrupts = open_interrupts(tree);
  EXPECT_EQ(total(*interrupts, "reschedule"), Value());
  EXPECT_EQ(total(*interrupts, "tlb_shootdowns"), Value((i64{1} << 40) + 1));
  for (const std::string& text : {std::string(), std::string("\n\n"), std::string(3 << 20, 'x')}) {
    tree.write("proc/interrupts", text);
    const auto tables = interrupts->sample();
    ASSERT_FALSE(tables);
    EXPECT_EQ(tables.error().code, Code::corrupt);
  }
  tree.remove("proc/interrupts");
  const auto tables = interrupts->sample();
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().code, Code::not_found);
}

}  // namespace
}  // namespace spotter::collect
