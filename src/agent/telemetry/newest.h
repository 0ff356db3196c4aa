// Newest: the last batch of each table, by who looked. Any thread.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "agent/telemetry/consumer.h"

namespace spotter::agent {

class Newest : public Consumer {
 public:
  explicit Newest(const Host& host) : host_(host) {}

  void offer(const SharedBatch& batch) override;
  // The newest batches, the last one first: each kind of table is in one of them, whatever its period.
  std::vector<SharedBatch> latest() const;

 private:
  struct Part {
    SharedBatch batch;
    size_t index = 0;  // of the table in it
    const Table& table() const { return batch->tables[index]; }
  };
  using Parts = std::vector<Part>;
  static SharedBatch join(const Parts& parts, Ns unix_now);
  Part& newest_of(const Table& table, const std::string& by);

  const Host& host_;
  mutable std::mutex mutex_;  // of what follows
  Parts newest_;              // of each table, by who looked
  size_t next_part_ = 0;      // where the next table to come is looked for first
};

}  // namespace spotter::agent
