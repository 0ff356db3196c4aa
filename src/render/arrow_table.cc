#include "render/arrow_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>

#include "base/text/utf8.h"
#include "base/version.h"
#include "render/json_text.h"

namespace spotter::render {
namespace {

static_assert(std::endian::native == std::endian::little, "the buffers are written as they lie in memory");

template <class T>
void put(ArrowBuffer& buffer, size_t place, T value) {
  std::memcpy(buffer.data() + place * sizeof value, &value, sizeof value);
}

void set_bit(ArrowBuffer& bits, size_t place) { bits[place / 8] |= static_cast<u8>(1 << place % 8); }

size_t bytes_of_bits(size_t bits) { return (bits + 7) / 8; }

// A table's words as UTF-8. Mended, two may be the same, which no dictionary should hold twice.
struct CleanWords {
  std::vector<std::string_view> texts;
  std::vector<u32> firsts;  // of each word the first one of the same text
  std::deque<std::string> mended;

  explicit CleanWords(std::span<const std::string> words) {
    for (const std::string& word : words) {
      firsts.push_back(static_cast<u32>(texts.size()));
      texts.push_back(is_valid_utf8(word) ? word : mended.emplace_back(to_valid_utf8(word)));
    }
    if (mended.empty()) return;
    std::unordered_map<std::string_view, u32> places;
    for (u32& word : firsts) word = places.try_emplace(texts[word], word).first->second;
  }
};

class ColumnBuilder {
 public:
  ColumnBuilder(const Table& table, size_t index, const CleanWords& words)
      : table_(table), index_(index), words_(words) {
    const Field& field = table.schema()[index];
    column_.name = to_valid_utf8(field.name);
    column_.type = field.type;
    column_.metadata = {{"spotter.unit", unit_name(field.unit)},
                        {"spotter.role", role_name(field.role)},
                        {"spotter.help", to_valid_utf8(field.help)}};
    column_.valid.resize(bytes_of_bits(table.rows()));
    column_.values.resize(bytes_of_bits(table.rows() * bits_of_cell()));
    if (field.type == Type::text) places_.assign(words.texts.size(), kNoPlace);
  }

  void append(size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      const Value value = table_.at(row, index_);
      if (is_null(value)) {
        ++column_.nulls;
        continue;
      }
      set_bit(column_.valid, row);
      if (const i64* whole = std::get_if<i64>(&value))
        put(column_.values, row, *whole);
      else if (const double* real = std::get_if<double>(&value))
        put(column_.values, row, *real);
      else if (std::holds_alternative<std::string_view>(value))
        put(column_.values, row, place_of(table_.word(row, index_)));
      else if (std::get<bool>(value))
        set_bit(column_.values, row);
    }
  }

  ArrowColumn finish(size_t most_short) {
    if (column_.nulls == 0) column_.valid = {};
    if (column_.type == Type::text) write_dictionary(most_short);
    return std::move(column_);
  }

 private:
  static constexpr i32 kNoPlace = -1;

  size_t bits_of_cell() const {
    return column_.type == Type::flag ? 1 : column_.type == Type::text ? 32 : 64;
  }

  i32 place_of(size_t word) {
    const u32 first = words_.firsts[word];
    i32& place = places_[first];
    if (place == kNoPlace) {
      place = static_cast<i32>(used_.size());
      used_.push_back(first);
    }
    return place;
  }

  void write_dictionary(size_t most_short) {
    size_t bytes = 0;
    for (const u32 word : used_) bytes += words_.texts[word].size();
    column_.words = static_cast<i64>(used_.size());
    column_.has_long_offsets = bytes > most_short;
    column_.text.reserve(bytes);
    const size_t offset_bytes = column_.has_long_offsets ? sizeof(i64) : sizeof(i32);
    column_.offsets.resize((used_.size() + 1) * offset_bytes);  // the first is 0
    for (size_t i = 0; i < used_.size(); ++i) {
      const std::string_view text = words_.texts[used_[i]];
      column_.text.insert(column_.text.end(), text.begin(), text.end());
      if (column_.has_long_offsets)
        put(column_.offsets, i + 1, static_cast<i64>(column_.text.size()));
      else
        put(column_.offsets, i + 1, static_cast<i32>(column_.text.size()));
    }
  }

  const Table& table_;
  const size_t index_;
  const CleanWords& words_;
  ArrowColumn column_;
  std::vector<i32> places_;  // of the table's words in the dictionary
  std::vector<u32> used_;    // the dictionary's words, as the table counts them
};

}  // namespace

SharedArrowTable arrow_table(const Table& table, const Notes& notes, size_t most_short) {
  const auto made = std::make_shared<ArrowTable>();
  made->rows = static_cast<i64>(table.rows());
  std::string json;
  append_json_notes(json, notes);
  made->metadata = {
      {"spotter.table", to_valid_utf8(table.name())}, {"spotter.version", kVersion}, {"spotter.notes", json}};

  const CleanWords words(table.words());
  std::vector<ColumnBuilder> builders;
  for (size_t c = 0; c < table.columns(); ++c) builders.emplace_back(table, c, words);
  constexpr size_t kBlock =
      1024;  // rows that stay in the processor's cache while all columns are taken of them
  for (size_t row = 0; row < table.rows(); row += kBlock) {
    for (ColumnBuilder& builder : builders) builder.append(row, std::min(row + kBlock, table.rows()));
  }
  for (ColumnBuilder& builder : builders) made->columns.push_back(builder.finish(most_short));
  return made;
}

}  // namespace spotter::render
