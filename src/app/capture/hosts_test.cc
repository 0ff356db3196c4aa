#include "app/capture/hosts.h"

#include <gtest/gtest.h>

#include "app/capture/slurm.h"

namespace spotter::app {
namespace {

std::string shown(const Result<std::vector<net::HttpAddress>>& hosts) {
  if (!hosts) return "error";
  std::string text;
  for (const net::HttpAddress& h : *hosts) text += (text.empty() ? "" : " ") + h.shown();
  return text;
}

TEST(HostsTest, Names) {
  const std::pair<const char*, const char*> cases[] = {
      {"n1", "n1:1779"},
      {"n1:17,10.0.0.1", "n1:17 10.0.0.1:1779"},
      {"[::1]:17,[fe80::1]", "[::1]:17 [fe80::1]:1779"},
      {"fe80::1", "[fe80::1]:1779"},
      {"gpu[08-10,2]", "gpu08:1779 gpu09:1779 gpu10:1779 gpu2:1779"},
      {"r[1-2]n[1-2]", "r1n1:1779 r1n2:1779 r2n1:1779 r2n2:1779"},
      {"n[8-10].x:5,m", "n8.x:5 n9.x:5 n10.x:5 m:1779"},
  };
  for (const auto& [words, expected] : cases) EXPECT_EQ(shown(parse_hosts(words)), expected) << words;
  for (const char* words : {"", "a,,b", ":17", "n1:", "n1:0", "n1:65536", "n1:x", "n[1-2", "n[]", "n[b]",
                            "[::1", "[::1]x", "n[1-99999999]", "n]1["})
    EXPECT_FALSE(parse_hosts(words)) << words;
}

TEST(HostsTest, Hostfile) {
  EXPECT_EQ(shown(parse_hostfile("# all\nn1 slots=8\n\n  n2:17\t# the second\r\nn[3-4]\n")),
            "n1:1779 n2:17 n3:1779 n4:1779");
  EXPECT_EQ(shown(parse_hostfile("n1")), "n1:1779");
  EXPECT_EQ(parse_hostfile("n1\nn2:x\n").error().message.substr(0, 7), "line 2:");
  EXPECT_FALSE(parse_hostfile("# none\n"));
}

TEST(SlurmTest, WhereAJobRuns) {
  const auto place = read_squeue("17 n[1-3]\n", "17");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->id, "17");
  EXPECT_EQ(place->nodes, "n[1-3]");
  EXPECT_EQ(read_squeue("18 n1\n18 m2\n", "18")->nodes, "n1,m2");
  EXPECT_EQ(read_squeue("", "17").error().code, Code::not_found);
  EXPECT_EQ(read_squeue("17 \n", "17").error().code, Code::not_found);
  EXPECT_EQ(read_squeue("17 n1\n18 n2\n", "17").error().code, Code::invalid);
}

TEST(SlurmTest, Nodes) {
  const auto nodes = read_nodes(
      "NodeName=n1 Arch=x86_64 CPUTot=1 NodeAddr=10.0.0.1 NodeHostName=n1 Version=22.05\n"
      "NodeName=n2 State=IDLE\n\n");
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].name, "n1");
  EXPECT_EQ(nodes[0].address, "10.0.0.1");
  EXPECT_EQ(nodes[1].address, "n2");
}

TEST(SlurmTest, IdsThatAreNone) {
  for (const char* id : {"", "-a", "1;2", "1 2", "$(x)"})
    EXPECT_EQ(find_slurm_job(id).error().code, Code::invalid) << id;
}

}  // namespace
}  // namespace spotter::app
