#include "api/client.h"

#include <algorithm>

#include "api/json.h"

namespace spotter::api {
namespace {

namespace json = boost::json;

constexpr int kOk = 200;
// Of an answer, which anybody may have written.
constexpr size_t kMostRows = 1'000'000, kMostNotes = 1000;
constexpr i64 kMostCount = 1'000'000'000;
constexpr size_t kMostWords = 1000;  // of an error; more is nobody's to read

// Throws what boost::json throws where the text has another shape.
Answer read(const json::object& object, std::span<const Field> schema) {
  const json::object& table = object.at("tables").as_array().at(0).as_object();
  Answer answer;
  answer.table = Table(std::string(text_in(table.at("name"))), schema);
  const json::array& columns = table.at("columns").as_array();
  // By name, so that another release's agent may have other columns: -1 is null.
  std::vector<int> place(schema.size(), -1);
  for (size_t s = 0; s < schema.size(); s++) {
    for (size_t c = 0; c < columns.size(); c++) {
      if (text_in(columns[c].as_object().at("name")) == schema[s].name) place[s] = static_cast<int>(c);
    }
  }
  const json::array& rows = table.at("rows").as_array();
  const json::array& notes = object.at("notes").as_array();
  if (rows.size() > kMostRows || notes.size() > kMostNotes) throw std::length_error("too long");
  for (const json::value& row : rows) {
    if (row.as_array().size() != columns.size()) throw std::length_error("a row is not as its table");
    std::vector<Value> values;
    for (size_t s = 0; s < schema.size(); s++)
      values.push_back(
          place[s] < 0 ? Value() : cell_in(row.as_array().at(static_cast<size_t>(place[s])), schema[s].type));
    answer.table.append(values);
  }
  for (const json::value& entry : notes) {
    const json::object& note = entry.as_object();
    answer.table.notes.add(text_in(note.at("kind")), Severity::info, text_in(note.at("sentence")), -1,
                           std::clamp<i64>(note.at("count").as_int64(), 0, kMostCount));
  }
  if (const json::value* id = object.if_contains("capture")) {
    answer.capture = text_in(*id);
    answer.revision = object.at("revision").as_int64();
    answer.over = object.at("over").as_bool();
    answer.unix_ms = object.at("unix_ms").as_int64();
    if (const json::value* left = object.if_contains("remaining_ms")) answer.remaining_ms = left->as_int64();
  }
  return answer;
}

tl::unexpected<Error> no_agent() {
  return fail(Code::corrupt, "what answers there is no agent of this program");
}

}  // namespace

tl::unexpected<Error> unreachable(const net::HttpAddress& address, const Error& error) {
  const char* remedy = error.code != Code::not_found ? ""
                       : address.socket.empty()
                           ? "; does `spotter agent` run there, with \"listen\" in its configuration?"
                           : "; start one with `spotter agent`, or name its socket with --socket";
  return fail(error.code, "no agent answers at {}{}", error.message, remedy);
}

Result<std::string> body_of(net::HttpAnswer http) {
  if (http.status == kOk) return std::move(http.body);
  const Result<json::object> object = read_object(http.body);
  if (!object) return no_agent();
  try {
    const json::object& error = object->at("error").as_object();
    return fail(code_of(text_in(error.at("code"))), "{}", text_in(error.at("message")).substr(0, kMostWords));
  } catch (const std::exception&) {
    return no_agent();
  }
}

Result<Answer> read_answer(net::HttpAnswer http, std::span<const Field> schema) {
  TRY_ASSIGN(const std::string body, body_of(std::move(http)));
  const Result<json::object> object = read_object(body);
  if (!object) return no_agent();
  try {
    return read(*object, schema);
  } catch (const std::exception&) {
    return no_agent();
  }
}

std::vector<Result<net::HttpAnswer>> ask_each(std::span<const net::HttpAddress> addresses,
                                              const Credentials& credentials,
                                              std::span<const net::HttpQuestion> questions, Ns patience) {
  std::vector<Result<net::HttpAnswer>> answers(addresses.size());
  net::Loop loop;
  std::vector<std::unique_ptr<net::HttpClient>> clients;  // gone before the loop, which they use to the end
  net::allow_many_descriptors();
  size_t open = addresses.size();
  for (size_t i = 0; i < addresses.size(); ++i) {
    clients.push_back(std::make_unique<net::HttpClient>(loop, addresses[i], credentials.tls));
    net::HttpQuestion question = questions[i];
    question.authorization = credentials.authorization;
    clients[i]->ask(std::move(question), patience, [&, i](Result<net::HttpAnswer> http) {
      answers[i] = std::move(http);
      if (!answers[i]) answers[i] = unreachable(addresses[i], answers[i].error());
      if (--open == 0) loop.stop();
    });
  }
  if (open > 0) loop.run();
  return answers;
}

std::vector<Result<Answer>> ask(std::span<const net::HttpAddress> addresses, const Credentials& credentials,
                                const net::HttpQuestion& question, std::span<const Field> schema,
                                Ns patience) {
  const std::vector<net::HttpQuestion> questions(addresses.size(), question);
  std::vector<Result<Answer>> answers;
  for (auto& http : ask_each(addresses, credentials, questions, patience)) {
    if (!http) {
      answers.emplace_back(tl::unexpected(http.error()));
      continue;
    }
    Result<Answer> answer = read_answer(std::move(*http), schema);
    const net::HttpAddress& address = addresses[answers.size()];
    if (!answer && address.socket.empty()) answer = within(answer.error(), address.shown());
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace spotter::api
