#include "render/arrow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

namespace spotter::render {
namespace {

const Field kSchema[] = {
    {"rank", Type::integer, Unit::none, Role::key, "The rank."},
    {"name", Type::text, Unit::none, Role::key, "Its name."},
    {"busy_ratio", Type::real, Unit::ratio, Role::value, "Its share."},
    {"slow", Type::flag, Unit::none, Role::value, "Whether it is slow."},
    {"kind", Type::text, Unit::none, Role::detail, "Its kind."},
};

Table sample() {
  Table t("kernels", kSchema);
  t.append({INT64_MAX, "gemm", 0.5, true, "compute"});
  t.append({INT64_MIN, "bad \xff", Value(), false, "compute"});
  t.append({0, "bad \xfe", 1e300, true, "memory"});
  t.append({1, "", std::nan(""), Value(), Value()});
  return t;
}

Notes sample_notes() {
  Notes notes;
  notes.add("truncated", Severity::loss, "the file ends early", 12);
  return notes;
}

SharedArrowTable shared_sample() { return arrow_table(sample(), sample_notes()); }

template <class T>
T number(const void* buffer, i64 place) {
  T value;
  std::memcpy(&value, static_cast<const char*>(buffer) + place * static_cast<i64>(sizeof value),
              sizeof value);
  return value;
}

bool bit(const void* buffer, i64 place) {
  return static_cast<const u8*>(buffer)[place / 8] >> (place % 8) & 1;
}

template <class Offset = i32>
std::string_view word(const ArrowArray& dictionary, i64 place) {
  const auto begin = number<Offset>(dictionary.buffers[1], place),
             end = number<Offset>(dictionary.buffers[1], place + 1);
  return {static_cast<const char*>(dictionary.buffers[2]) + begin, static_cast<size_t>(end - begin)};
}

std::map<std::string, std::string> metadata_of(const ArrowSchema& schema) {
  std::map<std::string, std::string> all;
  const char* at = schema.metadata;
  const auto length = [&] { return number<i32>(std::exchange(at, at + sizeof(i32)), 0); };
  const auto text = [&] {
    const i32 bytes = length();
    return std::string(std::exchange(at, at + bytes), static_cast<size_t>(bytes));
  };
  for (i32 left = length(); left > 0; --left) {
    const std::string key = text();
    all[key] = text();
  }
  return all;
}

// What a stream gives, and gone with this.
struct Read {
  ArrowArrayStream stream;
  ArrowSchema schema = {};
  ArrowArray rows = {};

