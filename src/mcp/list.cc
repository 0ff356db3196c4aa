#include "mcp/list.h"

#include "base/records.h"

namespace spotter::mcp {

std::span<const Tool* const> all_tools() {
  static constexpr auto kAll = addresses(SPOTTER_TOOLS);
  return kAll;
}

std::vector<const Tool*> tools_of(const World& world) {
  std::vector<const Tool*> offered;
  for (const Tool* tool : all_tools())
    if (tool->reads_only || world.may_capture) offered.push_back(tool);
  return offered;
}

}  // namespace spotter::mcp
