#include "kineto/message.h"

#include <gtest/gtest.h>

#include <random>

namespace spotter::kineto {
namespace {

std::vector<u8> bytes_of(std::string_view hex) {
  std::vector<u8> bytes;
  std::string digits;
  for (const char c : hex) {
    if (c == ' ' || c == '\n') continue;
    digits += c;
    if (digits.size() < 2) continue;
    bytes.push_back(static_cast<u8>(std::stoi(digits, nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

Result<Message> decode_text(std::string_view text) {
  return decode({reinterpret_cast<const u8*>(text.data()), text.size()});
}

// A poll that a process of PyTorch sent.
constexpr std::string_view kPoll =
    "24 00 00 00 00 00 00 00 72 65 71 00 00 00 00 00"
    "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
    "00 00 00 00 00 00 00 00 02 00 00 00 05 00 00 00"
    "ea 16 b0 4c 02 00 00 00 c2 38 00 00 b8 38 00 00"
    "b7 38 00 00 40 10 00 00 29 10 00 00";

TEST(Message, ReadsAPoll) {
  const Result<Message> message = decode(bytes_of(kPoll));
  ASSERT_TRUE(message);
  const Poll& poll = std::get<Poll>(*message);
  EXPECT_EQ(poll.type, 2);
  EXPECT_TRUE(poll.takes_trace());
  EXPECT_EQ(poll.job_id, 9876543210);
  EXPECT_EQ(poll.pids, (std::vector<i32>{14530, 14520, 14519, 4160, 4137}));
  const std::vector<u8> wire = bytes_of(kPoll);
  EXPECT_EQ(encode(*message), std::string(wire.begin(), wire.end()));
}

TEST(Message, BusyIsTheSecondBit) {
  EXPECT_TRUE((Poll{3, 0, {}}.takes_trace()));
  EXPECT_FALSE((Poll{1, 0, {}}.takes_trace()));
  EXPECT_FALSE((Poll{0, 0, {}}.takes_trace()));
}

TEST(Message, APollWithoutPids) {
  const Result<Message> message = decode_text(encode(Poll{2, 7, {}}));
  ASSERT_TRUE(message);
  EXPECT_TRUE(std::get<Poll>(*message).pids.empty());
}

TEST(Message, ReadsARegistration) {
  const Result<Message> message = decode_text(encode(Registration{3, 4242, -1}));
  ASSERT_TRUE(message);
  const Registration& r = std::get<Registration>(*message);
  EXPECT_EQ(r.gpu, 3);
  EXPECT_EQ(r.pid, 4242);
  EXPECT_EQ(r.job_id, -1);
}

TEST(Message, RepliesHaveExactSizes) {
  const std::string empty = encode_config("");
  EXPECT_EQ(empty, std::string(8, '\0') + "req" + std::string(29, '\0'));
  const std::string text = "X=1\n", reply = encode_config(text);
  EXPECT_EQ(reply, std::string("\x04\0\0\0\0\0\0\0", 8) + "req" + std::string(29, '\0') + text);
  EXPECT_EQ(encode_count(258), std::string("\x04\0\0\0\0\0\0\0", 8) + "ctxt" + std::string(28, '\0') +
                                   std::string("\x02\x01\0\0", 4));
  EXPECT_EQ(encode_config(std::string(kMaxConfigBytes, 'a')).size(), kHeaderBytes + kMaxConfigBytes);
}

struct Bad {
  const char* what;
  std::string datagram;
};

std::string changed(std::string datagram, size_t at, std::string_view bytes) {
  return datagram.replace(at, bytes.size(), bytes);
}

std::vector<Bad> bad_datagrams() {
  const std::string poll = encode(Poll{2, 0, {1, 2}}), registration = encode(Registration{0, 1, 0});
  std::string short_poll = poll;
  short_poll.pop_back();
  return {
      {"nothing", ""},
      {"a short header", poll.substr(0, 39)},
      {"a header alone that promises a body", poll.substr(0, 40)},
      {"a body shorter than said", short_poll},
      {"a body longer than said", poll + "x"},
      {"a size of 2^60", changed(poll, 7, "\x10")},
      {"a size of 2^64-1", changed(poll, 0, std::string(8, '\xFF'))},
      {"an empty poll", std::string(8, '\0') + "req" + std::string(29, '\0')},
      {"an empty registration", std::string(8, '\0') + "ctxt" + std::string(28, '\0')},
      {"-1 pids", changed(poll, 44, "\xFF\xFF\xFF\xFF")},
      {"more pids than there are", changed(poll, 44, "\x03")},
      {"fewer pids than there are", changed(poll, 44, "\x01")},
      {"100,000,000 pids", changed(poll, 44, std::string("\x00\xE1\xF5\x05", 4))},
      {"too many pids", encode(Poll{2, 0, std::vector<i32>(kMaxPids + 1, 1)})},
      {"a kind that is not known", changed(poll, 8, "data")},
      {"a kind without an end", changed(poll, 8, std::string(32, 'r'))},
      {"no kind", changed(poll, 8, std::string(3, '\0'))},
      {"a poll's body as a registration", changed(poll, 8, "ctxt")},
      {"a long registration", changed(registration + "x", 0, "\x11")},
  };
}

TEST(Message, RefusesWhatNoClientSends) {
  for (const Bad& bad : bad_datagrams()) {
    const Result<Message> message = decode_text(bad.datagram);
    ASSERT_FALSE(message) << bad.what;
    EXPECT_EQ(message.error().code, Code::invalid) << bad.what;
  }
}

TEST(Message, AnyBytesAreReadOrRefused) {
  std::mt19937 random(1);
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string datagram = encode(Poll{2, 5, std::vector<i32>(random() % 5, 9)});
    for (unsigned changes = static_cast<unsigned>(random() % 3); changes > 0; --changes)
      datagram[random() % datagram.size()] = static_cast<char>(random());
    const Result<Message> message = decode_text(datagram);
    read += message.has_value();
    EXPECT_TRUE(!message || decode_text(encode(*message)));
  }
  EXPECT_GT(read, 5000);
}

}  // namespace
}  // namespace spotter::kineto
