#include "report/html/escaped.h"

#include <fmt/format.h>

#include "base/text/utf8.h"

namespace spotter::report {
namespace {

// Control characters, marks of direction (Unicode Standard Annex #9), separators of lines and paragraphs.
bool is_unseen(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x061C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

// HTML has no such character, though UTF-8 does.
bool is_noncharacter(char32_t c) { return (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF); }

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    const std::string_view bytes = text.substr(0, c.bytes);
    text.remove_prefix(c.bytes);
    if (!c.good || is_noncharacter(c.value)) {
      out += "\uFFFD";
    } else if (c.value == '\t' || c.value == '\n' || c.value == '\r') {
      out += ' ';
    } else if (is_unseen(c.value)) {
      out += fmt::format("[U+{:04X}]", static_cast<u32>(c.value));
    } else if (c.value == '&') {
      out += "&amp;";
    } else if (c.value == '<') {
      out += "&lt;";
    } else if (c.value == '>') {
      out += "&gt;";
    } else if (c.value == '"') {
      out += "&quot;";
    } else if (c.value == '\'') {
      out += "&#39;";
    } else {
      out += bytes;
    }
  }
  return out;
}

}  // namespace spotter::report
