#include "agent/incidents/capture_command.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace spotter::agent {
namespace {

TEST(CaptureCommand, RanksAndHostsAreThoseThatWouldHaveBeenTraced) {
  EXPECT_EQ(capture_command("4711", {}, 1500 * kMillisecond),
            "spotter trace --job 4711 --duration 1500ms --analyze");
  EXPECT_EQ(capture_command("4711", {.ranks = {0, 1, 2, 9}, .hosts = {"n1:1779", "n2:1779"}}, 7 * kSecond),
            "spotter trace --job 4711 --rank 0-2,9 --host n1:1779,n2:1779 --duration 7000ms --analyze");
  EXPECT_EQ(capture_command("a $(reboot) b", {}, kSecond),
            "spotter trace --job 'a $(reboot) b' --duration 1000ms --analyze");
}

}  // namespace
}  // namespace spotter::agent
