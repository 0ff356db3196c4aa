#include "api/client.h"

#include <algorithm>

#include "api/json.h"

namespace spotter::api {
namespace {

namespace json = boost::json;

std::string_view view(const json::string& s) { return {s.data(), s.size()}; }

Code code_of(std::string_view name) {
  for (const Code code : {Code::not_found, Code::invalid, Code::corrupt, Code::unsupported, Code::io,
                          Code::denied, Code::busy, Code::cancelled}) {
    if (name == code_name(code)) return code;
  }
  return Code::internal;
}

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
    answer.unix_ms = object.at("unix_ms").as_int64();
  }
  return answer;
}

}  // namespace

tl::unexpected<Error> unreachable(const net::HttpAddress& address, const Error& error) {
  const char* remedy = error.code != Code::not_found ? ""
                       : address.socket.empty()
                           ? "; does `spotter agent` run there, with \"listen\" in its configuration?"
                           : "; start one with `spotter agent`, or name its socket with --socket";
  return fail(error.code, "no agent answers at {}{}", error.message, remedy);
}

Result<Answer> read_answer(const net::HttpAnswer& http, std::span<const Field> schema) {
  const auto wrong = [] { return fail(Code::corrupt, "what answers there is no agent of this program"); };
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

std::vector<Result<Answer>> ask(std::span<const net::HttpAddress> addresses, const Credentials& credentials,
                                const net::HttpQuestion& question, std::span<const Field> schema,
                                Ns patience) {
  std::vector<Result<Answer>> answers(addresses.size());
  std::vector<std::unique_ptr<net::HttpClient>> clients;
  net::Loop loop;
  size_t open = addresses.size();
  for (size_t i = 0; i < addresses.size(); ++i) {
    clients.push_back(std::make_unique<net::HttpClient>(loop, addresses[i], credentials.tls));
    net::HttpQuestion q = question;
    q.authorization = credentials.authorization;
    clients[i]->ask(std::move(q), patience, [&, i](Result<net::HttpAnswer> http) {
      if (!http)
        answers[i] = unreachable(addresses[i], http.error());
      else if (answers[i] = read_answer(*http, schema); !answers[i] && addresses[i].socket.empty())
        answers[i] = within(answers[i].error(), addresses[i].shown());
      if (--open == 0) loop.stop();
    });
  }
  if (open > 0) loop.run();
  return answers;
}

}  // namespace spotter::api
