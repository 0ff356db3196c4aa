// An error as agents answer with it: {"error": {"code", "message"}}.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace spotter::wire {

std::string error_text(const Error& error);
int http_status(Code code);  // that belongs to it

// nullopt: it is none. Of a long message the beginning.
std::optional<Error> read_error(std::string_view body);

}  // namespace spotter::wire
