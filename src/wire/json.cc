#include "wire/json.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/text/json_text.h"
#include "base/text/number.h"
#include "base/text/utf8.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;

std::optional<i64> whole(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it a double is no exact integer
  if (value.is_double() && std::abs(value.get_double()) <= kExact &&
      value.get_double() == std::trunc(value.get_double()))
    return static_cast<i64>(value.get_double());
  return std::nullopt;
}

std::optional<std::string> string(const json::value& value) {
  if (!value.is_string()) return std::nullopt;
  return std::string(value.get_string());
}

// The member as `read` takes it; `what` it must be.
template <class T, class F>
Result<std::optional<T>> member(const json::object& object, std::string_view name, const char* what, F read) {
  const json::value* value = object.if_contains(name);
  if (!value || value->is_null()) return std::optional<T>();
  std::optional<T> taken = read(*value);
  if (!taken) return fail(Code::invalid, "\"{}\" must be {}", name, what);
  return taken;
}

template <class T, class F>
std::optional<std::vector<T>> list(const json::value& value, F read) {
  if (!value.is_array()) return std::nullopt;
  std::vector<T> all;
  for (const json::value& element : value.get_array()) {
    const std::optional<T> one = read(element);
    if (!one) return std::nullopt;
    all.push_back(*one);
  }
  return all;
}

void append_json(std::string& out, const json::value& value) {
  if (const json::object* object = value.if_object()) {
    char before = '{';
    for (const auto& [key, member] : *object) {
      out += std::exchange(before, ',');
      append_json_text(out, {key.data(), key.size()});
      out += ':';
      append_json(out, member);
    }
    out += before == '{' ? "{}" : "}";
  } else if (const json::array* array = value.if_array()) {
    char before = '[';
    for (const json::value& element : *array) {
      out += std::exchange(before, ',');
      append_json(out, element);
    }
    out += before == '[' ? "[]" : "]";
  } else if (const json::string* text = value.if_string()) {
    append_json_text(out, {text->data(), text->size()});
  } else if (value.is_double()) {
    out += std::isfinite(value.get_double()) ? fmt::format("{:.15g}", value.get_double()) : "null";
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

std::string json_text(const json::value& value) {
  std::string out;
  append_json(out, value);
  return out;
}

Result<json::object> read_object(std::string_view text) {
  json::parse_options options;
  options.max_depth = kMostJsonDepth;
  json::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error, {}, options);
  if (error == json::error::too_deep)
    return fail(Code::invalid, "the JSON is nested more than {} levels deep", kMostJsonDepth);
  if (error) return fail(Code::invalid, "the request is no JSON: {}", error.message());
  if (!value.is_object()) return fail(Code::invalid, "the request is no JSON object");
  return std::move(value.get_object());
}

Result<void> check_names(const json::object& object, std::span<const std::string_view> names,
                         std::string_view what) {
  for (const auto& [key, value] : object) {
    const std::string_view name(key.data(), key.size());
    if (std::find(names.begin(), names.end(), name) == names.end())
      return fail(Code::invalid, "{} has no \"{}\"; it has {}", what, to_printable(name),
                  fmt::join(names, ", "));
  }
  return {};
}

Result<std::optional<i64>> integer_of(const json::object& object, std::string_view name) {
  return member<i64>(object, name, "a whole number", whole);
}

Result<std::optional<bool>> flag_of(const json::object& object, std::string_view name) {
  return member<bool>(object, name, "true or false", [](const json::value& v) {
    return v.is_bool() ? std::optional(v.get_bool()) : std::nullopt;
  });
}

Result<std::optional<std::string>> text_of(const json::object& object, std::string_view name) {
  return member<std::string>(object, name, "a text", string);
}

Result<std::optional<std::vector<i64>>> integers_of(const json::object& object, std::string_view name) {
  return member<std::vector<i64>>(object, name, "a list of whole numbers",
                                  [](const json::value& v) { return list<i64>(v, whole); });
}

Result<std::optional<std::vector<std::string>>> texts_of(const json::object& object, std::string_view name) {
  return member<std::vector<std::string>>(object, name, "a list of texts",
                                          [](const json::value& v) { return list<std::string>(v, string); });
}

void expect(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

boost::json::string mended(std::string_view text) {
  return boost::json::string(is_valid_utf8(text) ? std::string(text) : to_valid_utf8(text));
}

std::string_view text_in(const json::value& value) {
  const json::string& s = value.as_string();
  return {s.data(), s.size()};
}

double real_in(const json::value& value) {
  const double real = value.to_number<double>();
  return number_in<double>(fmt::format("{:.15g}", real)).value_or(real);
}

Severity severity_in(const json::value& value) {
  const std::string_view name = text_in(value);
  for (const Severity severity : {Severity::info, Severity::repair, Severity::loss}) {
    if (name == severity_name(severity)) return severity;
  }
  throw std::invalid_argument("a severity");
}

Value cell_in(const json::value& value, Type type) {
  if (value.is_null()) return {};
  switch (type) {
    case Type::integer:
      return value.as_int64();
    case Type::real:
      return value.to_number<double>();
    case Type::flag:
      return value.as_bool();
    case Type::text:
      break;
  }
  return text_in(value);
}

}  // namespace spotter::wire
