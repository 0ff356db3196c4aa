// Merge: the rows of blocks of one table, which may be of several versions of it, as one table.
#pragma once
#include <string>
#include <vector>

#include "store/series/block.h"
#include "table/table.h"

namespace spotter::store {

class Merge {
 public:
  // `is_events`: no column time_ns in front.
  Merge(std::string name, bool is_events) : name_(std::move(name)), is_events_(is_events) {}

  // Schemas first, the newest first, with the columns that are wanted; then rows.
  void add_schema(const Schema& schema, const std::vector<bool>& wanted);
  void add_row(const Block& block, size_t row);
  size_t cells() const { return rows_ ? rows_->cells() : 0; }
  Table finish();  // by key, then time

  Notes notes;

 private:
  void add_column(const StoredField& field);
  void map_columns(const Schema& schema);

  std::string name_;
  bool is_events_;
  Schema schema_;  // of all versions, without time_ns
  std::unique_ptr<Block> rows_;
  SharedSchema mapped_;          // that of the last row
  std::vector<size_t> columns_;  // where in a block of it each column is; kNowhere
};

}  // namespace spotter::store
