#include "collect/hardware/numbered.h"

#include <algorithm>

#include "base/system/file.h"
#include "base/text/words.h"

namespace spotter::collect {

std::vector<Numbered> numbered_in(const std::string& folder, std::string_view beginning) {
  std::vector<Numbered> found;
  for (std::string& name : names_in(folder)) {
    if (!name.starts_with(beginning)) continue;
    const auto number = to_integer(std::string_view(name).substr(beginning.size()));
    if (number && *number >= 0) found.push_back({*number, std::move(name)});
  }
  std::ranges::sort(found, {}, &Numbered::number);
  return found;
}

}  // namespace spotter::collect
