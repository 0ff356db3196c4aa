#include "render/names.h"

#include <algorithm>
#include <map>

#include "base/text/utf8.h"
#include "render/render.h"

namespace spotter::render {
namespace {

constexpr int kLeastPieces = 8;  // cells that hold three pieces of a text

std::string plain_name(std::string name) {
  const bool is_code = name.find('(') != name.npos || name.find('<') != name.npos;
  if (is_code && name.starts_with("void ")) name.erase(0, 5);
  for (const std::string_view noise : {"at::native::", "(anonymous namespace)::"}) {
    for (size_t at = name.find(noise); at != name.npos; at = name.find(noise, at))
      name.erase(at, noise.size());
  }
  return name;
}

// Bytes of the longest beginning of at most `width` cells.
size_t bytes_within(std::string_view text, int width) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    const CodePoint c = first_code_point(text.substr(bytes));
    width -= display_width(c.value);
    if (width < 0) break;
    bytes += c.bytes;
  }
  return bytes;
}

std::string_view end_within(std::string_view text, int width) {
  int excess = display_width(text) - width;
  while (excess > 0) {
    const CodePoint c = first_code_point(text);
    excess -= display_width(c.value);
    text.remove_prefix(c.bytes);
  }
  return text;
}

// The beginning of a kernel's name says more than the end of its argument list, so it gets two thirds.
std::string without_middle(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  const int head = width * 2 / 3;
  std::string out(text.substr(0, bytes_within(text, head)));
  return out.append("…").append(end_within(text, width - 1 - head));
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The beginning, and what follows from the word around `difference` on.
std::string from_difference(std::string_view text, size_t difference, int width) {
  const size_t head = bytes_within(text, width / 3);
  size_t from = difference;
  while (from > head && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) --from;
  const size_t least = std::max(head, from - std::min(from, static_cast<size_t>(width / 4)));
  size_t word = from;
  while (word > least && is_word(text[word - 1])) --word;
  std::string out(text.substr(0, head));
  return out.append("…").append(without_middle(text.substr(word), width - width / 3 - 1));
}

size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

using Shorts = std::map<std::string, std::string>;  // of each distinct text

// `alike`: sorted texts whose short forms are equal.
void tell_apart(const std::vector<std::string>& alike, int width, Shorts& shorts) {
  const size_t difference = common_prefix(alike.front(), alike.back());
  std::map<std::string, std::vector<std::string>> groups;
  for (const std::string& text : alike) {
    shorts[text] = from_difference(text, std::min(difference, text.size() - 1), width);
    groups[shorts[text]].push_back(text);
  }
  for (const auto& [form, texts] : groups) {
    if (texts.size() > 1 && texts.size() < alike.size()) tell_apart(texts, width, shorts);
  }
}

}  // namespace

std::vector<std::string> plain_names(const std::vector<std::string>& names) {
  std::map<std::string, std::string> whole;  // by plain name; empty where two share it
  for (const std::string& name : names) {
    const auto [it, is_new] = whole.emplace(plain_name(name), name);
    if (!is_new && it->second != name) it->second.clear();
  }
  std::vector<std::string> plain;
  for (const std::string& name : names) {
    const std::string short_form = plain_name(name);
    plain.push_back(whole[short_form].empty() ? name : short_form);
  }
  return plain;
}

std::vector<std::string> shortened(const std::vector<std::string>& texts, int width) {
  Shorts shorts;
  for (const std::string& text : texts) shorts.emplace(text, without_middle(text, width));
  std::map<std::string, std::vector<std::string>> groups;
  for (const auto& [text, form] : shorts) groups[form].push_back(text);
  for (const auto& [form, alike] : groups) {
    if (alike.size() > 1 && width >= kLeastPieces) tell_apart(alike, width, shorts);
  }
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(shorts[text]);
  return out;
}

std::string short_name(std::string_view name, int cells) {
  return without_middle(plain_name(to_printable(name)), cells);
}

}  // namespace spotter::render
