#include "wire/target.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/text/number.h"
#include "base/text/utf8.h"

namespace spotter::wire {
namespace {

constexpr size_t kMostParameters = 64;

// A % that no two hexadecimal digits follow stands for itself.
std::string unescaped(std::string_view text, char plus) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    u8 byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i] == '+' ? plus : text[i];
    }
  }
  return out;
}

}  // namespace

Target::Target(std::string_view target) {
  const size_t mark = std::min(target.find('?'), target.size());
  path = target.substr(0, mark);
  std::string_view query = target.substr(std::min(mark + 1, target.size()));
  while (!query.empty() && parameters.size() < kMostParameters) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const size_t equal = std::min(pair.find('='), pair.size());
    parameters.emplace_back(unescaped(pair.substr(0, equal), ' '),
                            unescaped(pair.substr(std::min(equal + 1, pair.size())), ' '));
  }
}

std::string unescaped_segment(std::string_view segment) { return unescaped(segment, '+'); }

i64 Target::number(std::string_view name, i64 otherwise) const {
  for (const auto& [key, value] : parameters) {
    if (key != name) continue;
    return number_in<i64>(value).value_or(otherwise);
  }
  return otherwise;
}

std::string Target::text(std::string_view name) const {
  const auto it =
      std::ranges::find(parameters, name, [](const auto& p) { return std::string_view(p.first); });
  return it == parameters.end() ? std::string() : it->second;
}

Result<void> Target::has_only(std::span<const std::string_view> names) const {
  std::set<std::string_view> seen;
  for (const auto& [name, value] : parameters) {
    if (std::ranges::find(names, std::string_view(name)) == names.end())
      return fail(Code::invalid, "there is no parameter \"{}\"; there are {}", to_printable(name),
                  fmt::join(names, ", "));
    if (!seen.insert(name).second) return fail(Code::invalid, "{} is there twice", name);
  }
  return {};
}

std::string escaped_parameter(std::string_view text) {
  constexpr std::string_view kPlain = "-._~*";
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          kPlain.find(c) != kPlain.npos;
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<u8>(c));
  }
  return out;
}

}  // namespace spotter::wire
