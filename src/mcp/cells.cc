#include "mcp/cells.h"

#include <fmt/format.h>

#include "base/moment.h"
#include "base/text/shell_word.h"
#include "base/text/utf8.h"
#include "base/time.h"

namespace spotter::mcp {
namespace {

// Unicode's controls (Cc) and format characters (Cf, UnicodeData 15), variation selectors and tags.
bool is_unseen(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  static constexpr Range kRanges[] = {
      {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},     {0x34F, 0x34F},   {0x600, 0x605},
      {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},   {0x115F, 0x1160}, {0x17B4, 0x17B5},
      {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164},
      {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3},
      {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
  };
  for (const Range& range : kRanges)
    if (c >= range.first && c <= range.last) return true;
  return false;
}

// Bytes of the escape sequence that the text begins with (ECMA-48: CSI, and strings up to ST or BEL); 1 where
// it is none.
size_t escape_bytes(std::string_view text) {
  if (text.size() < 2) return 1;
  if (text[1] == '[') {
    size_t end = 2;
    while (end < text.size() && text[end] >= 0x20 && text[end] < 0x40) ++end;
    return std::min(end + 1, text.size());
  }
  if (text[1] == ']' || text[1] == 'P' || text[1] == '^' || text[1] == '_' || text[1] == 'X') {
    for (size_t end = 2; end < text.size(); ++end) {
      if (text[end] == '\a') return end + 1;
      if (text[end] == '\x1b') return std::min(end + 2, text.size());
    }
    return 1;
  }
  return 1;
}

}  // namespace

std::string clean(std::string_view text, size_t most) {
  std::string out;
  size_t characters = 0, before_last = 0;
  while (!text.empty()) {
    if (text.front() == '\x1b') {
      text.remove_prefix(escape_bytes(text));
      continue;
    }
    const CodePoint point = first_code_point(text);
    const std::string_view bytes = text.substr(0, point.bytes);
    text.remove_prefix(point.bytes);
    const bool is_blank = point.value == '\t' || point.value == '\n' || point.value == '\r';
    if (point.good && is_unseen(point.value) && !is_blank) continue;
    if (characters == most) {
      out.resize(before_last);
      return out + "…";
    }
    before_last = out.size();
    ++characters;
    if (is_blank)
      out += ' ';
    else
      out += point.good ? bytes : std::string_view("\xEF\xBF\xBD");
  }
  return out;
}

std::string command_word(std::string_view text) {
  if (clean(text, text.size()) == text) return shell_word(text);
  // As printf prints it, in any shell of POSIX; there is no quote in it, so that none ends before its time.
  // What ends with a line break would lose that.
  const bool is_printed = !text.ends_with('\n');
  std::string word = is_printed ? "\"$(printf '" : "$'";
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const std::string_view bytes = text.substr(0, point.bytes);
    text.remove_prefix(point.bytes);
    if (!point.good || is_unseen(point.value) || bytes == "'" || bytes == "\\")
      for (const char byte : bytes) word += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
    else
      word += is_printed && bytes == "%" ? "%%" : bytes;
  }
  return word + (is_printed ? "')\"" : "'");
}

std::string command_paths(std::span<const std::string> paths) {
  std::string words;
  for (const std::string& path : paths)
    words +=
        (words.empty() ? "" : " ") + command_word(path.starts_with('-') && path != "-" ? "./" + path : path);
  return words;
}

std::string time_text(Ns unix_ns) {
  std::string text = utc_text(unix_ns);  // to the millisecond
  const Ns below = ((unix_ns % kMillisecond) + kMillisecond) % kMillisecond;
  text.pop_back();
  if (below != 0) text += fmt::format("{:06}", below);
  if (text.find('.') != text.npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text + "Z";
}

}  // namespace spotter::mcp
