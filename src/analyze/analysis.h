// Analysis: the record that an analysis is. `map` turns one trace into a small table; `reduce` turns the
// tables of all ranks into the answer. Both are pure: no I/O, no clock, no globals, no threads of their own.
// analyze/list.h lists them; analyze/run.cc runs them, and nobody else does.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "table/table.h"
#include "trace/trace.h"

namespace spotter {

// A parameter; becomes a flag and a member of a request. Its fallback says of which type it is:
// a whole number, 0 or more, or a text.
struct Param {
  const char* name;
  std::variant<i64, const char*> fallback;
  const char* help;
  Result<void> (*check)(const std::string& text) = nullptr;  // of a text; nullptr: any will do
  bool is_text() const { return fallback.index() == 1; }
};
using ParamValue = std::variant<i64, std::string>;
using ParamSettings = std::vector<std::pair<std::string, ParamValue>>;  // by name; of several the last counts
ParamValue fallback_of(const Param& param);

// The values of the parameters for one run, validated by the runner.
class ParamValues {
 public:
  // CHECK that it exists and is of that type.
  i64 operator[](std::string_view name) const { return std::get<i64>(value(name)); }
  const std::string& text(std::string_view name) const { return std::get<std::string>(value(name)); }
  void set(std::string_view name, ParamValue value);
  const ParamSettings& all() const { return values_; }

 private:
  const ParamValue& value(std::string_view name) const;
  ParamSettings values_;
};

// One rank's map result. `rank` orders the tables; files without one (launchers) come last.
struct RankTable {
  std::optional<i64> rank;
  std::string path;
  Table table;
};

struct Analysis;

// An analysis and the parameters that it is wanted with.
struct Wanted {
  const Analysis* analysis;
  const ParamValues* params;
};

namespace analyze {
struct FlightRecords;
}

struct Analysis {
  const char* name;     // CLI word, table name, doc anchor
  const char* summary;  // one line
  const char* doc;      // the definition of every number, in words, with its source
  std::span<const Param> params;
  std::span<const Field> columns;  // of the answer; the runner CHECKs the promise; keys are never null
  ArgSet reads;                    // event arguments that map needs
  Result<Table> (*map)(const Trace& trace, const ParamValues& params);
  // Default (nullptr): the tables stacked under a leading `rank` column.
  Result<Table> (*reduce)(std::span<const RankTable> tables, const ParamValues& params) = nullptr;
  std::span<const Field> part_columns = {};  // of map's table, where there is a `reduce`; no cell is null
  bool on_request = false;                   // its table grows with the trace: only for who names it
  // Of analyses that look at the same thing of a trace, which costs more than what they make of it: maps
  // those that are wanted in one pass, each to what its own map gives.
  Result<std::vector<Table>> (*map_together)(const Trace& trace, std::span<const Wanted> wanted) = nullptr;
  // Of what lies beside the traces; in place of `reduce` where there is any.
  Table (*of_records)(const analyze::FlightRecords& records) = nullptr;
};

// Of map's table.
std::span<const Field> map_columns(const Analysis& analysis);
// Whoever reduces, or shows the answer, takes for granted that the other cells are there.
bool may_be_null(const Analysis& analysis, const Field& field);
bool has_columns(const Table& table, std::span<const Field> columns);

// The rank column that stacked answers begin with.
extern const Field kRankField;
// Stacks the tables under `rank` (null for files without one); the default reduce.
Table stack(std::string_view name, std::span<const Field> columns, std::span<const RankTable> tables);

}  // namespace spotter
