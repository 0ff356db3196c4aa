// Text that others wrote, as it stands in an answer: what a job prints, names or annotates may be meant to
// steer who reads it.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"

namespace spotter::mcp {

inline constexpr size_t kMostCell = 200;  // characters

// Without control characters, escape sequences of terminals, marks that turn the direction of writing or are
// not seen; on one line; cut to so many characters, the last then being "…".
std::string clean(std::string_view text, size_t most = kMostCell);

// A word as a shell takes it (base/text/shell_word.h), by $'...' where it has what clean() leaves out.
std::string command_word(std::string_view text);
std::string command_paths(std::span<const std::string> paths);

// "2026-11-23T04:47:02.123456789Z", with the digits that it needs.
std::string time_text(Ns unix_ns);

}  // namespace spotter::mcp
