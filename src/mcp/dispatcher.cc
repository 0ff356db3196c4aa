#include "mcp/dispatcher.h"

#include <algorithm>
#include <cmath>
#include <exception>

#include "base/log.h"
#include "mcp/cells.h"
#include "mcp/headers.h"
#include "mcp/methods.h"
#include "wire/json.h"

namespace spotter::mcp {
namespace {

namespace json = boost::json;

constexpr size_t kMostInBatch = 16;  // each may be answered by 32 KB
constexpr size_t kMostVersion = 40;  // characters of what is told back

// A value of JSON-RPC that may name a request.
bool is_id(const json::value& value) {
  const double* real = value.if_double();  // 1.0 is a whole number, too
  return value.is_string() || value.is_int64() || value.is_uint64() || (real && *real == std::trunc(*real));
}

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::variant<Message, std::string> read_one(const json::value& value, bool is_legacy) {
  Message message;
  const auto refusal = [&](int code, const char* why) {
    return error_text(message.has_id ? std::optional(message.id) : std::nullopt, {code, why}, is_legacy);
  };
  const json::object* object = value.if_object();
  if (!object) return refusal(kNoRequest, "a message is an object");
  if (const json::value* id = object->if_contains("id")) {
    if (!is_id(*id)) return refusal(kNoRequest, "the id of a request is a text or a whole number");
    message.id = *id;
    message.has_id = true;
  }
  if (text_in(*object, "jsonrpc") != "2.0") return refusal(kNoRequest, "a message says \"jsonrpc\": \"2.0\"");
  message.method = text_in(*object, "method");
  if (message.method.empty()) return refusal(kNoRequest, "a request has a method");
  if (const json::value* params = object->if_contains("params")) {
    if (params->is_object())
      message.params = params->get_object();
    else if (message.has_id)  // a notification has no answer, whatever is wrong with it
      return refusal(kBadParams, "the params of a request are an object");
  }
  return message;
}

bool is_response(const json::value& value) {
  const json::object* object = value.if_object();
  return object && !object->contains("method") && (object->contains("result") || object->contains("error"));
}

const json::object* meta_of(const Message& message) {
  const json::value* meta = message.params.if_contains("_meta");
  return meta ? meta->if_object() : nullptr;
}

Fault bad_request(int code, std::string message, json::value data = nullptr) {
  return {code, std::move(message), std::move(data), kBadRequest};
}

// What a modern request has to say of itself.
std::optional<Fault> check_modern(const Message& message, const Connection& connection) {
  const json::object* meta = meta_of(message);
  const json::value* version = meta ? meta->if_contains(kVersionKey) : nullptr;
  if (!version || !version->is_string())
    return bad_request(kBadParams, fmt::format("_meta has to say {}", kVersionKey));
  const std::string asked(version->get_string());
  if (connection.headers)
    if (auto why = header_mismatch(*connection.headers, message, asked))
      return bad_request(kHeaderMismatch, *why);
  if (asked != kModern)
    return bad_request(
        kBadVersion, "this revision of the protocol is not spoken here",
        json::object{{"supported", supported_versions()}, {"requested", clean(asked, kMostVersion)}});
  const json::value* capabilities = meta->if_contains(kCapabilitiesKey);
  if (!capabilities || !capabilities->is_object())
    return bad_request(kBadParams, fmt::format("_meta has to say {}", kCapabilitiesKey));
  return std::nullopt;
}

// What agents and files say is checked where it is read. What was forgotten there must not end the calls of
// others.
tl::expected<json::object, Fault> acted(const Method& method, const Message& message,
                                        const Context& context) {
  try {
    return method.act(message, context);
  } catch (const std::exception& error) {
    log(Level::error, "mcp: {} ended with {}", method.name, error.what());
    return tl::unexpected(Fault{kOurs, "this question could not be answered, by a fault of ours"});
  }
}

Reply refusal(const Message& message, const Fault& fault) {
  return {error_text(message.id, fault), fault.http_status};
}

}  // namespace

std::string error_text(const std::optional<json::value>& id, const Fault& fault, bool is_legacy) {
  json::object error{{"code", fault.code}, {"message", fault.message}};
  if (!fault.data.is_null()) error["data"] = fault.data;
  json::object all{{"jsonrpc", "2.0"}};
  if (id || is_legacy) all["id"] = id.value_or(json::value(nullptr));
  all["error"] = std::move(error);
  return wire::json_text(all);
}

Received read_messages(std::string_view text, const Connection& connection) {
  const bool is_legacy = connection.legacy_version.has_value();
  Received received;
  json::error_code failed;
  json::parse_options options;
  options.max_depth = wire::kMostJsonDepth;
  const json::value value = json::parse(json::string_view(text.data(), text.size()), failed, {}, options);
  if (failed) {
    received.parts.emplace_back(
        error_text(std::nullopt, {kNotJson, "this is no JSON, or it is too deep"}, is_legacy));
    return received;
  }
  const json::array* const batch = value.if_array();
  if (batch && batch->size() > kMostInBatch) {
    received.parts.emplace_back(error_text(
        std::nullopt, {kNoRequest, fmt::format("a batch has at most {} messages", kMostInBatch)}, is_legacy));
  } else if (batch && !batch->empty() && connection.legacy_version == kWithBatches) {
    received.is_batch = true;
    for (const json::value& one : *batch)
      if (!is_response(one)) received.parts.push_back(read_one(one, is_legacy));
  } else if (batch) {
    received.parts.emplace_back(error_text(
        std::nullopt, {kNoRequest, "batches are not of this revision, or this one is empty"}, is_legacy));
  } else if (!is_response(value)) {
    received.parts.push_back(read_one(value, is_legacy));
  }
  return received;
}

bool is_modern(const Message& message, const Connection& connection) {
  const json::object* meta = meta_of(message);
  return connection.says_modern || (meta && meta->contains(kVersionKey)) || message.method == kDiscover;
}

bool is_slow(const Message& message) {
  return message.method == kCallTool || message.method == kReadResource || message.method == "resources/list";
}

std::string together(const std::vector<std::string>& replies, bool is_batch) {
  return is_batch ? fmt::format("[{}]", fmt::join(replies, ",")) : replies.at(0);
}

json::array supported_versions() {
  json::array all;
  all.push_back(json::string(kModern));
  for (const std::string_view version : kLegacy) all.push_back(json::string(version));
  return all;
}

Reply answer(const Message& message, const Context& context) {
  if (!message.has_id) return {};
  const bool modern = is_modern(message, context.connection);
  if (modern) {
    if (const auto fault = check_modern(message, context.connection)) return refusal(message, *fault);
  } else if (!context.connection.is_initialized && message.method != kInitialize && message.method != kPing) {
    return refusal(message, {kNoRequest, "initialize first, or send requests of the revision 2026-07-28"});
  }
  const Method* const method = find_method(message.method, modern);
  if (!method)
    return refusal(message, {kNoMethod, "there is no such method", nullptr, modern ? kNotFound : kFine});
  tl::expected<json::object, Fault> result = acted(*method, message, context);
  if (!result) return refusal(message, result.error());
  if (modern) {
    json::object all{{"resultType", "complete"}};
    for (auto& [key, value] : *result) all[key] = std::move(value);
    if (method->fresh_ms >= 0 && !all.contains(kFreshKey)) {
      all[kFreshKey] = method->fresh_ms;
      all[kScopeKey] = method->is_public ? "public" : "private";
    }
    json::object meta;
    meta[kServerKey] = server_info();
    all["_meta"] = std::move(meta);
    *result = std::move(all);
  } else {
    result->erase(kFreshKey);
    result->erase(kScopeKey);
  }
  return {
      wire::json_text(json::object{{"jsonrpc", "2.0"}, {"id", message.id}, {"result", std::move(*result)}})};
}

}  // namespace spotter::mcp
