#include "serve/token.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>

namespace spotter::serve {
namespace {

class TokenFile : public testing::Test {
 protected:
  Result<std::string> read(const std::string& text, mode_t mode = 0600) {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), mode);
    return read_token(path_);
  }
  ~TokenFile() override { ::unlink(path_.c_str()); }
  const std::string path_ = "/tmp/spotter_token_test." + std::to_string(::getpid());
};

TEST(Token, IsAnotherOneEachTime) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) seen.insert(random_token());
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(seen.begin()->size(), 32u);
  EXPECT_EQ(seen.begin()->find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(Token, Compared) {
  EXPECT_TRUE(is_same_token("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "abd", "xbc"})
    EXPECT_FALSE(is_same_token("abc", other)) << other;
}

TEST_F(TokenFile, FirstLine) {
  EXPECT_EQ(read("0123456789abcdef").value(), "0123456789abcdef");
  EXPECT_EQ(read("0123456789abcdef\nmore").value(), "0123456789abcdef");
}

TEST_F(TokenFile, Bad) {
  EXPECT_EQ(read("too short").error().code, Code::invalid);
  EXPECT_EQ(read("0123456789abcde f").error().code, Code::invalid);
  EXPECT_EQ(read(std::string(257, 'a')).error().code, Code::invalid);
  EXPECT_EQ(read("0123456789abcdef", 0640).error().code, Code::denied);
  EXPECT_EQ(read("0123456789abcdef", 0604).error().code, Code::denied);
  EXPECT_EQ(read_token(path_ + ".none").error().code, Code::not_found);
  EXPECT_EQ(read_token("/tmp").error().code, Code::invalid);
}

}  // namespace
}  // namespace spotter::serve
