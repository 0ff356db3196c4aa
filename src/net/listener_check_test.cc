#include "net/listener_check.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace spotter::net {
namespace {

constexpr i64 kStranger = 12345;

TEST(ListenerCheck, RootAndOneself) {
  EXPECT_TRUE(check_listener("/tmp/nowhere/agent.sock", 0, kStranger));
  EXPECT_TRUE(check_listener("/tmp/nowhere/agent.sock", kStranger, kStranger));
  const auto r = check_listener("/tmp/nowhere/agent.sock", kStranger, 0);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, Code::denied);
  EXPECT_NE(r.error().message.find("user 12345 listens there"), std::string::npos) << r.error().message;
  EXPECT_FALSE(check_listener("/tmp/nowhere/agent.sock", -1, kStranger));
}

// The folder of a service belongs to its user, and root made it; in /tmp anybody makes folders.
TEST(ListenerCheck, TheOwnerOfTheFolderWhereOnlyRootCouldMakeIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives folders away";
  std::string parent = "/tmp/spotter-listener-XXXXXX";
  ASSERT_TRUE(mkdtemp(parent.data()));
  const std::string folder = parent + "/spotter", socket = folder + "/agent.sock";
  ASSERT_EQ(mkdir(folder.c_str(), 0755), 0);
  ASSERT_EQ(chown(folder.c_str(), kStranger, kStranger), 0);
  EXPECT_TRUE(check_listener(socket, kStranger, 1));
  EXPECT_FALSE(check_listener(socket, kStranger + 1, 1));
  ASSERT_EQ(chmod(parent.c_str(), 01777), 0);
  EXPECT_FALSE(check_listener(socket, kStranger, 1));
  ASSERT_EQ(chmod(parent.c_str(), 0755), 0);
  ASSERT_EQ(chown(parent.c_str(), kStranger, kStranger), 0);
  EXPECT_FALSE(check_listener(socket, kStranger, 1));
  std::filesystem::remove_all(parent);
}

}  // namespace
}  // namespace spotter::net
