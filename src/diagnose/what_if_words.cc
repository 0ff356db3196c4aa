#include "diagnose/what_if_words.h"

#include <algorithm>

#include "analyze/range_text.h"
#include "base/name_factor.h"
#include "base/text/suggestion.h"

namespace spotter::diagnose {
namespace {

constexpr const char* kForm =
    "write device, host, pause or transfer with :all, :rank=RANKS or (transfer) "
    ":group=NAME, and a factor or peer: device:rank=3=peer, transfer:all=0";

std::vector<std::string> part_names() {
  std::vector<std::string> names;
  for (u8 i = 0; i < static_cast<u8>(WhatIf::Part::count_); ++i)
    names.emplace_back(part_name(static_cast<WhatIf::Part>(i)));
  return names;
}

std::string whose_of(std::string_view rest) { return std::string(rest.substr(0, rest.find('='))); }

bool is_whose(const std::string& word) {
  return word == "all" || word == "rank" || word == "ranks" || word == "group";
}

Result<std::optional<double>> parse_value(const std::string& value) {
  if (value == "peer") return std::nullopt;
  if (const auto factor = parse_name_factor("x=" + value)) return factor->factor;
  return fail(Code::invalid, "\"{}\" is neither peer nor a factor from 0 to 1000000, such as 0.5{}", value,
              did_you_mean(value, std::vector<std::string>{"peer"}));
}

Result<WhatIf::Part> parse_part(const std::string& name) {
  const std::vector<std::string> names = part_names();
  const auto it = std::ranges::find(names, name);
  if (it != names.end()) return static_cast<WhatIf::Part>(it - names.begin());
  return fail(Code::invalid, "a replay has no \"{}\"{}", name,
              did_you_mean(name, names, fmt::format("; there are {}", fmt::join(names, ", "))));
}

}  // namespace

bool is_about_replay(const std::string& word) {
  const size_t colon = word.find(':');
  if (colon == word.npos || word.find('=') < colon || word.substr(colon).starts_with("::")) return false;
  const std::vector<std::string> parts = part_names();
  return std::ranges::find(parts, word.substr(0, colon)) != parts.end() ||
         is_whose(whose_of(std::string_view(word).substr(colon + 1)));
}

Result<WhatIf> parse_what_if(const std::string& word) {
  const size_t colon = std::min(word.find(':'), word.size());
  const std::string rest = word.substr(std::min(colon + 1, word.size()));
  WhatIf question;
  TRY_ASSIGN(question.part, parse_part(word.substr(0, colon)));
  const std::string whose = whose_of(rest);
  if (!is_whose(whose))
    return fail(
        Code::invalid, "\"{}\" is not whose time is meant{}", whose,
        did_you_mean(whose, std::vector<std::string>{"all", "rank", "group"}, fmt::format("; {}", kForm)));
  const size_t last = rest.rfind('=');
  if (last == rest.npos) return fail(Code::invalid, "\"{}\" says no factor; {}", word, kForm);
  TRY_ASSIGN(question.factor, parse_value(rest.substr(last + 1)));
  if (whose == "all") {
    if (last != whose.size()) return fail(Code::invalid, "\"{}\": all is all; {}", word, kForm);
    return question;
  }
  if (last <= whose.size() + 1)
    return fail(Code::invalid, "\"{}\" says no {}, or no factor; {}", word, whose, kForm);
  const std::string name = rest.substr(whose.size() + 1, last - whose.size() - 1);
  if (whose != "group") {
    TRY_ASSIGN(question.ranks, analyze::parse_ranges(name));
    return question;
  }
  if (question.part != WhatIf::Part::transfer)
    return fail(Code::invalid, "only transfers have a group; {}", kForm);
  question.group = name;
  return question;
}

}  // namespace spotter::diagnose
