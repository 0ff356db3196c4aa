#include "mcp/tool.h"

#include <algorithm>
#include <cmath>

#include "base/text/number.h"
#include "base/text/quantity.h"
#include "mcp/cells.h"
#include "mcp/record.h"
#include "wire/json.h"

namespace spotter::mcp {
namespace {

namespace json = boost::json;
using Type = ToolParam::Type;

constexpr size_t kMostText = 2'000;
constexpr i64 kMostRows = 200;
constexpr const char* kDetails[] = {"usual", "more"};

constexpr ToolParam kLimit = {"limit", "rows (default 20)", Type::integer, false, 1, kMostRows};
constexpr ToolParam kCursor = {"cursor", "next_cursor of an answer"};
constexpr ToolParam kDetail = {.name = "detail", .help = "more: to 32 KB, not 16", .words = kDetails};

std::vector<ToolParam> params_of(const Tool& tool) {
  std::vector<ToolParam> all(tool.params.begin(), tool.params.end());
  if (tool.has_rows) {
    all.push_back(kLimit);
    all.push_back(kCursor);
  }
  all.push_back(kDetail);
  return all;
}

json::object schema_of(const ToolParam& param) {
  json::object schema;
  switch (param.type) {
    case Type::text:
      schema["type"] = "string";
      break;
    case Type::integer:
      schema["type"] = "integer";
      schema["minimum"] = param.least;
      schema["maximum"] = param.most;
      break;
    case Type::texts:
    case Type::integers:
      schema["type"] = json::array{"array", "string"};
      schema["items"] = json::object{{"type", param.type == Type::texts ? "string" : "integer"}};
      schema["maxItems"] = param.most;
      break;
  }
  if (!param.words.empty()) {
    json::array words;
    for (const char* word : param.words) words.push_back(word);
    schema["enum"] = std::move(words);
  }
  schema["description"] = param.help;
  return schema;
}

std::optional<i64> whole_of(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value.is_double() && std::abs(value.get_double()) <= kExact &&
      value.get_double() == std::trunc(value.get_double()))
    return static_cast<i64>(value.get_double());
  if (value.is_string())
    return number_in<i64>(std::string_view(value.get_string().data(), value.get_string().size()));
  return std::nullopt;
}

// As if it was not there.
bool is_left_out(const ToolParam& param, const json::value& value) {
  return value.is_null() && !param.required;
}

Result<void> check_text(const ToolParam& param, const json::value& value) {
  if (!value.is_string()) return fail(Code::invalid, "{} is a text: {}", param.name, param.help);
  const json::string& text = value.get_string();
  if (text.size() > kMostText)
    return fail(Code::invalid, "{} is longer than {} bytes", param.name, kMostText);
  if (param.required && text.empty()) return fail(Code::invalid, "{} is empty: {}", param.name, param.help);
  if (!param.words.empty() &&
      std::ranges::none_of(param.words, [&](const char* word) { return text == word; }))
    return fail(Code::invalid, "{} is one of {}", param.name, fmt::join(param.words, ", "));
  return {};
}

Result<void> check_list(const ToolParam& param, const json::value& value) {
  const bool is_whole = param.type == Type::integers;
  const char* const what = is_whole ? "whole numbers" : "texts";
  size_t size = 0;
  if (value.is_string()) {
    const auto words = split_commas(std::string_view(value.get_string().data(), value.get_string().size()));
    size = words.size();
    if (is_whole && std::ranges::any_of(words, [](const std::string& word) { return !number_in<i64>(word); }))
      return fail(Code::invalid, "{} is a list of {}", param.name, what);
  } else if (const json::array* array = value.if_array()) {
    size = array->size();
    const auto is_right = [&](const json::value& one) {
      return is_whole ? whole_of(one).has_value() : one.is_string() && one.get_string().size() <= kMostText;
    };
    if (!std::ranges::all_of(*array, is_right))
      return fail(Code::invalid, "{} is a list of {}", param.name, what);
  } else {
    return fail(Code::invalid, "{} is a list of {}", param.name, what);
  }
  if (size > static_cast<size_t>(param.most))
    return fail(Code::invalid, "{} has {} elements, and may have {}; ask in parts", param.name, size,
                param.most);
  return {};
}

Result<void> check(const ToolParam& param, const json::value& value) {
  switch (param.type) {
    case Type::text:
      return check_text(param, value);
    case Type::texts:
    case Type::integers:
      return check_list(param, value);
    case Type::integer:
      break;
  }
  const auto whole = value.is_string() ? std::nullopt : whole_of(value);
  if (!whole)
    return fail(Code::invalid, "{} is a whole number from {} to {}", param.name, param.least, param.most);
  if (*whole < param.least || *whole > param.most)
    return fail(Code::invalid, "{} is {}, and may be {} to {}", param.name, *whole, param.least, param.most);
  return {};
}

}  // namespace

