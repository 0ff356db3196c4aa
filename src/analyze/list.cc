#include "analyze/list.h"

#include <algorithm>

#include "base/records.h"

namespace spotter::analyze {

std::span<const Analysis* const> all_analyses() {
  static constexpr auto kAll = addresses(SPOTTER_ANALYSES);
  return kAll;
}

std::vector<const Analysis*> usual_analyses() {
  std::vector<const Analysis*> usual;
  std::ranges::remove_copy_if(all_analyses(), std::back_inserter(usual), &Analysis::on_request);
  return usual;
}

const Analysis* find_analysis(std::string_view name) { return find_named(all_analyses(), name); }

}  // namespace spotter::analyze
