#include "analyze/kernels/function_name.h"

#include <algorithm>
#include <optional>

namespace spotter::analyze {
namespace {

constexpr std::string_view kAnonymous[] = {"(anonymous namespace)::", "<unnamed>::", "{anonymous}::"};
constexpr std::string_view kOperator = "operator";

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The symbol behind "operator", if one is: () [] -> < <= << and so on.
std::string_view operator_symbol(std::string_view rest) {
  for (const std::string_view pair : {"()", "[]"})
    if (rest.starts_with(pair)) return pair;
  return rest.substr(0, std::min(rest.find_first_not_of("<>=!+-*/%&|^~,"), rest.size()));
}

// Without what is in brackets of any kind; nullopt where they do not match.
std::optional<std::string> without_brackets(std::string_view name) {
  std::string out, open;
  for (size_t at = 0; at < name.size();) {
    const std::string_view rest = name.substr(at);
    const char c = rest[0];
    if (rest.starts_with(kOperator) && (at == 0 || !is_word(name[at - 1]))) {
      const std::string_view symbol = operator_symbol(rest.substr(kOperator.size()));
      if (open.empty()) out.append(kOperator).append(symbol);
      at += kOperator.size() + symbol.size();
      continue;
    }
    const auto* anonymous =
        std::ranges::find_if(kAnonymous, [&](std::string_view part) { return rest.starts_with(part); });
    if (anonymous != std::end(kAnonymous)) {
      at += anonymous->size();
    } else if (rest.starts_with("->")) {
      if (open.empty()) break;  // the return type, behind the parameters
      at += 2;
    } else if (c == '<' || c == '(' || c == '{' || c == '[') {
      open += c == '<' ? '>' : c == '(' ? ')' : c == '{' ? '}' : ']';
      ++at;
    } else if (!open.empty() && c == open.back()) {
      open.pop_back();
      ++at;
    } else if (open.empty() && (c == '>' || c == ')' || c == '}' || c == ']')) {
      return std::nullopt;
    } else {
      if (open.empty()) out += c;
      ++at;
    }
  }
  if (!open.empty()) return std::nullopt;
  return out;
}

bool is_copy_or_set(std::string_view name) {
  return name.starts_with("Memcpy") || name.starts_with("Memset") || name.starts_with("Copy");
}

}  // namespace

std::string function_name(std::string_view name) {
  const bool is_code = name.find_first_of("<(") != std::string_view::npos;
  if (!is_code || is_copy_or_set(name)) return std::string(name);
  std::optional<std::string> plain = without_brackets(name);
  if (!plain) return std::string(name);
  // The return type comes first, and qualifiers come behind the parameters.
  std::string_view rest = *plain;
  for (const std::string_view behind : {" const", " noexcept", " &", " volatile"})
    while (rest.ends_with(behind)) rest.remove_suffix(behind.size());
  while (rest.ends_with(' ')) rest.remove_suffix(1);
  rest = rest.substr(rest.rfind(' ') + 1);
  while (rest.starts_with("::") || rest.starts_with('*') || rest.starts_with('&')) rest.remove_prefix(1);
  while (rest.ends_with(':')) rest.remove_suffix(1);
  return rest.empty() ? std::string(name) : std::string(rest);
}

}  // namespace spotter::analyze
