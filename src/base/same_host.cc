#include "base/same_host.h"

#include <string>

#include "base/text/utf8.h"

namespace spotter {

bool is_same_host(std::string_view a, std::string_view b) {
  const std::string one = ascii_lower(a), other = ascii_lower(b);
  const auto is_below = [](const std::string& longer, const std::string& shorter) {
    return longer.size() > shorter.size() && !shorter.empty() && longer.starts_with(shorter) &&
           longer[shorter.size()] == '.';
  };
  return one == other || is_below(one, other) || is_below(other, one);
}

}  // namespace spotter
