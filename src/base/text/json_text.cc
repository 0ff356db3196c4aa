#include "base/text/json_text.h"

#include <fmt/format.h>

#include <iterator>

#include "base/text/utf8.h"
#include "base/types.h"

namespace spotter {

void append_json_text(std::string& out, std::string_view text) {
  std::string mended;
  if (!is_valid_utf8(text)) text = mended = to_valid_utf8(text);
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<u8>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<u8>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace spotter
