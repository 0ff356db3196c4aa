#include "store/series/block_codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

namespace spotter::store {
namespace {

SharedSchema schema_with(std::vector<StoredField> fields) {
  return std::make_shared<const Schema>(Schema{"t", false, std::move(fields)});
}

SharedSchema every_type() {
  return schema_with({{"host", Type::text, Unit::none, Role::key, Fold::last, ""},
                      {"gpu", Type::integer, Unit::none, Role::key, Fold::last, ""},
                      {"count", Type::integer, Unit::count, Role::counter, Fold::last, ""},
                      {"level", Type::real, Unit::ratio, Role::value, Fold::mean, ""},
                      {"is_up", Type::flag, Unit::none, Role::value, Fold::last, ""},
                      {"state", Type::text, Unit::none, Role::detail, Fold::last, ""}});
}

std::string cell_text(const Value& value) {
  if (const double* real = std::get_if<double>(&value)) return fmt::format("{:x}", std::bit_cast<u64>(*real));
  if (const i64* whole = std::get_if<i64>(&value)) return std::to_string(*whole);
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string_view>(&value)) return fmt::format("'{}'", *text);
  return "null";
}

// Rows by entity, then time: as the codec gives them back.
std::vector<std::string> rows_of(const Block& block) {
  std::vector<std::string> rows;
  for (const u32 row : group(block).rows) {
    std::string text = std::to_string(block.times[row]);
    for (size_t i = 0; i < block.columns.size(); ++i) text += ' ' + cell_text(block.at(row, i));
    rows.push_back(std::move(text));
  }
  return rows;
}

void expect_same(const Block& block) {
  const Result<std::string> bytes = encode(block);
  ASSERT_TRUE(bytes);
  const Result<Block> back = decode_block(*bytes, block.schema);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(rows_of(*back), rows_of(block));
}

class Random {
 public:
  explicit Random(u64 seed) : engine_(seed) {}
  u64 below(u64 limit) { return engine_() % limit; }
  i64 integer() {
    const i64 extremes[] = {0, -1, std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()};
    return below(4) == 0 ? extremes[below(4)] : static_cast<i64>(engine_()) >> below(64);
  }
  double real() {
    const double values[] = {0.0, -0.0, std::numeric_limits<double>::quiet_NaN(),
                             -std::numeric_limits<double>::infinity(), 0.25};
    return below(3) == 0 ? values[below(5)] : std::bit_cast<double>(engine_());
  }
  std::string text() { return std::string(below(4) * below(20), static_cast<char>('a' + below(3))); }
  Block block() {
    Block block(every_type());
    const u64 looks = 1 + below(40), entities = 1 + below(6), nulls = 1 + below(8);
    Ns time = integer() / 2;
    for (u64 look = 0; look < looks; ++look) {
      time += static_cast<Ns>(below(3'000'000'000)) - (below(20) == 0 ? 1'500'000'000 : 0);
      for (u64 entity = 0; entity < entities; ++entity) {
        if (below(10) == 0) continue;  // came or went
        const std::string host = fmt::format("host{}", entity % 2), state = text();
        std::vector<Value> row = {std::string_view(host), static_cast<i64>(entity), integer(), real(),
                                  below(2) == 0,          std::string_view(state)};
        for (size_t i = 1; i < row.size(); ++i) {
          if (below(nulls) == 0) row[i] = {};
        }
        block.append(time, row);
      }
    }
    return block;
  }

 private:
  std::mt19937_64 engine_;
};

TEST(BlockCodec, RandomBlocksComeBack) {
  for (u64 seed = 0; seed < 300; ++seed) expect_same(Random(seed).block());
}

TEST(BlockCodec, SmallBlocks) {
  expect_same(Block(every_type()));
  Block one(schema_with({{"x", Type::integer, Unit::none, Role::value, Fold::mean, ""}}));
  one.append(-5, std::vector<Value>{Value{i64{7}}});
  expect_same(one);
  one.append(-5, std::vector<Value>{Value{i64{8}}});  // the same entity at the same time
  expect_same(one);
}

TEST(BlockCodec, DecodesWhatIsWanted) {
  const Block block = Random(9).block();
  const std::string bytes = *encode(block);
  const Result<Block> back = decode_block(bytes, block.schema, [](size_t i) { return i == 2; });
  ASSERT_TRUE(back);
  ASSERT_GT(back->rows(), 0u);
  const u32 first = group(block).rows[0];
  EXPECT_EQ(cell_text(back->at(0, 0)), cell_text(block.at(first, 0)));  // a key
  EXPECT_EQ(cell_text(back->at(0, 2)), cell_text(block.at(first, 2)));
  EXPECT_TRUE(is_null(back->at(0, 3)));
}

TEST(BlockCodec, RefusesBlocksThatAreTooLarge) {
  Block block(schema_with({{"x", Type::text, Unit::none, Role::detail, Fold::last, ""}}));
  const std::string text(kMostBlockTexts + 1, 'x');
  block.append(0, std::vector<Value>{Value{std::string_view(text)}});
  const Result<std::string> bytes = encode(block);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, Code::invalid);
}

TEST(BlockCodec, DamagedBytesAreCorrupt) {
  const Block block = Random(11).block();
  const std::string bytes = *encode(block);
  EXPECT_FALSE(decode_block("", block.schema));
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(decode_block(std::string_view(bytes).substr(0, i), block.schema));
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    const Result<Block> back = decode_block(flipped, block.schema);  // the checksum sees it
    EXPECT_TRUE(!back || rows_of(*back) == rows_of(block)) << i;
  }
  // Other columns than it was made of.
  EXPECT_FALSE(
      decode_block(bytes, schema_with({{"x", Type::integer, Unit::none, Role::value, Fold::mean, ""}})));
}

}  // namespace
}  // namespace spotter::store
