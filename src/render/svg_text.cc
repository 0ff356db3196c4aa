#include "render/svg_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/fnv.h"
#include "base/text/utf8.h"
#include "base/types.h"

namespace spotter::render {
namespace {

// Kinds of device work, what a critical path is bound by, steps: told apart also by people who do not see all
// colours (Okabe and Ito, 2008). What is no work is grey.
constexpr std::pair<std::string_view, const char*> kColours[] = {
    {"compute", "#0072b2"},        {"communication", "#d55e00"}, {"memory", "#009e73"},
    {"host operators", "#56b4e9"}, {"host gaps", "#e69f00"},     {"data loading", "#cc79a7"},
    {"launch delays", "#f0e442"},  {"kernel gaps", "#999999"},   {"synchronization", "#000000"},
    {"unknown", "#cccccc"},        {"steps", "#56b4e9"},
};

}  // namespace

double svg_width(std::string_view text) { return kSvgCell * display_width(text); }

std::string svg_escaped(std::string_view text) {
  std::string printable = to_printable(text);
  // XML has no U+FFFE and no U+FFFF: the last of their three bytes becomes that of U+FFFD.
  for (size_t at = 0; (at = printable.find("\xEF\xBF", at)) != printable.npos; at += 3)
    if (static_cast<u8>(printable[at + 2]) >= 0xBE) printable[at + 2] = '\xBD';
  std::string out;
  for (const char c : printable) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string svg_colour(std::string_view word) {
  const auto known = std::ranges::find(kColours, word, &std::pair<std::string_view, const char*>::first);
  if (known != std::end(kColours)) return known->second;
  constexpr u64 kDarkest = 0x30, kLightest = 0xd0;  // seen on white
  u64 hash = fnv1a(word);
  std::string colour = "#";
  for (int channel = 0; channel < 3; ++channel, hash >>= 16)
    colour += fmt::format("{:02x}", kDarkest + hash % (kLightest - kDarkest));
  return colour;
}

}  // namespace spotter::render
