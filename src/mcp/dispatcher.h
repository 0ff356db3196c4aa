// The dispatcher: message in, message out, for both eras and every way that messages come. It holds nothing
// of a client: what a legacy client has said stands in its Connection.
#pragma once
#include <boost/json.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>

#include "base/result.h"
#include "mcp/protocol.h"
#include "mcp/world.h"

namespace spotter::mcp {

// A request or a notification.
struct Message {
  boost::json::value id = nullptr;
  bool has_id = false;  // else it is a notification
  std::string method;
  boost::json::object params;
};

// What came in one piece: a message, several (a batch), or what is none. A response, which nobody asked for,
// is an empty batch.
struct Received {
  std::vector<std::variant<Message, std::string>> parts;  // a text is the error to answer with
  bool is_batch = false;
};
using Headers = std::vector<std::pair<std::string, std::string>>;  // Mcp-*, by names in lower case

struct Connection {
  std::optional<std::string> legacy_version = {};  // since `initialize`; over HTTP what the header says
  bool is_initialized = false;                     // else a legacy request is refused
  bool says_modern = false;                        // a header does
  const Headers* headers = nullptr;                // over HTTP
  std::string client = {};                         // what `initialize` said that it is
};

Received read_messages(std::string_view text, const Connection& connection);

// Whose request it is, and how he waits.
struct Context {
  World& world;
  Connection& connection;
  Patience patience = {};
};

struct Reply {
  std::string text;  // empty: a notification has none
  int http_status = kFine;
};

bool is_modern(const Message& message, const Connection& connection);
// What asks agents or reads traces, and does not change the connection.
bool is_slow(const Message& message);
// `message` has been read. Any thread; may take as long as a tool does.
Reply answer(const Message& message, const Context& context);

// The answers to what came in one piece; of a batch as a list.
std::string together(const std::vector<std::string>& replies, bool is_batch);
boost::json::array supported_versions();
// `id`: none where it is not known; a legacy client is then told null.
std::string error_text(const std::optional<boost::json::value>& id, const Fault& fault,
                       bool is_legacy = false);

}  // namespace spotter::mcp
