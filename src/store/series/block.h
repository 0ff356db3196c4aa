// Block: rows of one table over a span of time, in columns; what is stored at a time. It is built by append()
// or decoded (block_codec.h), then read. One thread.
#pragma once
#include <span>
#include <vector>

#include "base/text/strings.h"
#include "store/schema.h"

namespace spotter::store {

struct Column {
  std::vector<u64> cells;  // i64, bits of a double, 0 or 1, or id in `words`; 0 where null
  std::vector<u8> valid;   // 1: has a value
};

struct Block {
  explicit Block(SharedSchema of) : schema(std::move(of)), columns(schema->fields.size()) {}

  // Values in schema order, each null or of the column's type (an integer is accepted where a real is
  // wanted).
  void append(Ns time, std::span<const Value> row);
  size_t rows() const { return times.size(); }
  size_t cells() const { return times.size() * columns.size(); }
  // Null, too, where the column was not decoded. Texts live as long as the block.
  Value at(size_t row, size_t column) const;

  SharedSchema schema;
  std::vector<Ns> times;  // Unix time of each row, in any order
  std::vector<Column> columns;
  Strings words;
};

// What tells the entity of a row apart from all others of its table, in every block: its keys as bytes.
void append_entity(const Block& block, size_t row, std::string& out);

// The rows by entity, in order of first appearance, then by time; rows of equal entity and time stay in
// order.
struct Grouping {
  std::vector<u32> rows;
  std::vector<u32> begins;  // where in `rows` each entity begins, and the end

  size_t entities() const { return begins.size() - 1; }
  std::span<const u32> of(size_t entity) const {
    return std::span(rows).subspan(begins[entity], begins[entity + 1] - begins[entity]);
  }
};
Grouping group(const Block& block);

}  // namespace spotter::store
