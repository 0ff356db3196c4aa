#include "agent/jobs/job_leaders.h"

#include <gtest/gtest.h>

namespace spotter::agent {
namespace {

using Hosts = std::vector<std::string>;

respond::Leaders leaders(const char* first, const char* nodes, const char* own) {
  process::JobFacts facts;
  facts.first_host = first;
  facts.node_list = nodes;
  return job_leaders(facts, own);
}

TEST(JobLeaders, TheHostOfRank0ComesFirst) {
  const auto there = leaders("gpu01", "gpu[01-04]", "gpu03");
  EXPECT_EQ(there.hosts, (Hosts{"gpu01", "gpu02", "gpu03", "gpu04"}));
  EXPECT_EQ(there.own, 2u);
  EXPECT_EQ(leaders("gpu02.cluster", "gpu[01-02]", "gpu02").own, 0u);
  EXPECT_EQ(leaders("", "gpu[01-04]", "gpu01").own, 0u);
  EXPECT_EQ(leaders("gpu09", "", "gpu01").own, 1u);
}

TEST(JobLeaders, AJobOfOneHostIsLedThere) {
  EXPECT_TRUE(leaders("127.0.0.1", "", "gpu03").is_own());
  EXPECT_TRUE(leaders("localhost", "", "gpu03").is_own());
  EXPECT_TRUE(leaders("::1", "", "gpu03").is_own());
  EXPECT_TRUE(leaders("", "", "gpu03").is_own());
}

TEST(JobLeaders, HostsThatJobsHaveInCommon) {
  const std::vector<respond::Leaders> jobs = {leaders("gpu03", "gpu[01-04]", "gpu02.cluster"),
                                              leaders("gpu02", "gpu[02-04]", "gpu02.cluster"),
                                              leaders("GPU03.cluster", "gpu[02-03]", "gpu02.cluster")};
  EXPECT_EQ(common_hosts(jobs, "gpu02.cluster"), (Hosts{"gpu03", "gpu02.cluster"}));
  const std::vector<respond::Leaders> here = {leaders("gpu01", "", "gpu05"), leaders("", "", "gpu05"),
                                              leaders("gpu02", "", "gpu05")};
  EXPECT_EQ(common_hosts(here, "gpu05"), Hosts{"gpu05"});
  const std::vector<respond::Leaders> by_address = {leaders("192.0.2.1", "", "gpu05"),
                                                    leaders("192.0.2.2", "", "gpu05")};
  EXPECT_EQ(common_hosts(by_address, "gpu05"), Hosts{"gpu05"});
  EXPECT_EQ(common_hosts({}, "gpu05"), Hosts{"gpu05"});
}

TEST(JobLeaders, AListThatIsNoneIsLeftOut) {
  EXPECT_EQ(leaders("gpu01", "gpu[", "gpu03").hosts, Hosts{"gpu01"});
}

TEST(JobLeaders, AListOfEverybodyCostsLittle) {
  EXPECT_LE(leaders("gpu01", "n[1-99999]", "gpu03").hosts.size(), 4097u);
  std::string addresses = "10.0.0.1";
  for (int i = 2; i < 250; ++i) addresses += fmt::format(",10.0.0.{}", i);
  EXPECT_EQ(leaders("", addresses.c_str(), "gpu03").hosts.size(), 249u);  // no two of them are one
}

TEST(JobLeaders, NamesOfAHost) {
  EXPECT_TRUE(is_this_host("GPU03", "gpu03.cluster"));
  EXPECT_FALSE(is_this_host("gpu03.other", "gpu03.cluster"));
  EXPECT_FALSE(is_this_host("192.0.2.7", "gpu03"));
}

}  // namespace
}  // namespace spotter::agent
