#include "simulate/faults/fault.h"

#include <algorithm>

#include "base/text/suggestion.h"

namespace spotter::simulate {
namespace {

std::string names_of(std::span<const FaultParam> params) {
  std::string names;
  for (const FaultParam& p : params) names += (names.empty() ? "" : ", ") + std::string(p.name);
  return names;
}

}  // namespace

const FaultKind& kind_of(FaultType type) {
  return *std::ranges::find_if(fault_kinds(), [&](const FaultKind& k) { return k.type == type; });
}

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const FaultKind& kind : fault_kinds()) names.emplace_back(kind.name);
  return names;
}

Result<Fault> parse_fault(const std::string& text, i64 last_step) {
  const size_t colon = std::min(text.find(':'), text.size());
  const auto kind = std::ranges::find_if(fault_kinds(),
                                         [&](const FaultKind& k) { return text.substr(0, colon) == k.name; });
  if (kind == fault_kinds().end())
    return fail(Code::invalid, "there is no fault \"{}\"{}", text.substr(0, colon),
                did_you_mean(text.substr(0, colon), fault_names(), "; --list-faults lists them"));
  Fault fault;
  fault.type = kind->type;
  fault.text = text;
  for (const FaultParam& p : kind->params) CHECK(p.set(fault, p.fallback, last_step));
  fault.tells_groups = false;
  for (size_t at = colon + 1; at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, comma - at);
    const size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, equals);
    const auto param =
        std::ranges::find_if(kind->params, [&](const FaultParam& p) { return name == p.name; });
    if (param == kind->params.end())
      return fail(Code::invalid, "the fault {} has no parameter \"{}\"; it has {}", kind->name, name,
                  names_of(kind->params));
    if (equals >= word.size() || !param->set(fault, word.substr(equals + 1), last_step))
      return fail(Code::invalid, "\"{}\" of the fault {} does not fit; {}: {}", word, kind->name, name,
                  param->help);
    at = comma + 1;
  }
  if (fault.pair && fault.tells_groups)
    return fail(
        Code::invalid,
        "the fault {} is either between two ranks or at groups of them; leave out ranks or group and index",
        kind->name);
  return fault;
}

std::string describe_faults() {
  std::string text;
  for (const FaultKind& kind : fault_kinds()) {
    std::string example = kind.name;
    char before = ':';
    for (const FaultParam& p : kind.params) {
      example += fmt::format("{}{}={}", before, p.name, p.fallback);
      before = ',';
    }
    text += fmt::format("{}\n    {}\n", example, kind.help);
    for (const FaultParam& p : kind.params) text += fmt::format("    {:<9} {}\n", p.name, p.help);
  }
  return text;
}

}  // namespace spotter::simulate
