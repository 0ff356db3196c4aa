// The columns of a table as text, laid out for a terminal.
#pragma once
#include <string>
#include <vector>

#include "table/table.h"

namespace spotter::render {

struct TextColumn {
  std::string title;
  std::vector<std::string> header;  // its lines
  std::vector<std::string> cells;
  bool is_left = false;   // text and flags; numbers are to the right
  bool is_text = false;   // may be shortened
  bool is_empty = false;  // it says nothing: all its cells are null
  Role role = Role::value;
  int cell_width = 0;  // of the widest cell
  int width = 0;
};

struct Layout {
  std::vector<TextColumn> columns;
  std::vector<std::string> left_out;  // titles
};

// Where the table is wider than `width` (0: no limit), in this order until it fits: texts are shortened,
// titles are broken into lines, columns without a value and then details are left out from the right, texts
// are shortened more, and at last positions in time and values are left out. Keys and one value stay.
Layout lay_out(const Table& table, int width);

}  // namespace spotter::render
