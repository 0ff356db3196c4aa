// Cursor: where an answer goes on. It is a name, not a right: who asks with it is checked like anybody.
#pragma once
#include <string>

#include "base/result.h"

namespace spotter::mcp {

struct Cursor {
  std::string tool, arguments;  // the arguments without the cursor, as a digest
  std::string version;          // of the data
  size_t offset = 0;            // of the next row
};

std::string digest_of(std::string_view text);  // 16 digits
std::string cursor_text(const Cursor& cursor);
// Errors: invalid (it is none of ours, or of another question).
Result<Cursor> read_cursor(const std::string& text, const std::string& tool, const std::string& arguments);

}  // namespace spotter::mcp
