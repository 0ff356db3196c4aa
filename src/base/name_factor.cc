#include "base/name_factor.h"

#include <fmt/format.h>

#include <charconv>

namespace spotter {

Result<NameFactor> parse_name_factor(std::string_view text) {
  constexpr double kMost = 1e6;
  const size_t equals = text.rfind('=');
  if (equals != std::string_view::npos && equals > 0) {
    NameFactor result{std::string(text.substr(0, equals)), 0};
    const char* end = text.data() + text.size();
    const auto [at, error] =
        std::from_chars(text.data() + equals + 1, end, result.factor, std::chars_format::fixed);
    if (error == std::errc() && at == end && result.factor >= 0 && result.factor <= kMost) return result;
  }
  return fail(Code::invalid, "\"{}\" is no NAME=FACTOR, such as gemm=0.5, with a factor from 0 to 1000000",
              text);
}

}  // namespace spotter
