#include "base/gzip_writer.h"

#include <gtest/gtest.h>
#include <libdeflate.h>

#include <random>

#include "base/types.h"

namespace spotter {
namespace {

std::string inflated(const std::string& packed, size_t size) {
  std::string text(size + 1, '\0');
  size_t got = 0;
  libdeflate_decompressor* d = libdeflate_alloc_decompressor();
  const auto result =
      libdeflate_gzip_decompress(d, packed.data(), packed.size(), text.data(), text.size(), &got);
  libdeflate_free_decompressor(d);
  EXPECT_EQ(result, LIBDEFLATE_SUCCESS);
  text.resize(got);
  return text;
}

TEST(GzipWriter, AnotherProgramReadsItBack) {
  std::mt19937 random(1);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{300'000}, size_t{3'000'000}}) {
    std::string text, packed;
    GzipWriter writer([&](std::span<const char> bytes) -> Result<void> {
      packed.append(bytes.data(), bytes.size());
      return {};
    });
    while (text.size() < size) {
      std::string piece(1 + random() % 70'000, 'x');
      // Half of it does not shrink.
      for (char& c : piece) c = static_cast<char>(size % 2000 ? random() : 'a' + random() % 3);
      piece.resize(std::min(piece.size(), size - text.size()));
      text += piece;
      ASSERT_TRUE(writer.write(piece));
    }
    ASSERT_TRUE(writer.finish());
    EXPECT_TRUE(inflated(packed, size) == text) << size;
  }
}

TEST(GzipWriter, AFailureOfTheSinkIsPassedOn) {
  GzipWriter writer([](std::span<const char>) -> Result<void> { return fail(Code::io, "full"); });
  const Result<void> done = writer.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "full");
}

TEST(GzipWriter, AtOnce) {
  const std::string text(10'000, 'x');
  EXPECT_EQ(inflated(gzipped(text).value(), text.size()), text);
}

TEST(GzipWriter, AndBack) {
  std::mt19937 random(2);
  for (const size_t size : {0, 1, 1000, 1 << 20, 3'000'000}) {
    std::string text(size, ' ');
    for (char& c : text) c = static_cast<char>(random() % 7 + 'a');
    const std::string packed = gzipped(text).value();
    EXPECT_TRUE(gunzipped(packed).value() == text) << size;
    EXPECT_FALSE(gunzipped(packed.substr(0, packed.size() / 2))) << size;
  }
  EXPECT_FALSE(gunzipped(""));
  EXPECT_FALSE(gunzipped("no gzip at all"));
}

TEST(GzipWriter, PacksForSizeWhatIsReadBackTheSame) {
  std::string planes;  // of one kind after the other
  for (unsigned i = 0; i < 60'000; ++i)
    planes += static_cast<char>(i < 30'000 ? i * i % 7 : 200 + (i * 2654435761u >> 28));
  const auto fast = gzipped(planes), small = gzipped(planes, GzipWriter::For::size);
  ASSERT_TRUE(fast && small);
  EXPECT_LT(small->size(), fast->size());
  EXPECT_EQ(gunzipped(*small).value(), planes);
  EXPECT_EQ(gunzipped(gzipped("", GzipWriter::For::size).value()).value(), "");
}

}  // namespace
}  // namespace spotter
