// A list of a trace's arguments, which writers print over one line or many, as one short line.
#pragma once
#include <string>
#include <string_view>

namespace spotter::analyze {

// "[[2, 3], []]" of JSON without texts in it.
inline std::string list_text(std::string_view json) {
  std::string text;
  for (const char c : json) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    text += c;
    if (c == ',') text += ' ';
  }
  return text;
}

}  // namespace spotter::analyze
