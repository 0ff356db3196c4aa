#include "wire/analyze_request.h"

#include <algorithm>

#include "analyze/list.h"
#include "base/text/utf8.h"
#include "wire/json.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;

constexpr std::string_view kMembers[] = {"analyses", "params", "steps"};

Result<void> read_analyses(const json::object& object, analyze::RunRequest& request) {
  TRY_ASSIGN(const auto names, texts_of(object, "analyses"));
  if (!names || names->empty()) return fail(Code::invalid, "\"analyses\" must name one or more");
  for (const std::string& name : *names) {
    const Analysis* analysis = analyze::find_analysis(name);
    if (!analysis) return fail(Code::invalid, "there is no analysis \"{}\"", to_printable(name));
    if (std::find(request.analyses.begin(), request.analyses.end(), analysis) != request.analyses.end())
      return fail(Code::invalid, "\"analyses\" names {} twice", name);
    request.analyses.push_back(analysis);
  }
  return {};
}

Result<void> read_params(const json::object& object, analyze::RunRequest& request) {
  const json::value* params = object.if_contains("params");
  if (!params || params->is_null()) return {};
  if (!params->is_object()) return fail(Code::invalid, "\"params\" must be an object");
  for (const auto& [key, value] : params->get_object()) {
    const std::string_view key_text(key.data(), key.size());
    const std::string name = to_printable(key_text);
    if (value.is_string()) {
      request.params.emplace_back(name, std::string(value.get_string()));
      continue;
    }
    const auto number = integer_of(params->get_object(), key_text);
    if (!number || !*number)
      return fail(Code::invalid, "parameter {} must be a whole number or a text", name);
    request.params.emplace_back(name, **number);
  }
  return {};
}

}  // namespace

std::string analyze_request_text(const analyze::RunRequest& request) {
  CHECK(request.own_params.empty() && !request.compat);  // the text has no place for them
  json::array analyses;
  for (const Analysis* analysis : request.analyses) analyses.emplace_back(analysis->name);
  json::object params;
  for (const auto& [name, value] : request.params)
    std::visit([&params, &key = name](const auto& v) { params[key] = v; }, value);
  json::object body = {{"analyses", std::move(analyses)}, {"params", std::move(params)}};
  if (request.steps) body["steps"] = {request.steps->first, request.steps->last};
  return json::serialize(body);
}

Result<analyze::RunRequest> read_analyze_request(std::string_view body) {
  TRY_ASSIGN(const json::object object, read_object(body));
  TRY(check_names(object, kMembers, "an analysis"));
  analyze::RunRequest request;
  TRY(read_analyses(object, request));
  TRY(read_params(object, request));
  TRY_ASSIGN(const auto steps, integers_of(object, "steps"));
  if (steps) {
    if (steps->size() != 2 || (*steps)[0] > (*steps)[1])
      return fail(Code::invalid, "\"steps\" must be the first and the last");
    request.steps = analyze::Range{(*steps)[0], (*steps)[1]};
  }
  TRY(analyze::check_request(request));
  return request;
}

}  // namespace spotter::wire
