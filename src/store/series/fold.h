// RowFolder: makes the rows of a coarser step from finer ones: one for each entity and step (aligned to Unix
// time) in which there were any. A row has the time of the last one that it stands for, so that the rate of a
// counter is exact.
#pragma once
#include <functional>
#include <unordered_map>

#include "store/series/block.h"

namespace spotter::store {

// The step or window that a time is in; also for times before 1970.
inline i64 window_of(Ns time, Ns length) { return time / length - (time % length < 0); }

class RowFolder {
 public:
  using Sink = std::function<void(Ns time, std::span<const Value> row)>;  // of folding.target

  RowFolder(Folding folding, Ns step, Sink sink)
      : folding_(std::move(folding)), step_(step), sink_(std::move(sink)) {}

  // Blocks of one schema in the order of time, which is that in which they were written.
  void add(const Block& block);
  void finish();  // gives the rows of the steps that were open

 private:
  struct Cell {
    Value last, least, most;  // null: none was told
    double sum = 0;
    i64 count = 0;
  };
  struct Open {
    i64 step = 0;
    Ns last_time = 0;
    std::vector<Cell> cells;  // of the target
  };
  void add_row(const Block& block, size_t row, Open& open);
  void add_value(Cell& cell, Value value);
  void emit(Open& open);

  Folding folding_;
  Ns step_;
  Sink sink_;
  std::unordered_map<std::string, Open> open_;  // by entity
  Strings words_;                               // what texts of cells point into
};

// What was folded of a few blocks, at once.
Block folded(std::span<const Block> blocks, Ns step);

}  // namespace spotter::store