std::string Arguments::text(std::string_view name) const {
  const json::value* value = all_.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::optional<i64> Arguments::integer(std::string_view name) const {
  const json::value* value = all_.if_contains(name);
  return value ? whole_of(*value) : std::nullopt;
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
  const json::value* value = all_.if_contains(name);
  if (!value) return {};
  if (value->is_string()) return split_commas(text(name));
  std::vector<std::string> all;
  for (const json::value& one : value->get_array()) all.emplace_back(one.get_string());
  return all;
}

std::vector<i64> Arguments::integers(std::string_view name) const {
  const json::value* value = all_.if_contains(name);
  if (!value) return {};
  std::vector<i64> all;
  if (value->is_string()) {
    for (const std::string& word : split_commas(text(name))) all.push_back(*number_in<i64>(word));
  } else {
    for (const json::value& one : value->get_array()) all.push_back(*whole_of(one));
  }
  return all;
}

std::string Arguments::question() const {
  json::object all = all_;
  for (const ToolParam& param : {kLimit, kCursor, kDetail}) all.erase(param.name);
  return wire::json_text(all);
}

json::object to_json(const Tool& tool) {
  json::object properties;
  json::array required;
  for (const ToolParam& param : params_of(tool)) {
    properties[param.name] = schema_of(param);
    if (param.required) required.push_back(param.name);
  }
  json::object input{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) input["required"] = std::move(required);
  input["additionalProperties"] = false;
  json::object annotations{{"readOnlyHint", tool.reads_only}};
  if (!tool.reads_only) {
    annotations["destructiveHint"] = false;
    annotations["idempotentHint"] = false;
  }
  annotations["openWorldHint"] = false;
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema", std::move(input)},
          {"outputSchema", output_schema(tool.has_record)},
          {"annotations", std::move(annotations)}};
}

Result<Arguments> read_arguments(const Tool& tool, const json::object& arguments) {
  const std::vector<ToolParam> params = params_of(tool);
  std::vector<std::string_view> names;
  for (const ToolParam& param : params) names.emplace_back(param.name);
  for (const auto& [key, value] : arguments) {
    const auto param = std::ranges::find_if(params, [&](const ToolParam& one) { return key == one.name; });
    if (param == params.end())
      return fail(Code::invalid, "{} does not know the argument{}; it takes {}", tool.name,
                  is_id(key) ? " " + std::string(key) : "", fmt::join(names, ", "));
    if (!is_left_out(*param, value)) TRY(check(*param, value));
  }
  json::object all;  // in the order of the schema
  for (const ToolParam& param : params) {
    const json::value* value = arguments.if_contains(param.name);
    if (value && !is_left_out(param, *value))
      all[param.name] = *value;
    else if (param.required)
      return fail(Code::invalid, "{} needs {}: {}", tool.name, param.name, param.help);
  }
  return Arguments(std::move(all));
}

}  // namespace spotter::mcp
