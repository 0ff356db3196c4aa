#include <algorithm>

#include "base/text/utf8.h"
#include "render/render.h"

namespace spotter::render {
namespace {

constexpr size_t kMostWord = 28;  // a longer word has its meaning on the next line

}  // namespace

std::string wrapped(const std::string& text, int width, const std::string& indent) {
  if (width <= 0) return text;
  std::string out;
  int column = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t blank = std::min(text.find(' ', at), text.size());
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
