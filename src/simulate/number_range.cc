#include "simulate/number_range.h"

#include "base/text/number.h"

namespace spotter::simulate {

std::optional<NumberRange> parse_number_range(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = number_in<i64>(text.substr(0, dash));
  if (!first || *first < 0) return std::nullopt;
  if (dash == text.npos) return NumberRange{*first, *first};
  if (dash + 1 == text.size()) return NumberRange{*first};
  const auto last = number_in<i64>(text.substr(dash + 1));
  if (!last || *last < *first) return std::nullopt;
  return NumberRange{*first, *last};
}

}  // namespace spotter::simulate
