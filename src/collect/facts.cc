#include "collect/facts.h"

#include <unistd.h>

#include "base/system/file.h"
#include "base/text/words.h"

namespace spotter::collect {

std::string read_fact(const std::string& path) {
  constexpr size_t kMost = 4096;
  const std::string text = read_small_file(path, kMost).value_or("");
  std::string_view rest = whole_lines(text);
  return std::string(trimmed(next_line(rest)));
}

std::string read_fact_lines(const std::string& path) {
  constexpr size_t kMost = size_t{64} << 10;
  return std::string(trimmed(read_small_file(path, kMost).value_or("")));
}

std::optional<i64> read_fact_number(const std::string& path) { return to_integer(read_fact(path)); }

std::string read_link_name(const std::string& path) {
  char target[4096];
  const ssize_t n = readlink(path.c_str(), target, sizeof target);
  if (n <= 0) return {};
  const std::string_view text(target, static_cast<size_t>(n));
  return std::string(text.substr(text.rfind('/') + 1));
}

}  // namespace spotter::collect
