// Asking an agent: the other end of routes.h.
#pragma once
#include <span>
#include <string>

#include "base/result.h"
#include "table/table.h"

namespace spotter::api {

struct Answer {
  Table table;          // the first one, in the shape of `schema`
  std::string capture;  // of captures: its id, how often it has changed, whether all its receipts are final
  i64 revision = 0;
  bool over = false;
};

// Errors: those of the agent, with their codes; not_found where none listens; corrupt where the answer is
// none of an agent. A column that it does not have is null.
Result<Answer> ask(const std::string& socket, const std::string& method, const std::string& target,
                   const std::string& body, std::span<const Field> schema, Ns patience);

}  // namespace spotter::api
