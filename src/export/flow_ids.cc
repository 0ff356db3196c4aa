#include "export/flow_ids.h"

#include "read/json.h"

namespace spotter::export_ {

u64 FlowIds::of(std::string_view raw) {
  const auto number = read::json::to_integer(raw);
  if (number && *number >= 0 && static_cast<u64>(*number) < kNamedFlowIds)
    return first_ + static_cast<u64>(*number);
  return named_.try_emplace(std::string(raw), first_ + kNamedFlowIds + named_.size()).first->second;
}

}  // namespace spotter::export_
