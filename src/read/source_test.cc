#include "read/source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "read/test_read.h"

namespace spotter::read {
namespace {

std::string gzip(std::string_view text, int level = 6) {
  libdeflate_compressor* c = libdeflate_alloc_compressor(level);
  std::string out(libdeflate_gzip_compress_bound(c, text.size()), '\0');
  out.resize(libdeflate_gzip_compress(c, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(c);
  return out;
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* c = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(c, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(c);
  return out;
}

// Text that repeats itself now and then, as traces do.
std::string some_text(size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < size) {
    if (text.size() > 100 && random() % 3) {
      const size_t from = random() % (text.size() - 50);
      text.append(text, from, random() % 300);
    } else {
      for (unsigned n = static_cast<u32>(random()) % 20; n > 0; n--)
        text += static_cast<char>(' ' + random() % 90);
    }
  }
  text.resize(size);
  return text;
}

struct Got {
  std::string text, notes, error;
  bool operator==(const Got&) const = default;
};
void PrintTo(const Got& g, std::ostream* out) {
  *out << g.text.size() << " bytes '" << g.text.substr(0, 40) << "', notes '" << g.notes << "', error '"
       << g.error << "'";
}

// Everything the source of this path gives, in pieces of `piece` bytes.
Got read_path(const std::string& path, size_t piece) {
  Got got;
  const Result<std::unique_ptr<RawInput>> input = RawInput::open(path);
  if (!input) return {"", "", input.error().message};
  const Result<std::unique_ptr<Source>> source = open_source(**input);
  if (!source) return {"", "", source.error().message};
  Notes notes;
  std::string buffer(piece, '\0');
  while (true) {
    const Result<size_t> n = (*source)->read(buffer, notes);
    if (!n) return {"", "", n.error().message};
    got.text.append(buffer, 0, *n);
    if (*n < piece) break;
  }
  EXPECT_EQ((*source)->read(buffer, notes).value(), 0u) << "there is more behind the end";
  for (const Note& note : notes.all()) got.notes += note.kind + " ";
  return got;
}

Got read_bytes(std::string_view bytes, size_t piece = 4096) {
  return read_path(TemporaryFile(bytes).path(), piece);
}

// The same bytes through a pipe that hands out `packet` of them at a time.
Got read_piped(std::string_view bytes, size_t packet, size_t piece = 4096) {
  ::signal(SIGPIPE, SIG_IGN);  // a source may end before its input does
  int ends[2];
  CHECK(::pipe2(ends, O_DIRECT | O_CLOEXEC) == 0);
  std::thread writer([&, fd = ends[1]] {
    for (size_t at = 0; at < bytes.size(); at += packet) {
      const std::string_view part = bytes.substr(at, packet);
      if (::write(fd, part.data(), part.size()) < 0) break;
    }
    ::close(fd);
  });
  Got got = read_path(fmt::format("/dev/fd/{}", ends[0]), piece);
  ::close(ends[0]);
  writer.join();
  return got;
}

TEST(Source, PlainText) {
  for (const size_t size : {1u, 1000u, 262'143u, 262'144u, 262'145u, 1'000'000u}) {
    const std::string text = some_text(size);
    EXPECT_EQ(read_bytes(text), (Got{text, "", ""})) << size;
  }
  EXPECT_EQ(read_piped("some text", 1, 3), (Got{"some text", "", ""}));
}

TEST(Source, GzipOfEverySort) {
  for (const int level : {0, 1, 6, 12}) {
    for (const size_t size : {0u, 1u, 40u, 5000u, 300'000u, 2'000'000u}) {
      const std::string text = some_text(size);
      EXPECT_EQ(read_bytes(gzip(text, level), 100'000), (Got{text, "", ""})) << size << " at level " << level;
    }
  }
}

// However much is asked for and however little comes in: inflating may stop anywhere.
TEST(Source, GzipInPieces) {
  const std::string texts[] = {std::string(1500, 'a'), some_text(1500),
                               std::string(700, 'x') + some_text(60) + std::string(700, 'y')};
  for (const std::string& text : texts) {
    for (const int level : {1, 12}) {
      const std::string packed = gzip(text, level);
      for (size_t piece = 1; piece < 1600; piece += piece < 40 ? 1 : 13) {
        ASSERT_EQ(read_bytes(packed, piece), (Got{text, "", ""})) << piece;
      }
      for (size_t packet = 1; packet < 40; packet++) {
        for (const size_t piece : {1u, 7u, 258u, 1499u, 1500u, 1501u}) {
          ASSERT_EQ(read_piped(packed, packet, piece), (Got{text, "", ""})) << packet << " " << piece;
        }
      }
    }
  }
}

TEST(Source, GzipMembers) {
  std::string packed, text;
  for (unsigned i = 0; i < 40; i++) {
    const std::string part = some_text(i % 5 == 0 ? 0 : i * 100, i);
    packed += gzip(part, i % 2 ? 6 : 1);
    text += part;
  }
  EXPECT_EQ(read_bytes(packed), (Got{text, "", ""}));
  for (const size_t packet : {1u, 9u, 17u, 18u, 19u, 1000u}) {
    EXPECT_EQ(read_piped(packed, packet), (Got{text, "", ""})) << packet;
  }
  // Padding, as tapes and blocks have it, and other things behind the last member.
  EXPECT_EQ(read_bytes(packed + std::string(1000, '\0')), (Got{text, "", ""}));
  EXPECT_EQ(read_bytes(packed + "signature"), (Got{text, "gzip_trailer ", ""}));
  EXPECT_EQ(read_bytes(packed + "\x1F"), (Got{text, "truncated_gzip ", ""}));
  EXPECT_EQ(read_piped(packed + "\x1F\x8B", 1), (Got{text, "truncated_gzip ", ""}));
}

TEST(Source, GzipHeaderWithEveryField) {
  const std::string text = some_text(3000), plain = gzip(text);
  const std::string body = plain.substr(10);
  std::string header("\x1F\x8B\x08\x1C\x01\x02\x03\x04\x02\x03", 10);
  header += std::string("\x05\x00hello", 7) + "name.json" + '\0' + "a comment" + '\0';
  EXPECT_EQ(read_bytes(header + body), (Got{text, "", ""}));
  std::string with_crc = header;
  with_crc[3] |= 2;
  const u32 crc = libdeflate_crc32(0, with_crc.data(), with_crc.size());
  with_crc += {static_cast<char>(crc), static_cast<char>(crc >> 8)};
  EXPECT_EQ(read_bytes(with_crc + body), (Got{text, "", ""}));
  for (size_t packet = 1; packet < 30; packet++) {
    EXPECT_EQ(read_piped(plain + header + body, packet), (Got{text + text, "", ""})) << packet;
    EXPECT_EQ(read_piped(with_crc + body, packet), (Got{text, "", ""})) << packet;
  }
}

// A cut file gives all the text that it can, and says that it is cut.
TEST(Source, GzipCutAnywhere) {
  const std::string text = some_text(4000), packed = gzip(text);
  size_t last = 0;
  for (size_t size = 2; size < packed.size(); size++) {
    const Got got = read_bytes(packed.substr(0, size));
    ASSERT_EQ(got.notes, "truncated_gzip ") << size;
    ASSERT_TRUE(text.starts_with(got.text)) << size;
    ASSERT_GE(got.text.size(), last) << size;
    last = got.text.size();
  }
  EXPECT_EQ(last, text.size());
}

TEST(Source, GzipWithAWrongByte) {
  const std::string text = some_text(3000), packed = gzip(text);
  size_t told = 0;
  for (size_t at = 2; at < packed.size(); at++) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << at % 8);
    const Got got = read_bytes(damaged);
    // Some bytes of the header mean nothing: time, system.
    ASSERT_TRUE(got.text == text || !got.notes.empty()) << at;
    told += !got.notes.empty();
    for (const size_t piece : {1u, 100u, 1000u}) {
      if (at % 5 == 0) {
        ASSERT_EQ(read_bytes(damaged, piece), got) << at;
      }
    }
  }
  EXPECT_GE(told, packed.size() - 12);
  std::string crc = packed, length = packed;
  crc[packed.size() - 6] ^= 1;
  length[packed.size() - 2] ^= 1;
  EXPECT_EQ(read_bytes(crc), (Got{text, "gzip_checksum ", ""}));
  EXPECT_FALSE(read_bytes(length).notes.empty());
}

TEST(Source, Zstd) {
  for (const size_t size : {0u, 1u, 5000u, 1'000'000u}) {
    const std::string text = some_text(size);
    EXPECT_EQ(read_bytes(zstd(text), 100'000), (Got{text, "", ""})) << size;
  }
  const std::string text = std::string(700, 'x') + some_text(500), packed = zstd(text);
  for (size_t piece = 1; piece < 1300; piece += piece < 40 ? 1 : 13) {
    ASSERT_EQ(read_bytes(packed, piece), (Got{text, "", ""})) << piece;
  }
  for (size_t packet = 1; packet < 40; packet++) {
    ASSERT_EQ(read_piped(packed, packet, 100), (Got{text, "", ""})) << packet;
  }
}

TEST(Source, ZstdMayBeginWithAFrameToSkip) {
  const std::string skipped = std::string("\x5A\x2A\x4D\x18\x03\0\0\0", 8) + "abc";
  EXPECT_EQ(read_bytes(skipped + zstd("some text")), (Got{"some text", "", ""}));
}

// Whoever waits for a pipe can be told to stop.
TEST(Source, WaitingCanBeCancelled) {
  int ends[2];
  CHECK(::pipe2(ends, O_CLOEXEC) == 0);
  std::atomic<bool> cancelled = false;
  const auto input = RawInput::open(fmt::format("/dev/fd/{}", ends[0]), &cancelled);
  ASSERT_TRUE(input);
  std::thread later([&] { cancelled = true; });
  const auto got = (*input)->peek();
  later.join();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::cancelled);
  ::close(ends[0]);
  ::close(ends[1]);
}

// The writer of a named pipe may come later than its reader.
TEST(Source, APipeWaitsForItsWriter) {
  const TemporaryFile file("");
  const std::string pipe = file.path() + ".pipe";
  CHECK(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const int fd = ::open(pipe.c_str(), O_WRONLY | O_CLOEXEC);
    CHECK(::write(fd, "some text", 9) == 9);
    ::close(fd);
  });
  EXPECT_EQ(read_path(pipe, 100), (Got{"some text", "", ""}));
  writer.join();
  ::unlink(pipe.c_str());
}

TEST(Source, ZstdFrames) {
  const std::string skippable("\x51\x2A\x4D\x18\x03\x00\x00\x00xyz", 11);
  std::string packed, text;
  for (unsigned i = 0; i < 20; i++) {
    const std::string part = some_text(i % 5 == 0 ? 0 : i * 100, i);
    packed += zstd(part) + (i % 3 ? "" : skippable);
    text += part;
  }
  EXPECT_EQ(read_bytes(packed), (Got{text, "", ""}));
  EXPECT_EQ(read_bytes(packed, 1), (Got{text, "", ""}));
  EXPECT_EQ(read_bytes(packed + "trailer"), (Got{text, "corrupt_zstd ", ""}));
  EXPECT_EQ(read_bytes(packed + std::string(70'000, '\0')), (Got{text, "", ""}));
}

TEST(Source, ZstdCutAnywhere) {
  const std::string text = some_text(4000), packed = zstd(text);
  for (size_t size = 4; size < packed.size(); size++) {
    const Got got = read_bytes(packed.substr(0, size));
    ASSERT_EQ(got.notes, "truncated_zstd ") << size;
    ASSERT_TRUE(text.starts_with(got.text)) << size;
  }
}

TEST(Source, ZstdWithAWrongByte) {
  const std::string text = some_text(3000), packed = zstd(text);
  for (size_t at = 4; at < packed.size(); at++) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << at % 8);
    const Got got = read_bytes(damaged);
    ASSERT_TRUE(got.text == text || !got.notes.empty()) << at;
  }
}

TEST(Source, OtherFiles) {
  const std::pair<std::string, const char*> others[] = {
      {"", "empty"},
      {"PK\x03\x04....", "zip"},
      {"\xFD"
       "7zXZ",
       "xz file"},
      {"BZh9", "bzip2"},
      {"SQLite format 3", "SQLite"},
      {"\x7F"
       "ELF",
       "program"},
      {"%PDF-1.4", "PDF"},
      {"\x80\x04", "pickle"},
      {std::string("\xFF\xFE\0\0{", 5), "UTF-32"},
      {std::string("\0\0\xFE\xFF{", 5), "UTF-32"},
      {std::string("\xFF\xFE{", 3), "UTF-16"},
      {"\xFE\xFF{", "UTF-16"},
  };
  for (const auto& [bytes, word] : others)
    EXPECT_NE(read_bytes(bytes).error.find(word), std::string::npos) << word;
  EXPECT_EQ(read_bytes("PK"), (Got{"PK", "", ""}));
  EXPECT_EQ(read_bytes("\x1F"), (Got{"\x1F", "", ""}));
}

TEST(RawInputTest, Errors) {
  const TemporaryFile file("x");
  EXPECT_EQ(RawInput::open(file.path() + ".not").error().code, Code::not_found);
  EXPECT_EQ(RawInput::open(file.folder()).error().code, Code::invalid);
  EXPECT_EQ(RawInput::open(file.path() + "/x").error().code, Code::io);
}

TEST(RawInputTest, Denied) {
  const TemporaryFile file("x");
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  std::filesystem::permissions(file.path(), std::filesystem::perms::none);
  EXPECT_EQ(RawInput::open(file.path()).error().code, Code::denied);
}

TEST(RawInputTest, CountsWhatItReads) {
  const TemporaryFile file(some_text(600'000));
  const Result<std::unique_ptr<RawInput>> input = RawInput::open(file.path());
  ASSERT_TRUE(input);
  EXPECT_EQ((*input)->bytes_read(), 0);
  i64 sum = 0;
  while (true) {
    const std::span<const u8> bytes = (*input)->peek().value();
    EXPECT_EQ((*input)->peek().value().data(), bytes.data()) << "looking twice changes nothing";
    if (bytes.empty()) break;
    sum += static_cast<i64>(bytes.size());
    EXPECT_EQ((*input)->bytes_read(), sum);
    (*input)->use(bytes.size());
  }
  EXPECT_EQ(sum, 600'000);
}

}  // namespace
}  // namespace spotter::read
