#include "diagnose/what_if_words.h"

#include <gtest/gtest.h>

namespace spotter::diagnose {
namespace {

using Part = WhatIf::Part;

TEST(WhatIfWords, AreToldFromNamesOfKernels) {
  for (const char* word :
       {"device:all=0", "transfer:group=x=0", "gpu:rank=3=0", "device:everything=1", "device:"})
    EXPECT_TRUE(is_about_replay(word)) << word;
  for (const char* word : {"nccl=0.5", "at::native=0", "device::f=0", "x=device:all", "gemm:tn=0", "device"})
    EXPECT_FALSE(is_about_replay(word)) << word;
}

TEST(WhatIfWords, SayPartWhoseAndValue) {
  const auto peer = parse_what_if("device:rank=0-3,7=peer");
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->part, Part::device);
  ASSERT_EQ(peer->ranks.size(), 2u);
  EXPECT_EQ(peer->ranks[1].first, 7);
  EXPECT_FALSE(peer->factor);
  const auto group = parse_what_if("transfer:group=a=b [0, 1]=0.25");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->group, "a=b [0, 1]");
  EXPECT_EQ(group->factor, 0.25);
  const auto all = parse_what_if("pause:all=0");
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->ranks.empty() && all->group.empty());
  EXPECT_EQ(all->factor, 0);
}

TEST(WhatIfWords, ErrorsNameWhatThereIs) {
  const auto error = [](const char* word) {
    const auto parsed = parse_what_if(word);
    return parsed ? std::string("none") : parsed.error().message;
  };
  EXPECT_NE(error("devise:rank=3=0").find("did you mean \"device\"?"), std::string::npos);
  EXPECT_NE(error("gpu:all=0").find("there are device, host, pause, transfer"), std::string::npos);
  EXPECT_NE(error("device:rnk=3=0").find("did you mean \"rank\"?"), std::string::npos);
  EXPECT_NE(error("device:all=fast").find("neither peer nor a factor"), std::string::npos);
  EXPECT_NE(error("device:all=-1").find("neither peer nor a factor"), std::string::npos);
  EXPECT_NE(error("device:all=peers").find("did you mean \"peer\"?"), std::string::npos);
  EXPECT_NE(error("device:rank=x=0").find("no list of numbers"), std::string::npos);
  for (const char* word : {"device:all", "device:rank=3", "device:rank==0", "device:all=1=2",
                           "device:", "host:group=a=0", "transfer:group=0"})
    EXPECT_NE(error(word).find("device:rank=3=peer"), std::string::npos) << word << ": " << error(word);
}

}  // namespace
}  // namespace spotter::diagnose
