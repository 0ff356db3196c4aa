// tools/call: arguments checked, the tool called, its answer cut to its bounds.
#pragma once
#include "mcp/dispatcher.h"

namespace spotter::mcp {

tl::expected<boost::json::object, Fault> call_tool(const Message& message, const Context& context);

// The answer to a call that is not even begun; the model can mend it.
std::string tool_error_text(const Message& message, const Connection& connection,
                            const std::string& sentence);

}  // namespace spotter::mcp
