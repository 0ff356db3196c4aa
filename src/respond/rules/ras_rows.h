// RasRows: what NCCL says of the communicators of running jobs, from the table `nccl_ras`, which an agent
// makes of the answers of NCCL's RAS. A job that has answered has a row; and one for each rank that has
// launched less of a collective than others, or is missing in a communicator.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "respond/rules/columns.h"
#include "respond/rules/rule.h"

namespace spotter::respond {

struct RasRow {
  std::string job = {}, user = {};
  std::string communicator = {};  // its hash; empty: the job has answered, and no more is said by this row
  std::string operation = {};     // "AllReduce"; empty: the rank is missing
  std::optional<i64> rank = {};   // in the job; nothing: NCCL names none, or it is not known which one it is
  std::string host = {};          // of the rank; empty: not known
  i64 launched = 0, most = 0;     // by the rank, by those who are ahead
  i64 ranks = 0;                  // that are as far behind, or missing
  std::string counts = {};        // of all ranks, "4:1 5:7": what has to stay the same while they are stuck
};

std::span<const Field> ras_columns();
void append(Table& table, const RasRow& row);

class RasRows {
 public:
  RasRows();
  template <class Visit>
  void each(const Sample& sample, Visit visit) {
    columns_.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) visit(at(row));
  }

 private:
  RasRow at(size_t row) const;
  Columns columns_;
};

}  // namespace spotter::respond
