// Paths of a tree as texts: names joined by "/". A "/" or "\" of a name itself has a "\" before it, so that
// no two paths have one text.
#pragma once
#include <string>
#include <string_view>

namespace spotter::analyze {

// `around`: the path around it, or empty.
inline std::string path_text(std::string_view around, std::string_view name) {
  std::string text(around);
  if (!around.empty()) text += '/';
  for (const char c : name) {
    if (c == '/' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

}  // namespace spotter::analyze
