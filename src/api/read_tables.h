// The tables in a JSON answer of an agent, of which only the answer knows the columns.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "table/table.h"

namespace spotter::api {

struct TablesAnswer {
  std::vector<Table> tables;
  Notes notes;
};

// Errors: corrupt (it is none of an agent). A unit that this release does not know is none.
Result<TablesAnswer> read_tables(const std::string& body);

}  // namespace spotter::api
