// Cells as JSON. What is no UTF-8 is mended; integers keep all their digits, also beyond 2^53.
#pragma once
#include <string>
#include <string_view>

#include "base/text/json_text.h"
#include "table/table.h"

namespace spotter::render {

void append_json_value(std::string& out, const Value& value);  // null also for a number that is not finite
void append_json_notes(std::string& out, const Notes& notes);  // json.cc: as JSON documents have them

}  // namespace spotter::render
