// The columns of a table as text, laid out for a terminal.
#pragma once
#include <string>
#include <vector>

#include "render/render.h"

namespace spotter::render {

struct TextColumn {
  size_t index = 0;  // in the table
  std::string title;
  std::vector<std::string> header;  // its lines
  std::vector<std::string> cells;
  bool is_left = false;   // text and flags; numbers are to the right
  bool is_text = false;   // may be shortened
  bool is_whole = false;  // may not
  bool is_empty = false;  // it says nothing: all its cells are null
  Role role = Role::value;
  int cell_width = 0;  // of the widest cell
  int width = 0;
};

struct Layout {
  std::vector<TextColumn> columns;
  std::vector<TextColumn> below;      // shown on lines of their own below each row
  std::vector<std::string> left_out;  // titles
};

// Names beyond 160 cells lose their middle. Where the table is wider than the style's width, in this order
// until it fits: names are shortened, titles are broken into lines, texts that stay whole go below their
// rows, columns without a value and then details are left out from the right, names are shortened more, and
// at last positions in time and values are left out. Keys and one value stay.
Layout lay_out(const Table& table, const TextStyle& style);

}  // namespace spotter::render
