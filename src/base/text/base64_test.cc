#include "base/text/base64.h"

#include <gtest/gtest.h>

#include <utility>

namespace spotter {
namespace {

// RFC 4648, section 10.
TEST(Base64Test, BothWays) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : cases) {
    EXPECT_EQ(to_base64(plain), coded);
    EXPECT_EQ(from_base64(coded), plain);
  }
  EXPECT_EQ(to_base64("\xFF\xFE\xFB"), "//77");
  for (const char* wrong : {"Z", "Zg=", "Zg%=", "Zm9v\n", "=Zg="})
    EXPECT_EQ(from_base64(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace spotter
