#include "mcp/call_tool.h"

#include <algorithm>

#include "mcp/cells.h"
#include "mcp/cursor.h"
#include "mcp/list.h"
#include "mcp/methods.h"
#include "wire/json.h"

namespace spotter::mcp {
namespace {

namespace json = boost::json;

constexpr size_t kMostError = 400;

std::string client_of(const Message& message, const Connection& connection) {
  const json::value* meta = message.params.if_contains("_meta");
  std::string said =
      client_named(meta && meta->is_object() ? meta->get_object().if_contains(kClientKey) : nullptr);
  if (said.empty()) said = connection.client;
  return said.empty() ? "an assistant" : said;
}

const Tool* tool_named(const World& world, std::string_view name) {
  const std::vector<const Tool*> tools = tools_of(world);
  const auto it = std::ranges::find(tools, name, [](const Tool* one) { return std::string_view(one->name); });
  return it == tools.end() ? nullptr : *it;
}

std::string no_such_tool(const World& world) {
  std::vector<std::string_view> names;
  for (const Tool* tool : tools_of(world)) names.emplace_back(tool->name);
  return fmt::format("there is no such tool; there are {}", fmt::join(names, ", "));
}

Result<json::object> called(const Tool& tool, const json::object& given, const Message& message,
                            const Context& context) {
  TRY_ASSIGN(const Arguments arguments, read_arguments(tool, given));
  const Continuation continuation{tool.name, arguments.question()};
  std::optional<Cursor> cursor;
  if (arguments.has("cursor")) {
    TRY_ASSIGN(cursor, read_cursor(arguments.text("cursor"), continuation.tool, continuation.arguments));
  }
  const std::string client = client_of(message, context.connection);
  TRY_ASSIGN(Answer answer, tool.call({context.world, arguments, context.patience, client}));
  if (cursor && digest_of(answer.version) != cursor->version)
    return fail(Code::invalid, "cursor: the data have changed since; ask anew, without it");
  if (cursor) answer.offset = cursor->offset;
  if (const auto limit = arguments.integer("limit")) answer.limit = static_cast<size_t>(*limit);
  return result_of(answer, arguments.text("detail") == "more" ? kMoreBytes : kUsualBytes, continuation);
}

}  // namespace

std::string client_named(const json::value* info) {
  if (!info || !info->is_object()) return {};
  std::string said;
  for (const char* name : {"name", "version"})
    if (const json::value* word = info->get_object().if_contains(name); word && word->is_string())
      said += (said.empty() ? "" : " ") +
              clean(std::string_view(word->get_string().data(), word->get_string().size()), 60);
  return said;
}

Result<Answer> ask_tool(World& world, const std::string& tool, const std::string& arguments,
                        const Patience& patience) {
  const Tool* const named = tool_named(world, tool);
  if (!named) return fail(Code::not_found, "{}", no_such_tool(world));
  json::object given;
  if (!arguments.empty()) {
    TRY_ASSIGN(given, wire::read_object(arguments));
  }
  TRY_ASSIGN(const Arguments read, read_arguments(*named, given));
  return named->call({world, read, patience, "a command"});
}

tl::expected<json::object, Fault> call_tool(const Message& message, const Context& context) {
  const json::value* name = message.params.if_contains("name");
  const json::value* arguments = message.params.if_contains("arguments");
  if (!name || !name->is_string())
    return tl::unexpected(Fault{kBadParams, "tools/call says the name of the tool"});
  if (arguments && arguments->is_null()) arguments = nullptr;  // as of a client that has none
  if (arguments && !arguments->is_object())
    return tl::unexpected(Fault{kBadParams, "the arguments of a tool are an object"});
  const Tool* const tool =
      tool_named(context.world, std::string_view(name->get_string().data(), name->get_string().size()));
  if (!tool) return tl::unexpected(Fault{kBadParams, no_such_tool(context.world)});
  auto result = called(*tool, arguments ? arguments->get_object() : json::object(), message, context);
  if (result) return std::move(*result);
  if (result.error().code == Code::cancelled)
    return error_result(
        "it took longer than a call may, or was taken back; ask anew, or for a smaller capture");
  return error_result(clean(result.error().message, kMostError));
}

std::string busy_text(const Message& message, const Connection& connection, const std::string& sentence) {
  if (message.method != kCallTool) return error_text(message.id, {kOurs, sentence});
  json::object result = error_result(sentence);
  if (is_modern(message, connection)) result["resultType"] = "complete";
  return wire::json_text(json::object{{"jsonrpc", "2.0"}, {"id", message.id}, {"result", std::move(result)}});
}

}  // namespace spotter::mcp
