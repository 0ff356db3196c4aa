#include "client/client.h"

#include <type_traits>

#include "base/time.h"
#include "wire/error.h"
#include "wire/json.h"

namespace spotter::client {
namespace {

namespace json = boost::json;

constexpr int kOk = 200;
constexpr Ns kLook = 50 * kMillisecond;  // between looks whether it is cancelled

// Throws where the text has another shape.
Answer read(const json::object& object, std::span<const Field> schema) {
  Answer answer;
  answer.table = wire::first_table_in(object, schema);
  if (const json::value* id = object.if_contains("capture")) {
    answer.capture = wire::text_in(*id);
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
  std::optional<Error> error = wire::read_error(http.body);
  if (!error) return no_agent();
  return tl::unexpected(std::move(*error));
}

Result<Answer> read_answer(net::HttpAnswer http, std::span<const Field> schema) {
  TRY_ASSIGN(const std::string body, body_of(std::move(http)));
  const Result<json::object> object = wire::read_object(body);
  if (!object) return no_agent();
  try {
    return read(*object, schema);
  } catch (const std::exception&) {
    return no_agent();
  }
}

std::vector<Result<net::HttpAnswer>> ask_each(std::span<const net::HttpAddress> addresses,
                                              const Credentials& credentials,
                                              std::span<const net::HttpQuestion> questions, Ns patience,
                                              const std::atomic<bool>* cancelled) {
  std::vector<Result<net::HttpAnswer>> answers(
      addresses.size(), fail(Code::cancelled, "it was cancelled before the agent answered"));
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
  net::Timer look(loop);
  std::function<void()> watch = [&] {
    if (*cancelled) return loop.stop();
    look.set(kLook, watch);
  };
  if (cancelled && open > 0) watch();
  if (open > 0) loop.run();
  return answers;
}

namespace {

template <class Read>
auto ask_and_read(std::span<const net::HttpAddress> addresses, const Credentials& credentials,
                  const net::HttpQuestion& question, Ns patience, Read read) {
  const std::vector<net::HttpQuestion> questions(addresses.size(), question);
  std::vector<std::invoke_result_t<Read, net::HttpAnswer>> answers;
  for (auto& http : ask_each(addresses, credentials, questions, patience)) {
    if (!http) {
      answers.emplace_back(tl::unexpected(http.error()));
      continue;
    }
    auto answer = read(std::move(*http));
    const net::HttpAddress& address = addresses[answers.size()];
    if (!answer && address.socket.empty()) answer = within(answer.error(), address.shown());
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace

std::vector<Result<Answer>> ask(std::span<const net::HttpAddress> addresses, const Credentials& credentials,
                                const net::HttpQuestion& question, std::span<const Field> schema,
                                Ns patience) {
  return ask_and_read(addresses, credentials, question, patience,
                      [&](net::HttpAnswer http) { return read_answer(std::move(http), schema); });
}

std::vector<Result<wire::TablesAnswer>> ask_tables(std::span<const net::HttpAddress> addresses,
                                                   const Credentials& credentials,
                                                   const net::HttpQuestion& question, Ns patience) {
  return ask_and_read(addresses, credentials, question, patience,
                      [](net::HttpAnswer http) -> Result<wire::TablesAnswer> {
                        TRY_ASSIGN(const std::string body, body_of(std::move(http)));
                        return wire::read_tables(body);
                      });
}

}  // namespace spotter::client
