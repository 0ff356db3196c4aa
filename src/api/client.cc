#include "api/client.h"

#include <algorithm>

#include "api/json.h"
#include "net/http.h"

namespace spotter::api {
namespace {

namespace json = boost::json;

std::string_view view(const json::string& s) { return {s.data(), s.size()}; }

// Throws where it is neither null nor of the type.
Value value_of(const json::value& v, Type type) {
  if (v.is_null()) return {};
  switch (type) {
    case Type::integer:
      return v.as_int64();
    case Type::real:
      return v.to_number<double>();
    case Type::flag:
      return v.as_bool();
    case Type::text:
      break;
  }
  return view(v.as_string());
}

// Throws what boost::json throws where the text has another shape.
Answer read(const json::object& object, std::span<const Field> schema) {
  const json::object& table = object.at("tables").as_array().at(0).as_object();
  Answer answer;
  answer.table = Table(std::string(view(table.at("name").as_string())), schema);
  const json::array& columns = table.at("columns").as_array();
  // By name, so that another release's agent may have other columns: -1 is null.
  std::vector<int> place(schema.size(), -1);
  for (size_t s = 0; s < schema.size(); s++) {
    for (size_t c = 0; c < columns.size(); c++) {
      if (view(columns[c].as_object().at("name").as_string()) == schema[s].name)
        place[s] = static_cast<int>(c);
    }
  }
  for (const json::value& row : table.at("rows").as_array()) {
    std::vector<Value> values;
    for (size_t s = 0; s < schema.size(); s++)
      values.push_back(place[s] < 0
                           ? Value()
                           : value_of(row.as_array().at(static_cast<size_t>(place[s])), schema[s].type));
    answer.table.append(values);
  }
  for (const json::value& entry : object.at("notes").as_array()) {
    const json::object& note = entry.as_object();
    answer.table.notes.add(view(note.at("kind").as_string()), Severity::info,
                           view(note.at("sentence").as_string()), -1, note.at("count").as_int64());
  }
  if (const json::value* id = object.if_contains("capture")) {
    answer.capture = view(id->as_string());
    answer.revision = object.at("revision").as_int64();
    answer.over = object.at("over").as_bool();
  }
  return answer;
}

}  // namespace

Result<Answer> ask(const std::string& socket, const std::string& method, const std::string& target,
                   const std::string& body, std::span<const Field> schema, Ns patience) {
  TRY_ASSIGN(const net::HttpAnswer http, net::http_ask(socket, method, target, body, patience));
  const auto wrong = [&] {
    return fail(Code::corrupt, "what answers at {} is no agent of this program", socket);
  };
  const Result<json::object> object = read_object(http.body);
  if (!object) return wrong();
  try {
    if (const json::value* error = object->if_contains("error")) {
      const json::object& e = error->as_object();
      return fail(code_of(view(e.at("code").as_string())), "{}", view(e.at("message").as_string()));
    }
    return read(*object, schema);
  } catch (const std::exception&) {
    return wrong();
  }
}

}  // namespace spotter::api
