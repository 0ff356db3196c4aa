#include "sink/counter_starts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace spotter::sink {

void CounterStarts::begin(const std::string& by, const std::string& table, Ns now,
                          std::vector<Ns> beginnings) {
  table_ = &tables_[{by, table}];
  now_ = now;
  beginnings_ = std::move(beginnings);
  looked_at_.clear();
}

std::span<const Ns> CounterStarts::of_row(const std::string& key, std::span<const double> values) {
  Row row;
  if (const auto known = table_->rows.find(key); known != table_->rows.end()) row = std::move(known->second);
  row.values.resize(values.size(), std::numeric_limits<double>::quiet_NaN());
  for (size_t i = row.starts.size(); i < values.size(); ++i)
    row.starts.push_back(table_->is_first ? beginnings_[i] : table_->last);
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    if (values[i] < row.values[i]) row.starts[i] = table_->last;
    row.values[i] = values[i];
    // A clock that was set back must not have a counter begin in its future.
    row.starts[i] = std::min(row.starts[i], now_);
  }
  return looked_at_.insert_or_assign(key, std::move(row)).first->second.starts;
}

void CounterStarts::end() {
  std::swap(table_->rows, looked_at_);
  looked_at_.clear();
  table_->is_first = false;
  table_->last = now_;
}

}  // namespace spotter::sink
