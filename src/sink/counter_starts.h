// CounterStarts: since when each counter counts. One that was there when a table was first looked at counts
// since the beginning that its column has (Field::since); one that appears later, or is smaller than before,
// since the look before. One thread; batches of a table in their order.
#pragma once
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/types.h"

namespace spotter::sink {

class CounterStarts {
 public:
  // A look of somebody at the rows of a table: begin(), of_row() for each row, end(). What he does not look
  // at any more is forgotten. `beginnings`: of the columns of counters, in the order of `values`.
  void begin(const std::string& by, const std::string& table, Ns now, std::vector<Ns> beginnings);
  // `values`: of the row's counters, in the same order each time; nan where there is none. `key` tells rows
  // apart.
  std::span<const Ns> of_row(const std::string& key, std::span<const double> values);
  void end();

 private:
  struct Row {
    std::vector<double> values;  // the last ones
    std::vector<Ns> starts;
  };
  struct TableState {
    bool is_first = true;
    Ns last = 0;  // look
    std::unordered_map<std::string, Row> rows;
  };

  std::map<std::pair<std::string, std::string>, TableState> tables_;  // by who looks, and name
  TableState* table_ = nullptr;                                       // that is looked at
  Ns now_ = 0;
  std::vector<Ns> beginnings_;
  std::unordered_map<std::string, Row> looked_at_;
};

}  // namespace spotter::sink
