#include "base/zstd_frame.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

TEST(ZstdFrame, ComesBackTheSame) {
  for (const std::string& text : {std::string(), std::string("a"), std::string(100'000, 'x')})
    EXPECT_EQ(from_zstd_frame(zstd_frame(text, 3), 100'000), text);
}

TEST(ZstdFrame, NothingDamagedComesBack) {
  const std::string frame = zstd_frame("some text, some text, some more text", 3);
  for (size_t i = 0; i < frame.size(); ++i) {
    std::string other = frame;
    other[i] = static_cast<char>(other[i] ^ 1);
    const auto back = from_zstd_frame(other, 1000);
    EXPECT_TRUE(!back || *back == "some text, some text, some more text") << i;
    EXPECT_FALSE(from_zstd_frame(frame.substr(0, i), 1000)) << i;
  }
}

TEST(ZstdFrame, MoreThanIsWantedIsRefused) {
  const std::string frame = zstd_frame(std::string(1001, 'x'), 3);
  EXPECT_FALSE(from_zstd_frame(frame, 1000));
  EXPECT_TRUE(from_zstd_frame(frame, 1001));
}

}  // namespace
}  // namespace spotter
