// Errors are values: Result<T> is a T or an Error. Nothing throws across a module border. A function that can
// fail returns Result; its caller either handles the error or passes it up with TRY, adding context with
// `within`. CHECK is for our own mistakes only: no input, user or peer may reach one.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace spotter {

enum class Code { not_found, invalid, corrupt, unsupported, io, denied, busy, cancelled, internal };

const char* code_name(Code code);
Code code_of(std::string_view name);  // internal where there is none of that name

struct Error {
  Code code = Code::internal;
  std::string message;  // one sentence for a person: what, where (file, position), and what to do about it
};

template <class T>
using Result = tl::expected<T, Error>;

template <class... A>
[[nodiscard]] tl::unexpected<Error> fail(Code code, fmt::format_string<A...> format, A&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<A>(args)...)});
}

// Adds context on the way up: within(error, "rank 3") gives "rank 3: <message>".
[[nodiscard]] inline tl::unexpected<Error> within(Error error, std::string_view where) {
  error.message = fmt::format("{}: {}", where, error.message);
  return tl::unexpected<Error>(std::move(error));
}

// The system's words for an errno value.
std::string errno_text(int number);

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

// Prints "spotter: <message>" and ends the process with status 1. Only for what no caller can handle: no more
// memory.
[[noreturn]] void end_process(const char* message);

}  // namespace spotter

// TRY(expr): returns the error of a Result<void> expression. TRY_ASSIGN(auto x, expr): binds the value or
// returns.
#define SPOTTER_JOIN2(a, b) a##b
#define SPOTTER_JOIN(a, b) SPOTTER_JOIN2(a, b)
#define TRY(expr)                                                             \
  do {                                                                        \
    if (auto try_result = (expr); !try_result)                                \
      return tl::unexpected<::spotter::Error>(std::move(try_result).error()); \
  } while (0)
#define TRY_ASSIGN(declaration, expr)                                                                \
  auto SPOTTER_JOIN(try_result_, __LINE__) = (expr);                                                 \
  if (!SPOTTER_JOIN(try_result_, __LINE__))                                                          \
    return tl::unexpected<::spotter::Error>(std::move(SPOTTER_JOIN(try_result_, __LINE__)).error()); \
  declaration = std::move(*SPOTTER_JOIN(try_result_, __LINE__))
#define CHECK(condition) ((condition) ? void(0) : ::spotter::check_failed(#condition, __FILE__, __LINE__))
