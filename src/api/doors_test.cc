#include "api/doors.h"

#include <gtest/gtest.h>

#include <set>

#include "api/list.h"

namespace spotter::api {
namespace {

TEST(Doors, EverySettingHasAFallbackThatIsAllowedAndAKeyOfItsOwn) {
  std::set<std::string> keys;
  for (const DoorKind* kind : all_doors()) {
    for (const Setting& setting : kind->settings) {
      EXPECT_TRUE(keys.insert(setting.key).second) << setting.key;
      ASSERT_NE(setting.fallback, nullptr) << setting.key;
      if (setting.check) {
        EXPECT_TRUE(setting.check(setting.fallback)) << setting.key;
      }
      EXPECT_EQ(find_door_setting(setting.key), &setting);
    }
  }
  EXPECT_EQ(find_door_setting("api_socket"), nullptr);
  EXPECT_TRUE(check({}));
}

}  // namespace
}  // namespace spotter::api
