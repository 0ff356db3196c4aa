#include "wire/error.h"

#include "base/text/utf8.h"
#include "wire/json.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;

constexpr size_t kMostWords = 1000;  // more is nobody's to read

}  // namespace

std::string error_text(const Error& error) {
  return json::serialize(
      json::object{{"error", {{"code", code_name(error.code)}, {"message", to_valid_utf8(error.message)}}}});
}

int http_status(Code code) {
  switch (code) {
    case Code::not_found:
      return 404;
    case Code::invalid:
    case Code::corrupt:
    case Code::unsupported:
      return 400;
    case Code::denied:
      return 403;
    case Code::busy:
      return 409;
    case Code::io:
    case Code::cancelled:
    case Code::internal:
      break;
  }
  return 500;
}

std::optional<Error> read_error(std::string_view body) {
  const Result<json::object> object = read_object(body);
  if (!object) return std::nullopt;
  try {
    const json::object& error = object->at("error").as_object();
    return Error{code_of(text_in(error.at("code"))),
                 std::string(text_in(error.at("message")).substr(0, kMostWords))};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace spotter::wire
