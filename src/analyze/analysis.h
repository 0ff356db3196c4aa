// Analysis: the record that an analysis is. `map` turns one trace into a small table; `reduce` turns the
// tables of all ranks into the answer. Both are pure: no I/O, no clock, no globals, no threads of their own.
// analyze/list.cc lists them; analyze/run.cc is the one caller.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "table/table.h"
#include "trace/trace.h"

namespace spotter {

// A parameter; becomes a flag, a query parameter, a keyword argument. Integers only so far.
struct Param {
  const char* name;
  i64 fallback;
  const char* help;
};

// The values of the parameters for one run, validated by the runner.
class ParamValues {
 public:
  i64 operator[](std::string_view name) const;  // CHECKs that it exists
  void set(std::string_view name, i64 value);

 private:
  std::vector<std::pair<std::string, i64>> values_;
};

// One rank's map result. `rank` orders the tables; files without one (launchers) come last.
struct RankTable {
  std::optional<i64> rank;
  std::string path;
  Table table;
};

struct Analysis {
  const char* name;     // CLI word, table name, doc anchor
  const char* summary;  // one line
  const char* doc;      // the definition of every number, in words, with its source
  std::span<const Param> params;
  std::span<const Field> columns;  // of the answer; the runner CHECKs the promise
  ArgSet reads;                    // event arguments that map needs
  Result<Table> (*map)(const Trace& trace, const ParamValues& params);
  // Default (nullptr): the tables stacked under a leading `rank` column.
  Result<Table> (*reduce)(std::span<const RankTable> tables, const ParamValues& params) = nullptr;
  std::span<const Field> part_columns = {};  // of map's table, where there is a `reduce`; no cell is null
};

// Of map's table.
std::span<const Field> map_columns(const Analysis& analysis);
bool has_columns(const Table& table, std::span<const Field> columns);

// The rank column that stacked answers begin with.
extern const Field kRankField;
// Stacks the tables under `rank` (null for files without one); the default reduce.
Table stack(std::string_view name, std::span<const Field> columns, std::span<const RankTable> tables);

}  // namespace spotter
