#include "app/job/gates.h"

#include <algorithm>

#include "base/text/number.h"
#include "base/text/quantity.h"
#include "base/text/suggestion.h"

namespace spotter::app {
namespace {

using diagnose::Quantity;

Result<Quantity> parse_quantity(const std::string& name) {
  std::vector<std::string> names;
  for (u8 i = 0; i < static_cast<u8>(Quantity::count_); ++i)
    names.emplace_back(diagnose::quantity_name(static_cast<Quantity>(i)));
  const auto it = std::ranges::find(names, name);
  if (it != names.end()) return static_cast<Quantity>(it - names.begin());
  return fail(Code::invalid, "there is no quantity \"{}\"{}", name,
              did_you_mean(name, names, fmt::format("; there are {}", fmt::join(names, ", "))));
}

}  // namespace

Result<Gate> parse_gate(const std::string& word) {
  const size_t sign = word.find('>');
  if (sign == word.npos || sign == 0 || sign + 1 == word.size())
    return fail(Code::invalid, "\"{}\" is no QUANTITY>AMOUNT, such as step>5%", word);
  Gate gate{.word = word};
  TRY_ASSIGN(gate.quantity, parse_quantity(word.substr(0, sign)));
  std::string amount = word.substr(sign + 1);
  if (amount.ends_with('%')) {
    amount.pop_back();
    gate.share = number_in<double>(amount).value_or(-1) / 100;
    if (*gate.share >= 0 && *gate.share <= 1e6) return gate;
    return fail(Code::invalid, "\"{}\": \"{}\" is no number of percent", word, amount);
  }
  const auto number = gate.quantity == Quantity::memory ? parse_size(amount) : parse_duration_ns(amount);
  if (!number) return within(number.error(), word);
  gate.amount = *number;
  return gate;
}

Result<bool> is_exceeded(const Gate& gate, const diagnose::Diagnosis& before,
                         const diagnose::Diagnosis& after) {
  const std::optional<i64> was = quantity_of(before, gate.quantity), is = quantity_of(after, gate.quantity);
  if (!was || !is)
    return fail(Code::not_found, "--fail-if {}: the {} job's traces do not tell its {}", gate.word,
                was ? "second" : "first", diagnose::quantity_name(gate.quantity));
  const i64 growth = *is - *was;
  return gate.share ? static_cast<double>(growth) > *gate.share * static_cast<double>(*was)
                    : growth > gate.amount;
}

}  // namespace spotter::app
