// A table as Python holds it: constant. Its columns as Arrow lays them out are made when they are first asked
// for, and shared by all who look into them.
#pragma once
#include <memory>
#include <optional>
#include <utility>

#include "base/types.h"
#include "render/arrow_table.h"
#include "table/table.h"

namespace spotter::python {

class HeldTable {
 public:
  // `time_zero`: what positions in time are shown to people relative to.
  explicit HeldTable(Table table, std::optional<Ns> time_zero = {})
      : table_(std::move(table)), time_zero_(time_zero) {}

  const Table& table() const { return table_; }
  std::optional<Ns> time_zero() const { return time_zero_; }
  const render::SharedArrowTable& columns() const {
    if (!columns_) columns_ = render::arrow_table(table_, table_.notes);
    return columns_;
  }

 private:
  Table table_;
  std::optional<Ns> time_zero_;
  mutable render::SharedArrowTable columns_;
};

}  // namespace spotter::python
