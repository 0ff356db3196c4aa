#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "collect/list.h"
#include "collect/test_machine.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

const std::string kClass = "sys/class/infiniband/";

void add_port(const TestMachine& tree, const std::string& device, int port = 1) {
  const std::string path = kClass + device + "/ports/" + std::to_string(port);
  tree.write(path + "/state", "4: ACTIVE\n");
  tree.write(path + "/phys_state", "5: LinkUp\n");
  tree.write(path + "/rate", "100 Gb/sec (4X EDR)\n");
  tree.write(path + "/link_layer", "Ethernet\n");
}

std::unique_ptr<Collector> open_rdma(const TestMachine& tree) {
  Surroundings surroundings;
  surroundings.host = tree.host();
  auto collector = kRdma.open(surroundings);
  EXPECT_TRUE(collector) << collector.error().message;
  return collector ? std::move(*collector) : nullptr;
}

Table sample(Collector& collector) {
  auto tables = collector.sample();
  EXPECT_TRUE(tables && tables->size() == 1);
  return tables ? std::move(tables->front()) : Table();
}

Value cell(const Table& table, size_t row, const char* column) { return table.at(row, table.column(column)); }

// The names of amazon's adapters, whose bytes are bytes.
TEST(Rdma, Efa) {
  TestMachine tree;
  add_port(tree, "rdmap16s27");
  tree.write(kClass + "rdmap16s27/ports/1/hw_counters/tx_bytes", "1000\n");
  tree.write(kClass + "rdmap16s27/ports/1/hw_counters/rdma_read_bytes", "70\n");
  tree.write(kClass + "rdmap16s27/ports/1/hw_counters/retrans_timeout_events", "3\n");
  const auto rdma = open_rdma(tree);
  const Table table = sample(*rdma);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(cell(table, 0, "tx_bytes"), Value(i64{1000}));
  EXPECT_EQ(cell(table, 0, "rdma_read_bytes"), Value(i64{70}));
  EXPECT_EQ(cell(table, 0, "local_ack_timeout_err"), Value(i64{3}));
  EXPECT_EQ(cell(table, 0, "rx_bytes"), Value());
  EXPECT_EQ(cell(table, 0, "netdev"), Value());
}

TEST(Rdma, GarbageIsNull) {
  TestMachine tree;
  add_port(tree, "mlx5_0");
  const std::string port = kClass + "mlx5_0/ports/1";
  for (const auto& [file, text] : std::initializer_list<std::pair<const char*, std::string>>{
           {"/counters/port_xmit_data", "N/A (no PMA)\n"},
           {"/counters/port_rcv_data", "18446744073709551615\n"},  // no i64 holds it times four
           {"/counters/port_xmit_packets", ""},
           {"/counters/port_rcv_packets", "-5\n"},
           {"/counters/symbol_error", std::string(100'000, '1')},
           {"/hw_counters/out_of_sequence", "12 13\n"},
           {"/rate", "nan Gb/sec (4X EDR)\n"},
           {"/state", "\n"}})
    tree.write(port + file, text);
  const auto rdma = open_rdma(tree);
  const Table table = sample(*rdma);
  ASSERT_EQ(table.rows(), 1u);
  for (const char* column : {"tx_bytes", "rx_bytes", "tx_packets", "rx_packets", "symbol_errors",
                             "out_of_sequence", "rate_bytes_per_s"})
    EXPECT_EQ(cell(table, 0, column), Value()) << column;
  EXPECT_EQ(cell(table, 0, "up"), Value(false));
}

TEST(Rdma, PortsThatComeAreFoundInAMinute) {
  TestMachine tree;
  add_port(tree, "mlx5_0");
  const auto rdma = open_rdma(tree);
  add_port(tree, "mlx5_1");
  tree.set_clock(59 * kSecond);
  EXPECT_EQ(sample(*rdma).rows(), 1u);
  tree.set_clock(60 * kSecond);
  EXPECT_EQ(sample(*rdma).rows(), 2u);
}

// A file of /proc of a process that ends stands for one of /sys whose device goes: both stay open and cannot
// be read.
TEST(Rdma, APortThatGoesIsLeftOutAtOnce) {
  TestMachine tree;
  add_port(tree, "mlx5_0");
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  ASSERT_GT(child, 0);
  tree.link(kClass + "mlx5_1/ports/1/counters/link_downed", fmt::format("/proc/{}/oom_score_adj", child));
  const auto rdma = open_rdma(tree);
  const Table before = sample(*rdma);
  ASSERT_EQ(before.rows(), 2u);
  EXPECT_FALSE(is_null(cell(before, 1, "link_downed")));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  tree.remove(kClass + "mlx5_1");
  EXPECT_EQ(sample(*rdma).rows(), 1u);
}

TEST(Rdma, OfTooManyPortsThoseOfVirtualFunctionsAreLeftOut) {
  TestMachine tree;
  for (int i = 0; i < 70; ++i) {
    add_port(tree, fmt::format("a_vf{:02}", i));
    tree.write(fmt::format("{}a_vf{:02}/device/physfn/vendor", kClass, i), "0x15b3\n");
  }
  add_port(tree, "mlx5_0", 1);
  add_port(tree, "mlx5_0", 2);
  const auto rdma = open_rdma(tree);
  const Table table = sample(*rdma);
  ASSERT_EQ(table.rows(), 64u);
  EXPECT_EQ(table.text(0, 0), "mlx5_0");
  EXPECT_EQ(table.text(1, 0), "mlx5_0");
  EXPECT_EQ(table.notes.count("ports_left_out"), 8);
}

}  // namespace
}  // namespace spotter::collect
