// Answer: what a tool says, before it is cut to its bounds: a sentence of our own, rows of a table as they
// are, and how to get them again.
//
// Text from jobs stands in cells of `table` and in `record` alone; `sentence`, notes and sources speak of it
// by row.
#pragma once
#include <boost/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mcp/world.h"
#include "table/table.h"

namespace spotter::mcp {

// Where rows come from: a command that shows them on a terminal, as a person would type it.
struct Source {
  std::string what, table, command;
};

// What to ask next: a tool with its arguments.
struct Next {
  std::string tool;
  boost::json::object arguments;
};

struct Answer {
  std::string sentence = {};
  Table table = {};          // all rows that it is about, or from `offset` on
  size_t offset = 0;         // of the first row that is shown
  size_t limit = 20;         // rows at most
  std::string version = {};  // of the data, for the cursor to the next rows; empty: there is none
  std::vector<Source> sources = {};
  std::vector<std::string> notes = {};
  std::vector<Next> next = {};
  std::optional<Ns> as_of = {};                    // Unix time of the data
  std::optional<boost::json::object> record = {};  // of get_incident
};

inline constexpr size_t kUsualBytes = size_t{16} << 10, kMoreBytes = size_t{32} << 10,
                        kTextBytes = size_t{8} << 10;

// The result of tools/call: content and structured content, within `most` bytes together: rows go first, then
// columns, then sentences, and what went is said. `continues` makes the cursor of the row at an offset.
struct Continuation {
  std::string tool, arguments;  // as a digest
};
boost::json::object result_of(const Answer& answer, size_t most, const Continuation& continuation);
boost::json::object error_result(const std::string& sentence);

// JSON Schema (2020-12) of structured content.
boost::json::object output_schema(bool has_record);

}  // namespace spotter::mcp
