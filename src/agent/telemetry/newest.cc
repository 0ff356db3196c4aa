#include "agent/telemetry/newest.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include "table/ops.h"

namespace spotter::agent {

void Newest::offer(const SharedBatch& batch) {
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < batch->tables.size(); ++i) newest_of(batch->tables[i], batch->by) = {batch, i};
}

// Tables come in the same order each time, mostly: the one that is sought is the next one.
Newest::Part& Newest::newest_of(const Table& table, const std::string& by) {
  for (size_t steps = 0; steps < newest_.size(); ++steps) {
    Part& part = newest_[next_part_++ % newest_.size()];
    if (part.table().name() == table.name() && part.batch->by == by) return part;
  }
  next_part_ = 0;
  return newest_.emplace_back();
}

// Two collectors may have rows of one table: the GPUs of two makers.
std::vector<SharedBatch> Newest::latest() const {
  std::vector<SharedBatch> batches, joined;
  const Ns now = host_.unix_now();
  {
    std::lock_guard lock(mutex_);
    std::map<std::string_view, Parts> by_table;
    for (const Part& part : newest_) by_table[part.table().name()].push_back(part);
    for (auto& [name, parts] : by_table) {
      if (parts.size() > 1) {
        std::ranges::sort(parts, {}, [](const Part& part) { return std::string_view(part.batch->by); });
        joined.push_back(join(parts, now));
      } else if (const SharedBatch& batch = parts[0].batch;
                 std::ranges::find(batches, batch) == batches.end()) {
        batches.push_back(batch);
      }
    }
  }
  std::ranges::sort(batches, std::greater(), [](const SharedBatch& batch) { return batch->unix_ns; });
  batches.insert(batches.begin(), joined.begin(), joined.end());
  return batches;
}

// Of those that are not stale; of the newest alone, where their columns differ.
SharedBatch Newest::join(const Parts& parts, Ns unix_now) {
  const Part& newest =
      *std::ranges::max_element(parts, {}, [](const Part& part) { return part.batch->unix_ns; });
  auto joined = std::make_shared<Batch>();
  joined->unix_ns = newest.batch->unix_ns;
  joined->period_ns = newest.batch->period_ns;
  Table& table = joined->tables.emplace_back(newest.table());
  for (const Part& part : parts) {
    if (part.batch != newest.batch && !is_stale(*part.batch, unix_now) &&
        part.table().columns() == table.columns())
      table::append(table, part.table());
  }
  return joined;
}

}  // namespace spotter::agent
