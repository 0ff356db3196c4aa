#include "base/text/utf8.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace spotter {
namespace {

struct Range {
  char32_t first, last;
};

constexpr Range kZeroWidth[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},   {0x064B, 0x065F},
    {0x06D6, 0x06DC}, {0x0900, 0x0902}, {0x093C, 0x093C}, {0x0941, 0x0948},   {0x094D, 0x094D},
    {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},   {0x1DC0, 0x1DFF},
    {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064}, {0x2066, 0x2069},   {0x20D0, 0x20FF},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF},
};

// East Asian Width W and F, and the emoji blocks.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},
    {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF},
    {0x1FA70, 0x1FAFF}, {0x20000, 0x2FFFD}, {0x30000, 0x3FFFD},
};

bool in(std::span<const Range> ranges, char32_t c) {
  const auto it = std::upper_bound(ranges.begin(), ranges.end(), c,
                                   [](char32_t v, const Range& r) { return v < r.first; });
  return it != ranges.begin() && c <= (it - 1)->last;
}

// How many of the first bytes are ASCII, eight at a time; nearly all text is nothing else.
size_t ascii_prefix(std::string_view text) {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    u64 word;
    std::memcpy(&word, text.data() + i, 8);
    if (word & 0x8080808080808080) break;
  }
  while (i < text.size() && static_cast<u8>(text[i]) < 0x80) ++i;
  return i;
}

void append_code_point(std::string& out, std::string_view text, CodePoint c) {
  if (c.good)
    out.append(text.substr(0, c.bytes));
  else
    out += "\uFFFD";
}

bool turns_direction(char32_t c) { return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069); }

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F); }

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<u8>(text[i]); };
  const u8 lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  if (lead < 0xC2 || lead > 0xF4) return {kReplacement, 1, false};

  const u8 length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and what is beyond U+10FFFF.
  u8 low = 0x80, high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;

  char32_t value = lead & (0x7Fu >> length);
  for (u8 i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) return {kReplacement, i, false};
    value = value << 6 | (byte(i) & 0x3Fu);
    low = 0x80, high = 0xBF;
  }
  return {value, length, true};
}

std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool is_valid_utf8(std::string_view text) {
  while (true) {
    text.remove_prefix(ascii_prefix(text));
    if (text.empty()) return true;
    const CodePoint c = first_code_point(text);
    if (!c.good) return false;
    text.remove_prefix(c.bytes);
  }
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (true) {
    const size_t ascii = ascii_prefix(text);
    out.append(text.substr(0, ascii));
    text.remove_prefix(ascii);
    if (text.empty()) return out;
    const CodePoint c = first_code_point(text);
    append_code_point(out, text, c);
    text.remove_prefix(c.bytes);
  }
}

std::string to_printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    CodePoint c = first_code_point(text);
    if (c.value == '\t' || c.value == '\n' || c.value == '\r') {
      out += ' ';
    } else {
      c.good = c.good && !is_control(c.value) && !turns_direction(c.value);
      append_code_point(out, text, c);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

int display_width(char32_t c) {
  if (c < 0x300) return 1;
  if (in(kZeroWidth, c)) return 0;
  return in(kWide, c) ? 2 : 1;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    width += display_width(c.value);
    text.remove_prefix(c.bytes);
  }
  return width;
}

}  // namespace spotter
