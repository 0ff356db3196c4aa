// What a modern request says in HTTP's headers beside its body, so that those between can see it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "mcp/dispatcher.h"

namespace spotter::mcp {

// nullopt: there is none. One in =?base64?...?= is decoded.
std::optional<std::string> header_in(const Headers& headers, std::string_view name);
// Why the headers do not say what the body does; nullopt: they do.
std::optional<std::string> header_mismatch(const Headers& headers, const Message& message,
                                           const std::string& version);

}  // namespace spotter::mcp
