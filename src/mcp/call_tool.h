// tools/call: arguments checked, the tool called, its answer cut to its bounds.
#pragma once
#include "mcp/answer.h"
#include "mcp/dispatcher.h"

namespace spotter::mcp {

// "claude-code 2.1", as a client's `info` says; empty: it does not.
std::string client_named(const boost::json::value* info);

// What the tool of that name says, before it is cut. Errors: the tool's; not_found (there is none).
// `arguments`: a JSON object; empty: none.
Result<Answer> ask_tool(World& world, const std::string& tool, const std::string& arguments,
                        const Patience& patience);

tl::expected<boost::json::object, Fault> call_tool(const Message& message, const Context& context);

// The answer to a request that is not even begun; of a call the tool's result, as the model can mend it.
std::string busy_text(const Message& message, const Connection& connection, const std::string& sentence);

}  // namespace spotter::mcp