  explicit Read(SharedArrowTable table) : stream(arrow_stream(std::move(table))) {
    EXPECT_EQ(stream.get_schema(&stream, &schema), 0);
    EXPECT_EQ(stream.get_next(&stream, &rows), 0);
  }
  ~Read() {
    if (schema.release) schema.release(&schema);
    if (rows.release) rows.release(&rows);
    if (stream.release) stream.release(&stream);
  }
  const ArrowArray& column(i64 i) const { return *rows.children[i]; }
};

TEST(Arrow, Schema) {
  const Read read(shared_sample());
  EXPECT_STREQ(read.schema.format, "+s");
  ASSERT_EQ(read.schema.n_children, 5);
  const char* const formats[] = {"l", "i", "g", "b", "i"};
  for (i64 i = 0; i < 5; ++i) {
    const ArrowSchema& column = *read.schema.children[i];
    EXPECT_STREQ(column.name, kSchema[i].name);
    EXPECT_STREQ(column.format, formats[i]);
    EXPECT_EQ(column.flags, ARROW_FLAG_NULLABLE);
    EXPECT_EQ(column.dictionary != nullptr, kSchema[i].type == Type::text);
  }
  EXPECT_STREQ(read.schema.children[1]->dictionary->format, "u");
  EXPECT_EQ(metadata_of(*read.schema.children[2]),
            (std::map<std::string, std::string>{
                {"spotter.unit", "ratio"}, {"spotter.role", "value"}, {"spotter.help", "Its share."}}));
  auto metadata = metadata_of(read.schema);
  EXPECT_EQ(metadata["spotter.table"], "kernels");
  EXPECT_EQ(metadata["spotter.version"], SPOTTER_VERSION);
  EXPECT_EQ(
      metadata["spotter.notes"],
      "[\n{\"kind\":\"truncated\",\"severity\":\"loss\",\"count\":1,\"position\":12,\"scope\":\"\",\"scopes\":1,"
      "\"sentence\":\"the file ends early\"}]");
}

TEST(Arrow, Numbers) {
  const Read read(shared_sample());
  EXPECT_EQ(read.rows.length, 4);
  const ArrowArray &rank = read.column(0), &ratio = read.column(2);
  EXPECT_EQ(rank.null_count, 0);
  EXPECT_EQ(rank.buffers[0], nullptr);
  EXPECT_EQ(number<i64>(rank.buffers[1], 0), INT64_MAX);
  EXPECT_EQ(number<i64>(rank.buffers[1], 1), INT64_MIN);
  EXPECT_EQ(ratio.null_count, 1);
  EXPECT_EQ(number<u8>(ratio.buffers[0], 0), 0b1101);
  EXPECT_EQ(number<double>(ratio.buffers[1], 2), 1e300);
  EXPECT_TRUE(std::isnan(number<double>(ratio.buffers[1], 3)));
}

TEST(Arrow, Flags) {
  Table table("t", std::span(kSchema).subspan(3, 1));
  for (i64 i = 0; i < 2000; ++i) table.append({i % 7 == 0 ? Value() : Value(i % 3 == 0)});
  const Read read(arrow_table(table, {}));
  const ArrowArray& flags = read.column(0);
  EXPECT_EQ(flags.null_count, 286);
  for (i64 i = 0; i < 2000; ++i) {
    EXPECT_EQ(bit(flags.buffers[0], i), i % 7 != 0);
    EXPECT_EQ(bit(flags.buffers[1], i), i % 7 != 0 && i % 3 == 0);
  }
}

// Each column has its own words, each once, and as UTF-8.
TEST(Arrow, Texts) {
  const Read read(shared_sample());
  const ArrowArray &name = read.column(1), &kind = read.column(4);
  ASSERT_EQ(name.dictionary->length, 3);
  EXPECT_EQ(name.dictionary->null_count, 0);
  EXPECT_EQ(word(*name.dictionary, 0), "gemm");
  EXPECT_EQ(word(*name.dictionary, 1), "bad \uFFFD");
  EXPECT_EQ(word(*name.dictionary, 2), "");
  const i32 places[] = {0, 1, 1, 2};
  for (i64 i = 0; i < 4; ++i) EXPECT_EQ(number<i32>(name.buffers[1], i), places[i]);
  ASSERT_EQ(kind.dictionary->length, 2);
  EXPECT_EQ(word(*kind.dictionary, 1), "memory");
  EXPECT_EQ(number<i32>(kind.buffers[1], 2), 1);
  EXPECT_EQ(kind.null_count, 1);
}

TEST(Arrow, MuchTextHasLongOffsets) {
  const Read read(arrow_table(sample(), {}, 10));  // the names have 11 bytes, the kinds 13
  EXPECT_STREQ(read.schema.children[1]->dictionary->format, "U");
  EXPECT_EQ(word<i64>(*read.column(1).dictionary, 1), "bad \uFFFD");
  EXPECT_EQ(word<i64>(*read.column(4).dictionary, 1), "memory");
}

TEST(Arrow, NoRows) {
  const Read read(arrow_table(Table("t", kSchema), {}));
  ASSERT_EQ(read.rows.n_children, 5);
  EXPECT_EQ(read.rows.length, 0);
  EXPECT_EQ(read.column(1).dictionary->length, 0);
  EXPECT_EQ(number<i32>(read.column(1).dictionary->buffers[1], 0), 0);
  const Read nothing(arrow_table(Table(), {}));
  EXPECT_EQ(nothing.rows.n_children, 0);
}

TEST(Arrow, AStreamEnds) {
  Read read(shared_sample());
  ArrowArray end = {};
  end.release = read.rows.release;
  EXPECT_EQ(read.stream.get_next(&read.stream, &end), 0);
  EXPECT_EQ(end.release, nullptr);
  EXPECT_EQ(read.stream.get_last_error(&read.stream), nullptr);
}

// The shares of a table are those of the schema (1 and for each column 1, for its dictionary 1), of the rows
// alike, of the stream and of this test: who is released twice takes one too many, who is forgotten leaves
// one.
TEST(Arrow, EachLevelIsFreedOnce) {
  const SharedArrowTable table = shared_sample();
  constexpr long kLevels = 1 + 5 + 2;
  Read read(table);
  EXPECT_EQ(table.use_count(), 1 + 1 + 2 * kLevels);
  read.stream.release(&read.stream);
  EXPECT_EQ(read.stream.release, nullptr);
  EXPECT_EQ(table.use_count(), 1 + 2 * kLevels);
  read.schema.release(&read.schema);
  EXPECT_EQ(read.schema.release, nullptr);
  EXPECT_EQ(table.use_count(), 1 + kLevels);
  read.rows.release(&read.rows);
  EXPECT_EQ(read.rows.release, nullptr);
  EXPECT_EQ(table.use_count(), 1);
}

TEST(Arrow, AChildThatIsMovedOutOutlivesItsParentAndTheTable) {
  SharedArrowTable table = shared_sample();
  const std::weak_ptr<const ArrowTable> seen = table;
  ArrowArray name, words;
  {
    Read read(std::move(table));
    name = std::exchange(*read.rows.children[1], {});
    words = std::exchange(*name.dictionary, {});
  }
  EXPECT_EQ(seen.use_count(), 2);
  EXPECT_EQ(number<i32>(name.buffers[1], 3), 2);
  name.release(&name);
  EXPECT_EQ(seen.use_count(), 1);
  EXPECT_EQ(word(words, 0), "gemm");
  words.release(&words);
  EXPECT_TRUE(seen.expired());
}

TEST(Arrow, AnUnreadStreamFreesItsTable) {
  SharedArrowTable table = shared_sample();
  const std::weak_ptr<const ArrowTable> seen = table;
  ArrowArrayStream stream = arrow_stream(std::move(table));
  stream.release(&stream);
  EXPECT_TRUE(seen.expired());
}

}  // namespace
}  // namespace spotter::render
