// Prompts: what a person may ask an assistant to do, as a message that lists the tools in order.
#pragma once
#include <boost/json.hpp>
#include <string>
#include <tl/expected.hpp>

#include "mcp/protocol.h"

namespace spotter::mcp {

boost::json::array all_prompts();
tl::expected<boost::json::object, Fault> prompt_of(const std::string& name,
                                                   const boost::json::object& arguments);

}  // namespace spotter::mcp
