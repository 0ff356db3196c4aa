#include "wire/file_part.h"

#include <gtest/gtest.h>

namespace spotter::wire {
namespace {

TEST(FilePart, ComesBackTheSame) {
  EXPECT_EQ(read_file_part(file_part_text(0)), 0);
  EXPECT_EQ(read_file_part(file_part_text(i64{5} << 30)), i64{5} << 30);
}

TEST(FilePart, IsNothingElse) {
  for (const char* text :
       {"", "bytes from ", "bytes from x", "bytes from -1", "bytes from 1 ", R"({"analyses": ["steps"]})"})
    EXPECT_EQ(read_file_part(text), std::nullopt) << text;
}

}  // namespace
}  // namespace spotter::wire
