#include "base/host_list.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

using Hosts = std::vector<std::string>;

TEST(HostList, Ranges) {
  EXPECT_EQ(expand_host_list("n1,gpu[08-10,2]x"), (Hosts{"n1", "gpu08x", "gpu09x", "gpu10x", "gpu2x"}));
  EXPECT_EQ(expand_host_list("r[1-2]n[1-2]"), (Hosts{"r1n1", "r1n2", "r2n1", "r2n2"}));
  EXPECT_EQ(expand_host_list("[::1]"), Hosts{"[::1]"});
}

TEST(HostList, WhatIsNone) {
  for (const char* list : {"n[1-2", "n[]", "n[b]", "n[2-1]", "n[-1]", "n]1["})
    EXPECT_FALSE(expand_host_list(list)) << list;
}

// A job's environment has them: they may be anything.
TEST(HostList, WhatWouldBeTooMuch) {
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "a[1]";
  const std::string wide = "n[" + std::string(60'000, '0') + "1-9]";
  for (const std::string& list : std::vector<std::string>{"n[1-100001]", "n[1-400]x[1-400]", wide, deep})
    EXPECT_EQ(expand_host_list(list).error().code, Code::invalid) << list.substr(0, 40);
}

}  // namespace
}  // namespace spotter
