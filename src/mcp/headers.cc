#include "mcp/headers.h"

#include <algorithm>

#include "base/text/base64.h"
#include "mcp/methods.h"

namespace spotter::mcp {
namespace {

std::string decoded(std::string text) {
  constexpr std::string_view kBegin = "=?base64?", kEnd = "?=";
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd) || text.size() < kBegin.size() + kEnd.size())
    return text;
  const auto bytes =
      from_base64(std::string_view(text).substr(kBegin.size(), text.size() - kBegin.size() - kEnd.size()));
  return bytes.value_or(text);
}

// What Mcp-Name has to be; nullopt: the method has no name.
std::optional<std::string> name_of(const Message& message) {
  const bool is_read = message.method == kReadResource;
  if (!is_read && message.method != kCallTool && message.method != kGetPrompt) return std::nullopt;
  const boost::json::value* name = message.params.if_contains(is_read ? "uri" : "name");
  return name && name->is_string() ? std::string(name->get_string()) : std::string();
}

}  // namespace

std::optional<std::string> header_in(const Headers& headers, std::string_view name) {
  const auto it =
      std::ranges::find(headers, name, [](const auto& header) { return std::string_view(header.first); });
  return it == headers.end() ? std::nullopt : std::optional(decoded(it->second));
}

std::optional<std::string> header_mismatch(const Headers& headers, const Message& message,
                                           const std::string& version) {
  const auto differs = [&](const char* shown, std::string_view name,
                           const std::string& wanted) -> std::optional<std::string> {
    if (!header_in(headers, name)) return fmt::format("the header {} is missing", shown);
    // Each of several: who stands between may go by another one than we.
    if (std::ranges::any_of(headers, [&](const auto& header) {
          return header.first == name && decoded(header.second) != wanted;
        }))
      return fmt::format("the header {} is not what the body says", shown);
    return std::nullopt;
  };
  if (auto why = differs("MCP-Protocol-Version", "mcp-protocol-version", version)) return why;
  if (auto why = differs("Mcp-Method", "mcp-method", message.method)) return why;
  const auto name = name_of(message);
  return name ? differs("Mcp-Name", "mcp-name", *name) : std::nullopt;
}

}  // namespace spotter::mcp
