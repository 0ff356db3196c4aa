#include "wire/file_part.h"

#include <fmt/format.h>

#include "base/text/number.h"

namespace spotter::wire {
namespace {

constexpr std::string_view kBytesFrom = "bytes from ";

}  // namespace

std::string file_part_text(i64 from) { return fmt::format("{}{}", kBytesFrom, from); }

std::optional<i64> read_file_part(std::string_view text) {
  if (!text.starts_with(kBytesFrom)) return std::nullopt;
  const auto from = number_in<i64>(text.substr(kBytesFrom.size()));
  return from && *from >= 0 ? std::optional(*from) : std::nullopt;
}

}  // namespace spotter::wire
