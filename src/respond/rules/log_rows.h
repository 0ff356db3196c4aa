// LogRows: fatal lines of the logs of jobs, from the table `log_event`. Text of a job is untrusted: what is
// kept of it is printable and short.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "respond/rules/columns.h"
#include "respond/rules/rule.h"

namespace spotter::respond {

inline constexpr std::string_view kCollectiveTimeout = "collective_timeout";

struct LogRow {
  std::string job = {}, user = {};
  std::string kind = {};  // of fatal_kinds()
  std::optional<i64> rank = {};
  std::string text = {};  // 200 bytes at most; empty: not everybody may read it
  std::string file = {};
  i64 offset = 0;
};

class LogRows {
 public:
  LogRows();
  template <class Visit>
  void each(const Sample& sample, Visit visit) {
    columns_.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) visit(at(row));
  }

 private:
  LogRow at(size_t row) const;
  Columns columns_;
};

Condition condition_of(const LogRow& row);

}  // namespace spotter::respond
