// tools/call: arguments checked, the tool called, its answer cut to its bounds.
#pragma once
#include "mcp/dispatcher.h"

namespace spotter::mcp {

tl::expected<boost::json::object, Fault> call_tool(const Message& message, const Context& context);

}  // namespace spotter::mcp
