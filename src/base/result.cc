#include "base/result.h"

#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace spotter {

const char* code_name(Code code) {
  switch (code) {
    case Code::not_found:
      return "not_found";
    case Code::invalid:
      return "invalid";
    case Code::corrupt:
      return "corrupt";
    case Code::unsupported:
      return "unsupported";
    case Code::io:
      return "io";
    case Code::denied:
      return "denied";
    case Code::busy:
      return "busy";
    case Code::cancelled:
      return "cancelled";
    case Code::internal:
      return "internal";
  }
  return "unknown";
}

Code code_of(std::string_view name) {
  for (const Code code : {Code::not_found, Code::invalid, Code::corrupt, Code::unsupported, Code::io,
                          Code::denied, Code::busy, Code::cancelled}) {
    if (name == code_name(code)) return code;
  }
  return Code::internal;
}

std::string errno_text(int number) { return std::generic_category().message(number); }

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "spotter: internal error: %s is false (%s:%d)\n", condition, file, line);
  std::abort();
}

void end_process(const char* message) {
  std::fprintf(stderr, "spotter: %s\n", message);
  // No destructors: other threads may be at work in what they would free.
  std::_Exit(EXIT_FAILURE);
}

}  // namespace spotter
