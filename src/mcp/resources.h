// Resources: what has a name already and is read whole: incidents, captures, definitions.
#pragma once
#include <boost/json.hpp>
#include <string>
#include <tl/expected.hpp>

#include "mcp/protocol.h"
#include "mcp/world.h"

namespace spotter::mcp {

boost::json::array resources_of(const World& world, const Patience& patience);  // never empty
boost::json::array resource_templates();
tl::expected<boost::json::object, Fault> read_resource(const World& world, const std::string& uri,
                                                       const Patience& patience);

}  // namespace spotter::mcp
