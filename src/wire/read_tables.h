// The tables in a JSON answer of an agent.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "table/table.h"

namespace boost::json {
class object;
}

namespace spotter::wire {

struct TablesAnswer {
  std::vector<Table> tables;
  Notes notes;
};

// With the columns that the answer says. A unit that this release does not know is none, a role is a detail.
// Errors: corrupt (it is none of an agent).
Result<TablesAnswer> read_tables(const std::string& body);

// The first table, with its columns of these names, whatever else the answer says of them: another release's
// agent may have others. One that is not there is null. With the answer's notes. Throws where the answer has
// another shape.
Table first_table_in(const boost::json::object& answer, std::span<const Field> schema);

}  // namespace spotter::wire
