#include "base/host_list.h"

#include <algorithm>

#include "base/text/number.h"
#include "base/text/utf8.h"

namespace spotter {
namespace {

constexpr size_t kMost = 100'000;
constexpr size_t kMostName = 255, kMostBrackets = 4;  // of a host: a list may be somebody's joke

struct Numbers {
  i64 first = 0, last = 0;
};

// At commas outside of brackets.
std::vector<std::string> split(const std::string& words) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : words) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

Result<Numbers> numbers(const std::string& text) {
  const size_t dash = std::min(text.find('-'), text.size());
  const auto first = number_in<i64>(text.substr(0, dash));
  const auto last = dash == text.size() ? first : number_in<i64>(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first)
    return fail(Code::invalid, "\"{}\" is no range of numbers such as 01-16", to_printable(text));
  return Numbers{*first, *last};
}

Result<std::vector<std::string>> expand(const std::string& word) {
  const size_t open = word.find('['), close = word.find(']');
  if (open == word.npos || open == 0) return std::vector<std::string>{word};
  if (close == word.npos || close < open)
    return fail(Code::invalid, "\"{}\": a [ has no ]", to_printable(word));
  TRY_ASSIGN(const std::vector<std::string> ends, expand(word.substr(close + 1)));
  std::vector<std::string> words;
  for (const std::string& part : split(word.substr(open + 1, close - open - 1))) {
    TRY_ASSIGN(const Numbers range, numbers(part));
    if (part.size() > kMostName)
      return fail(Code::invalid, "\"{}\" is too long", to_printable(part.substr(0, 32)));
    const size_t width = part.starts_with('0') ? std::min(part.find('-'), part.size()) : 1;
    for (i64 n = range.first; n <= range.last; ++n) {
      if (words.size() + ends.size() > kMost)
        return fail(Code::invalid, "\"{}\" are more than {} hosts", to_printable(word), kMost);
      for (const std::string& end : ends)
        words.push_back(fmt::format("{}{:0{}}{}", word.substr(0, open), n, width, end));
    }
  }
  return words;
}

}  // namespace

Result<std::vector<std::string>> expand_host_list(const std::string& list) {
  std::vector<std::string> hosts;
  for (const std::string& part : split(list)) {
    if (std::ranges::count(part, '[') > static_cast<i64>(kMostBrackets))
      return fail(Code::invalid, "\"{}\" has more than {} ranges", to_printable(part.substr(0, 32)),
                  kMostBrackets);
    TRY_ASSIGN(const std::vector<std::string> expanded, expand(part));
    hosts.insert(hosts.end(), expanded.begin(), expanded.end());
    if (hosts.size() > kMost)
      return fail(Code::invalid, "\"{}\" are more than {} hosts", to_printable(list), kMost);
  }
  return hosts;
}

}  // namespace spotter
