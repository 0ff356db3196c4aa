// Asking agents: the other end of routes.h.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/credentials.h"
#include "net/http/http_client.h"
#include "table/table.h"
#include "wire/read_tables.h"

namespace spotter::client {

struct Answer {
  Table table;          // the first one, in the shape of `schema`
  std::string capture;  // of captures: its id, how often it has changed, whether all its receipts are final
  i64 revision = 0;
  bool over = false;
  i64 unix_ms = 0;                           // the agent's clock
  i64 remaining_ms = i64{24} * 3600 * 1000;  // until the agent ends it
};

// Errors: those of the agent, with their codes; corrupt where the answer is none of an agent. A column that
// it does not have is null.
Result<Answer> read_answer(net::HttpAnswer http, std::span<const Field> schema);

// `error` of net/, with what to do about it.
tl::unexpected<Error> unreachable(const net::HttpAddress& address, const Error& error);

// The answers of many agents, each asked its own question, all at once. Errors: not_found where nobody
// listens, denied, io; cancelled where `cancelled` became true before there was an answer.
std::vector<Result<net::HttpAnswer>> ask_each(std::span<const net::HttpAddress> addresses,
                                              const Credentials& credentials,
                                              std::span<const net::HttpQuestion> questions, Ns patience,
                                              const std::atomic<bool>* cancelled = nullptr);

// The body of an answer that is one. Errors: the agent's; corrupt where it is none of an agent.
Result<std::string> body_of(net::HttpAnswer http);

// The answer of each agent, all asked at once. Errors name the host, where it is another one; also not_found
// where nobody listens, denied, io.
std::vector<Result<Answer>> ask(std::span<const net::HttpAddress> addresses, const Credentials& credentials,
                                const net::HttpQuestion& question, std::span<const Field> schema,
                                Ns patience);
// The same of all tables of the answer, as it says their columns.
std::vector<Result<wire::TablesAnswer>> ask_tables(std::span<const net::HttpAddress> addresses,
                                                   const Credentials& credentials,
                                                   const net::HttpQuestion& question, Ns patience);

}  // namespace spotter::client
