#include "store/series/block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

namespace spotter::store {
namespace {

u64 cell_of(Strings& words, Type type, const Value& value) {
  if (const i64* whole = std::get_if<i64>(&value))
    return std::bit_cast<u64>(type == Type::real ? std::bit_cast<i64>(static_cast<double>(*whole)) : *whole);
  if (const double* real = std::get_if<double>(&value)) return std::bit_cast<u64>(*real);
  if (const bool* flag = std::get_if<bool>(&value)) return *flag;
  return words.intern(std::get<std::string_view>(value));
}

}  // namespace

void Block::append(Ns time, std::span<const Value> row) {
  CHECK(row.size() == columns.size());
  times.push_back(time);
  for (size_t i = 0; i < row.size(); ++i) {
    const bool valid = !is_null(row[i]);
    columns[i].cells.push_back(valid ? cell_of(words, schema->fields[i].type, row[i]) : 0);
    columns[i].valid.push_back(valid);
  }
}

Value Block::at(size_t row, size_t column) const {
  const Column& data = columns[column];
  if (data.cells.empty() || !data.valid[row]) return {};
  const u64 cell = data.cells[row];
  switch (schema->fields[column].type) {
    case Type::integer:
      return std::bit_cast<i64>(cell);
    case Type::real:
      return std::bit_cast<double>(cell);
    case Type::flag:
      return cell != 0;
    case Type::text:
      return words[static_cast<StringId>(cell)];
  }
  return {};
}

void append_entity(const Block& block, size_t row, std::string& out) {
  const auto add = [&](u64 number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    out.append(bytes, sizeof number);
  };
  for (size_t i = 0; i < block.columns.size(); ++i) {
    const StoredField& field = block.schema->fields[i];
    if (field.role != Role::key) continue;
    const Column& column = block.columns[i];
    const bool valid = !column.cells.empty() && column.valid[row];
    out.push_back(valid ? static_cast<char>(1 + static_cast<int>(field.type)) : '\0');
    if (!valid) continue;
    if (field.type == Type::text) {
      const std::string_view word = block.words[static_cast<StringId>(column.cells[row])];
      add(word.size());
      out += word;
    } else {
      add(column.cells[row]);
    }
  }
}

Grouping group(const Block& block) {
  const auto rows = static_cast<u32>(block.rows());
  std::unordered_map<std::string, u32> entity_of;
  std::vector<u32> entities(rows), counts;
  std::string key;
  for (u32 row = 0; row < rows; ++row) {
    key.clear();
    append_entity(block, row, key);
    const auto [it, is_new] = entity_of.try_emplace(key, static_cast<u32>(counts.size()));
    if (is_new) counts.push_back(0);
    entities[row] = it->second;
    ++counts[it->second];
  }

  Grouping grouping{std::vector<u32>(rows), {0}};
  for (const u32 count : counts) grouping.begins.push_back(grouping.begins.back() + count);
  std::vector<u32> next(grouping.begins.begin(), grouping.begins.end() - 1);
  for (u32 row = 0; row < rows; ++row) grouping.rows[next[entities[row]]++] = row;
  const auto by_time = [&](u32 row) { return std::pair(block.times[row], row); };
  for (size_t i = 0; i < grouping.entities(); ++i) {
    const std::span<u32> own(grouping.rows.data() + grouping.begins[i], grouping.of(i).size());
    if (!std::ranges::is_sorted(own, {}, by_time)) std::ranges::sort(own, {}, by_time);
  }
  return grouping;
}

}  // namespace spotter::store
