// The Model Context Protocol as far as it is spoken here: its revisions, and its numbers for errors
// (specification 2026-07-28; JSON-RPC 2.0).
//
// A revision is modern, whose requests say all about themselves, or legacy, which `initialize` begins.
#pragma once
#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "base/types.h"

namespace spotter::mcp {

inline constexpr std::string_view kModern = "2026-07-28";
inline constexpr std::string_view kLegacy[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
inline constexpr std::string_view kLatestLegacy = kLegacy[0];
inline constexpr std::string_view kWithBatches = "2025-03-26";  // alone of all

// Members of `_meta`.
inline constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kClientKey = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kFreshKey = "ttlMs", kScopeKey = "cacheScope";  // of modern results
inline constexpr std::string_view kServerKey = "io.modelcontextprotocol/serverInfo";

enum : int {
  kNotJson = -32700,
  kNoRequest = -32600,
  kNoMethod = -32601,
  kBadParams = -32602,
  kOurs = -32603,
  kHeaderMismatch = -32020,
  kBadVersion = -32022,
};

inline constexpr int kFine = 200, kBadRequest = 400, kNotFound = 404;

// An error of the protocol. What the model can mend is none (tool.h).
struct Fault {
  int code = kOurs;
  std::string message;
  boost::json::value data = nullptr;
  int http_status = kFine;  // of a modern answer by HTTP
};

inline constexpr size_t kMostMessage = size_t{1} << 20;  // bytes of one line of standard input
inline constexpr size_t kMostHttpMessage = size_t{256} << 10;

}  // namespace spotter::mcp
