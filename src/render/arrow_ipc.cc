// The Arrow IPC stream format (Arrow columnar format 1.5, "Serialization and interprocess communication"):
// the schema, the dictionary of each column of text, the rows as one batch, and the end. Each message is
// 0xFFFFFFFF, the length of its metadata, the metadata (a flatbuffer of arrow_format.fbs), and its buffers;
// all begin at multiples of 64 bytes, so that a mapped file is read in place.
#include <arrow_format_generated.h>

#include <cstring>

#include "base/result.h"
#include "render/arrow_table.h"
#include "render/list.h"

namespace spotter::render {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr size_t kAlignment = 64;
constexpr u32 kContinuation = 0xFFFFFFFF;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void append_number(std::string& out, size_t number) {
  const auto short_number = static_cast<u32>(number);
  char bytes[sizeof short_number];
  std::memcpy(bytes, &short_number, sizeof bytes);
  out.append(bytes, sizeof bytes);
}

void pad(std::string& out) { out.resize(aligned(out.size())); }

// The buffers of a message, in the order of its columns.
struct Body {
  std::vector<ipc::FieldNode> nodes;
  std::vector<ipc::Buffer> places;
  std::vector<const ArrowBuffer*> buffers;
  size_t length = 0;

  void add(i64 rows, i64 nulls, std::initializer_list<const ArrowBuffer*> parts) {
    nodes.emplace_back(rows, nulls);
    for (const ArrowBuffer* part : parts) {
      places.emplace_back(static_cast<i64>(length), static_cast<i64>(part->size()));
      buffers.push_back(part);
      length += aligned(part->size());
    }
  }
};

template <class Header>
void append_message(std::string& out, FlatBufferBuilder& builder, Offset<Header> header,
                    const Body& body = {}) {
  constexpr ipc::MessageHeader kKind = ipc::MessageHeaderTraits<Header>::enum_value;
  builder.Finish(ipc::CreateMessage(builder, ipc::MetadataVersion::V5, kKind, header.Union(),
                                    static_cast<i64>(body.length)));
  constexpr size_t kPrefix = 8;
  const size_t metadata = aligned(kPrefix + builder.GetSize());
  out.reserve(out.size() + metadata + body.length);
  append_number(out, kContinuation);
  append_number(out, metadata - kPrefix);
  out.append(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  pad(out);
  for (const ArrowBuffer* buffer : body.buffers) {
    out.append(reinterpret_cast<const char*>(buffer->data()), buffer->size());
    pad(out);
  }
}

auto pairs_of(FlatBufferBuilder& builder, const ArrowMetadata& metadata) {
  std::vector<Offset<ipc::KeyValue>> pairs;
  for (const auto& [key, value] : metadata)
    pairs.push_back(ipc::CreateKeyValueDirect(builder, key.c_str(), value.c_str()));
  return builder.CreateVector(pairs);
}

std::pair<ipc::Type, Offset<void>> type_of(FlatBufferBuilder& builder, const ArrowColumn& column) {
  switch (column.type) {
    case Type::integer:
      return {ipc::Type::Int, ipc::CreateInt(builder, 64, true).Union()};
    case Type::real:
      return {ipc::Type::FloatingPoint, ipc::CreateFloatingPoint(builder, ipc::Precision::DOUBLE).Union()};
    case Type::flag:
      return {ipc::Type::Bool, ipc::CreateBool(builder).Union()};
    case Type::text:
      break;
  }
  if (column.has_long_offsets) return {ipc::Type::LargeUtf8, ipc::CreateLargeUtf8(builder).Union()};
  return {ipc::Type::Utf8, ipc::CreateUtf8(builder).Union()};
}

// A dictionary is called by the place of its column.
Offset<ipc::Field> field_of(FlatBufferBuilder& builder, const ArrowColumn& column, size_t place) {
  const auto [kind, type] = type_of(builder, column);
  Offset<ipc::DictionaryEncoding> dictionary;
  if (column.type == Type::text)
    dictionary =
        ipc::CreateDictionaryEncoding(builder, static_cast<i64>(place), ipc::CreateInt(builder, 32, true));
  return ipc::CreateField(builder, builder.CreateString(column.name), true, kind, type, dictionary,
                          builder.CreateVector(std::vector<Offset<ipc::Field>>()),
                          pairs_of(builder, column.metadata));
}

Offset<ipc::RecordBatch> batch_of(FlatBufferBuilder& builder, i64 rows, const Body& body) {
  return ipc::CreateRecordBatch(builder, rows, builder.CreateVectorOfStructs(body.nodes),
                                builder.CreateVectorOfStructs(body.places));
}

void append_schema(std::string& out, const ArrowTable& table) {
  FlatBufferBuilder builder;
  std::vector<Offset<ipc::Field>> fields;
  for (const ArrowColumn& column : table.columns) fields.push_back(field_of(builder, column, fields.size()));
  append_message(out, builder,
                 ipc::CreateSchema(builder, ipc::Endianness::Little, builder.CreateVector(fields),
                                   pairs_of(builder, table.metadata)));
}

void append_dictionary(std::string& out, const ArrowColumn& column, size_t place) {
  static const ArrowBuffer kAllValid;
  Body body;
  body.add(column.words, 0, {&kAllValid, &column.offsets, &column.text});
  FlatBufferBuilder builder;
  append_message(
      out, builder,
      ipc::CreateDictionaryBatch(builder, static_cast<i64>(place), batch_of(builder, column.words, body)),
      body);
}

void append_rows(std::string& out, const ArrowTable& table) {
  Body body;
  for (const ArrowColumn& column : table.columns)
    body.add(table.rows, column.nulls, {&column.valid, &column.values});
  FlatBufferBuilder builder;
  append_message(out, builder, batch_of(builder, table.rows, body), body);
}

std::string render_arrow(const Document& document, const TextStyle&) {
  CHECK(document.tables.size() <= 1);  // check_takes()
  const Table none;
  const Table& table = document.tables.empty() ? none : document.tables[0];
  const SharedArrowTable columns = arrow_table(table, document.notes);
  std::string out;
  append_schema(out, *columns);
  for (size_t i = 0; i < columns->columns.size(); ++i) {
    if (columns->columns[i].type == Type::text) append_dictionary(out, columns->columns[i], i);
  }
  append_rows(out, *columns);
  append_number(out, kContinuation);
  append_number(out, 0);
  return out;
}

}  // namespace

const Format kArrow = {.name = "arrow",
                       .help = "an Arrow IPC stream of one table, for pyarrow, Polars and DuckDB",
                       .ending = ".arrow",
                       .render = render_arrow,
                       .is_binary = true,
                       .most_tables = 1};

}  // namespace spotter::render
