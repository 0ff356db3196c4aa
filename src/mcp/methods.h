// The methods of the protocol that are answered, one record each.
#pragma once
#include <boost/json.hpp>
#include <string_view>
#include <tl/expected.hpp>

#include "mcp/dispatcher.h"

namespace spotter::mcp {

inline constexpr std::string_view kInitialize = "initialize", kPing = "ping", kDiscover = "server/discover",
                                  kCallTool = "tools/call", kReadResource = "resources/read",
                                  kGetPrompt = "prompts/get";

struct Method {
  std::string_view name;
  bool is_legacy, is_modern;
  tl::expected<boost::json::object, Fault> (*act)(const Message& message, const Context& context);
  // Modern ones: how long the result may be kept, and by whom; -1: not at all, and it does not say.
  i64 fresh_ms = -1;
  bool is_public = false;
};

const Method* find_method(std::string_view name, bool modern);  // nullptr: there is none of that era
boost::json::object server_info();

}  // namespace spotter::mcp
