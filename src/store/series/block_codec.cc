#include "store/series/block_codec.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/zstd_frame.h"
#include "store/series/series_codec.h"

namespace spotter::store {
namespace {

constexpr u8 kVersion = 1;
constexpr int kLevel =
    1;  // higher ones take more time and make nothing smaller: the series are packed already
constexpr size_t kMostBytes = size_t{64} << 20;  // of a block before zstd: more than its limits allow

void encode_cells(ByteWriter& out, Type type, std::span<const u64> cells) {
  if (type == Type::real) {
    std::vector<double> reals(cells.size());
    std::ranges::transform(cells, reals.begin(), [](u64 cell) { return std::bit_cast<double>(cell); });
    return encode_reals(out, reals);
  }
  std::vector<i64> integers(cells.size());
  std::ranges::transform(cells, integers.begin(), [](u64 cell) { return std::bit_cast<i64>(cell); });
  encode_integers(out, integers);
}

bool decode_cells(ByteReader& in, Type type, std::span<u64> cells) {
  if (type == Type::real) {
    std::vector<double> reals(cells.size());
    if (!decode_reals(in, reals)) return false;
    std::ranges::transform(reals, cells.begin(), [](double real) { return std::bit_cast<u64>(real); });
    return true;
  }
  std::vector<i64> integers(cells.size());
  if (!decode_integers(in, integers)) return false;
  std::ranges::transform(integers, cells.begin(), [](i64 cell) { return std::bit_cast<u64>(cell); });
  return true;
}

// The cells of `rows`, which are those of one entity.
void encode_series(ByteWriter& out, const Column& column, Type type, std::span<const u32> rows) {
  std::vector<u8> valid;
  std::vector<u64> cells;
  for (const u32 row : rows) {
    valid.push_back(column.valid[row]);
    if (column.valid[row]) cells.push_back(column.cells[row]);
  }
  encode_validity(out, valid);
  encode_cells(out, type, cells);
}

// The next rows of the column, from `begin`.
bool decode_series(ByteReader& in, Column& column, Type type, size_t begin, size_t count) {
  const auto valid = std::span(column.valid).subspan(begin, count);
  if (!decode_validity(in, valid)) return false;
  std::vector<u64> cells(static_cast<size_t>(std::ranges::count(valid, u8{1})));
  if (!decode_cells(in, type, cells)) return false;
  for (size_t i = 0, next = 0; i < count; ++i) column.cells[begin + i] = valid[i] ? cells[next++] : 0;
  return true;
}

// The distinct times, and of each row which of them it has.
void encode_times(ByteWriter& out, const Block& block, const Grouping& grouping) {
  std::vector<Ns> times = block.times;
  std::ranges::sort(times);
  times.erase(std::ranges::unique(times).begin(), times.end());
  out.varint(times.size());
  encode_integers(out, times);
  std::vector<i64> looks;
  for (size_t entity = 0; entity < grouping.entities(); ++entity) {
    looks.clear();
    for (const u32 row : grouping.of(entity))
      looks.push_back(std::ranges::lower_bound(times, block.times[row]) - times.begin());
    const bool at_all = looks.size() == times.size() && std::ranges::adjacent_find(looks) == looks.end();
    out.byte(at_all);
    if (!at_all) encode_integers(out, looks);
  }
}

bool decode_times(ByteReader& in, const Grouping& grouping, std::vector<Ns>& of_rows) {
  const u64 count = in.varint();
  if (!in.ok() || count > of_rows.size()) return false;
  std::vector<Ns> times(count);
  if (!decode_integers(in, times)) return false;
  std::vector<i64> looks;
  for (size_t entity = 0; entity < grouping.entities(); ++entity) {
    const size_t begin = grouping.begins[entity], rows = grouping.of(entity).size();
    const bool at_all = in.byte() != 0;
    looks.resize(rows);
    if (at_all ? rows != count : !decode_integers(in, looks)) return false;
    for (size_t i = 0; i < rows; ++i) {
      const u64 look = at_all ? i : static_cast<u64>(looks[i]);
      if (look >= count) return false;
      of_rows[begin + i] = times[look];
    }
  }
  return in.ok();
}

tl::unexpected<Error> damaged(const char* what) {
  return fail(Code::corrupt, "the block's {} are damaged", what);
}

// How many rows each entity has; the rows themselves stand one entity after the other.
Result<Grouping> decode_grouping(ByteReader& in, size_t columns) {
  const u64 rows = in.varint(), entities = in.varint();
  if (!in.ok() || rows > kMostBlockCells || rows * columns > kMostBlockCells || entities > rows)
    return damaged("numbers of rows");
  Grouping grouping{{}, {0}};
  std::vector<i64> counts(entities);
  if (!decode_integers(in, counts)) return damaged("numbers of rows");
  for (const i64 count : counts) {
    if (count < 1 || static_cast<u64>(count) > rows - grouping.begins.back())
      return damaged("numbers of rows");
    grouping.begins.push_back(grouping.begins.back() + static_cast<u32>(count));
  }
  if (grouping.begins.back() != rows) return damaged("numbers of rows");
  grouping.rows.resize(rows);  // of() gives their lengths
  return grouping;
}

// Of each text of the block: its id among `words`.
Result<std::vector<StringId>> decode_words(ByteReader& in, Strings& words) {
  std::vector<StringId> ids;
  const u64 count = in.varint();
  if (count > kMostBlockCells + 1) return damaged("texts");
  for (u64 i = 0; i < count && in.ok(); ++i) ids.push_back(words.intern(in.text()));
  if (!in.ok()) return damaged("texts");
  return ids;
}

// A key has one cell for all rows of its entity.
bool decode_key(ByteReader& in, Column& column, Type type, const Grouping& grouping) {
  const size_t entities = grouping.entities();
  Column keys{std::vector<u64>(entities), std::vector<u8>(entities)};
  if (!decode_series(in, keys, type, 0, entities)) return false;
  for (size_t entity = 0; entity < entities; ++entity) {
    for (size_t row = grouping.begins[entity]; row < grouping.begins[entity + 1]; ++row) {
      column.cells[row] = keys.cells[entity];
      column.valid[row] = keys.valid[entity];
    }
  }
  return true;
}

Result<void> decode_column(ByteReader in, Column& column, const StoredField& field, const Grouping& grouping,
                           std::span<const StringId> words) {
  column.cells.resize(grouping.rows.size());
  column.valid.resize(grouping.rows.size());
  if (field.role == Role::key) {
    if (!decode_key(in, column, field.type, grouping)) return damaged("keys");
  } else {
    for (size_t entity = 0; entity < grouping.entities(); ++entity) {
      if (!decode_series(in, column, field.type, grouping.begins[entity], grouping.of(entity).size()))
        return damaged("values");
    }
  }
  if (!in.at_end()) return damaged("columns");
  if (field.type != Type::text) return {};
  for (size_t row = 0; row < column.cells.size(); ++row) {
    if (!column.valid[row]) continue;
    if (column.cells[row] >= words.size()) return damaged("texts");
    column.cells[row] = words[column.cells[row]];
  }
  return {};
}

Result<void> decode_into(Block& block, ByteReader& in, const std::function<bool(size_t)>& wanted) {
  TRY_ASSIGN(const Grouping grouping, decode_grouping(in, block.columns.size()));
  block.times.resize(grouping.rows.size());
  if (!decode_times(in, grouping, block.times)) return damaged("times");
  TRY_ASSIGN(const std::vector<StringId> words, decode_words(in, block.words));
  for (size_t i = 0; i < block.columns.size(); ++i) {
    const StoredField& field = block.schema->fields[i];
    const std::string_view part = in.text();
    if (field.role != Role::key && wanted && !wanted(i)) continue;
    TRY(decode_column(ByteReader(part), block.columns[i], field, grouping, words));
  }
  if (!in.ok() || !in.at_end()) return damaged("columns");
  return {};
}

}  // namespace

Result<std::string> encode(const Block& block) {
  const Grouping grouping = group(block);
  ByteWriter out;
  out.byte(kVersion);
  out.varint(block.rows());
  out.varint(grouping.entities());
  std::vector<i64> counts;
  std::vector<u32> firsts;
  for (size_t entity = 0; entity < grouping.entities(); ++entity) {
    counts.push_back(std::ssize(grouping.of(entity)));
    firsts.push_back(grouping.of(entity).front());
  }
  encode_integers(out, counts);
  encode_times(out, block, grouping);
  out.varint(block.words.size());
  size_t text_bytes = 0;
  for (StringId id = 0; id < block.words.size(); ++id) {
    out.text(block.words[id]);
    text_bytes += block.words[id].size();
  }
  if (block.cells() > kMostBlockCells || text_bytes > kMostBlockTexts)
    return fail(Code::invalid, "{} rows of {} are more than a block holds", block.rows(),
                block.schema->table);
  ByteWriter part;
  for (size_t i = 0; i < block.columns.size(); ++i) {
    const StoredField& field = block.schema->fields[i];
    part.clear();
    if (field.role == Role::key) {
      encode_series(part, block.columns[i], field.type, firsts);
    } else {
      for (size_t entity = 0; entity < grouping.entities(); ++entity)
        encode_series(part, block.columns[i], field.type, grouping.of(entity));
    }
    out.text(part.out());
  }
  return zstd_frame(out.out(), kLevel);
}

Result<Block> decode_block(std::string_view bytes, SharedSchema schema,
                           const std::function<bool(size_t)>& wanted) {
  const std::optional<std::string> plain = from_zstd_frame(bytes, kMostBytes);
  if (!plain) return fail(Code::corrupt, "the block's zstd data is damaged");
  return decode_plain(*plain, std::move(schema), wanted);
}

Result<Block> decode_plain(std::string_view bytes, SharedSchema schema,
                           const std::function<bool(size_t)>& wanted) {
  ByteReader in(bytes);
  if (in.byte() != kVersion) return fail(Code::unsupported, "the block is of another version of Spotter");
  Block block(std::move(schema));
  TRY(decode_into(block, in, wanted));
  return block;
}

}  // namespace spotter::store
