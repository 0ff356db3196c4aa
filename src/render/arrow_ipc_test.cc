#include <arrow_format_generated.h>
#include <gtest/gtest.h>

#include "render/list.h"

namespace spotter::render {
namespace {

const Field kSchema[] = {
    {"rank", Type::integer, Unit::none, Role::key, "The rank."},
    {"name", Type::text, Unit::none, Role::key, "Its name."},
};

// What lies where is checked; what it means, tests/conformance/test_arrow.py asks those who read it.
struct Message {
  ipc::MessageHeader kind;
  const ipc::RecordBatch* batch;  // null: it has none
  std::string_view body;
};

constexpr size_t kAlignment = 64;

// The messages of a stream, whose end is what it ends with.
std::vector<Message> messages_of(std::string_view stream) {
  std::vector<Message> messages;
  for (size_t at = 0; at < stream.size();) {
    EXPECT_EQ(at % kAlignment, 0u);
    EXPECT_EQ(flatbuffers::ReadScalar<u32>(stream.data() + at), 0xFFFFFFFF);
    const auto length = flatbuffers::ReadScalar<u32>(stream.data() + at + 4);
    at += 8;
    if (length == 0) {
      EXPECT_EQ(at, stream.size());
      return messages;
    }
    const auto* metadata = reinterpret_cast<const u8*>(stream.data() + at);
    flatbuffers::Verifier verifier(metadata, length);
    EXPECT_TRUE(ipc::VerifyMessageBuffer(verifier));
    const ipc::Message& message = *ipc::GetMessage(metadata);
    at += length;
    EXPECT_EQ(at % kAlignment, 0u);
    const auto* dictionary = message.header_as_DictionaryBatch();
    messages.push_back({message.header_type(),
                        dictionary ? dictionary->data() : message.header_as_RecordBatch(),
                        stream.substr(at, static_cast<size_t>(message.body_length()))});
    at += static_cast<size_t>(message.body_length());
  }
  ADD_FAILURE() << "it does not end";
  return messages;
}

std::vector<ipc::MessageHeader> kinds_of(const std::vector<Message>& messages) {
  std::vector<ipc::MessageHeader> kinds;
  for (const Message& message : messages) kinds.push_back(message.kind);
  return kinds;
}

constexpr auto kSchemaKind = ipc::MessageHeader::Schema, kDictionary = ipc::MessageHeader::DictionaryBatch,
               kRows = ipc::MessageHeader::RecordBatch;

TEST(ArrowIpc, BuffersLieInTheirMessages) {
  Table table("t", kSchema);
  for (i64 i = 0; i < 100; ++i) table.append({i, i == 50 ? Value() : Value(i % 2 == 0 ? "even" : "odd")});
  const std::string stream = render(kArrow, {std::span(&table, 1), {}});
  const std::vector<Message> messages = messages_of(stream);
  ASSERT_EQ(kinds_of(messages), (std::vector{kSchemaKind, kDictionary, kRows}));
  const size_t lengths[][4] = {{}, {0, 12, 7}, {0, 800, 13, 400}};
  for (size_t m = 1; m < messages.size(); ++m) {
    const auto& buffers = *messages[m].batch->buffers();
    for (u32 i = 0; i < buffers.size(); ++i) {
      const auto begin = static_cast<size_t>(buffers.Get(i)->offset()),
                 length = static_cast<size_t>(buffers.Get(i)->length());
      EXPECT_EQ(begin % kAlignment, 0u);
      EXPECT_EQ(length, lengths[m][i]);
      EXPECT_LE(begin + length, messages[m].body.size());
    }
  }
  EXPECT_EQ(messages[1].body.substr(64, 7), "evenodd");
  EXPECT_EQ(messages[2].batch->nodes()->Get(1)->null_count(), 1);
  EXPECT_EQ(flatbuffers::ReadScalar<i64>(messages[2].body.data() + 99 * sizeof(i64)), 99);
}

TEST(ArrowIpc, NothingIsAStreamToo) {
  const Table empty("t", kSchema);
  EXPECT_EQ(kinds_of(messages_of(render(kArrow, {std::span(&empty, 1), {}}))),
            (std::vector{kSchemaKind, kDictionary, kRows}));
  EXPECT_EQ(kinds_of(messages_of(render(kArrow, {{}, {}}))), (std::vector{kSchemaKind, kRows}));
}

}  // namespace
}  // namespace spotter::render
