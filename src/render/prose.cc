#include <algorithm>

#include "base/text/utf8.h"
#include "render/render.h"

namespace spotter::render {
namespace {

constexpr size_t kMostWord = 28;  // a longer word has its meaning on the next line

// Between a number and its unit: "8.13 ms", "(82 %)".
bool is_before_unit(const std::string& text, size_t blank) {
  constexpr std::string_view kUnits[] = {"%", "ns",  "µs",  "ms",  "s",   "min", "h", "GB/s",
                                         "B", "KiB", "MiB", "GiB", "TiB", "°C",  "W"};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (blank == 0 || blank >= text.size() || !is_digit(text[blank - 1])) return false;
  const std::string_view next = std::string_view(text).substr(blank + 1);
  return std::ranges::any_of(kUnits, [&](std::string_view unit) {
    return next.starts_with(unit) &&
           (next.size() == unit.size() ||
            std::string_view(" ,.;:)").find(next[unit.size()]) != std::string_view::npos);
  });
}

}  // namespace

std::string wrapped(const std::string& text, int width, const std::string& indent) {
  if (width <= 0) return text;
  std::string out;
  int column = 0;
  for (size_t at = 0; at < text.size();) {
    size_t blank = std::min(text.find(' ', at), text.size());
    if (is_before_unit(text, blank)) blank = std::min(text.find(' ', blank + 1), text.size());
    const std::string word = text.substr(at, blank - at);
    const int cells = display_width(word);
    if (at > 0 && column + 1 + cells > width) {
      out += "\n" + indent;
      column = static_cast<int>(indent.size());
    } else if (at > 0) {
      out += ' ';
      column++;
    }
    out += word;
    column += cells;
    at = blank + 1;
  }
  return out;
}

std::string render_meanings(std::span<const std::pair<std::string, std::string>> meanings, int width) {
  size_t longest = 0;
  for (const auto& [word, meaning] : meanings) longest = std::max(longest, word.size());
  const std::string indent(2 + std::min(longest, kMostWord) + 2, ' ');
  std::string out;
  for (const auto& [word, meaning] : meanings) {
    std::string line = "  " + word;
    if (word.size() > kMostWord) line += "\n" + indent;
    line.resize(std::max(line.size(), indent.size()), ' ');
    const int room = width > 0 ? std::max(1, width - static_cast<int>(indent.size())) : 0;
    std::string text = wrapped(meaning, room);
    for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
      text.insert(at + 1, indent);
    out += line + text + "\n";
  }
  return out;
}

}  // namespace spotter::render
