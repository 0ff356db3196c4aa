#include "render/list.h"

#include "base/records.h"

namespace spotter::render {

std::span<const Format* const> all_formats() {
  static constexpr auto kAll = addresses(SPOTTER_FORMATS);
  return kAll;
}

const Format* find_format(std::string_view name) { return find_named(all_formats(), name); }

}  // namespace spotter::render
