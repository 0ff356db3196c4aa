// Ends of trace files' names.
#pragma once
#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/types.h"

namespace spotter::read {

struct Ending {
  std::string_view text;
  i64 ratio;  // about how many bytes of JSON a stored byte stands for
};
inline constexpr Ending kEndings[] = {{".json", 1}, {".json.gz", 16}, {".json.zst", 16}};

// nullptr where the name has none.
inline const Ending* ending_of(std::string_view name) {
  const auto* found = std::find_if(std::begin(kEndings), std::end(kEndings),
                                   [&](const Ending& e) { return name.ends_with(e.text); });
  return found == std::end(kEndings) ? nullptr : found;
}

// The name without its ending: what is left of it when a file is packed or unpacked.
inline std::string_view without_ending(std::string_view name) {
  if (const Ending* ending = ending_of(name)) name.remove_suffix(ending->text.size());
  return name;
}

}  // namespace spotter::read
