#include "analyze/what_if.h"

#include <fmt/format.h>

#include <charconv>

namespace spotter {
namespace {

constexpr double kMostFactor = 1e6;

}  // namespace

Result<WhatIf> WhatIf::parse(std::string_view text) {
  WhatIf what_if;
  if (text.empty()) return what_if;
  const size_t equals = text.rfind('=');  // names may have one, factors have none
  const std::string_view digits = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), what_if.factor_,
                                            std::chars_format::fixed);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  if (!is_number || equals == 0 || !(what_if.factor_ >= 0 && what_if.factor_ <= kMostFactor))
    return fail(Code::invalid,
                "what_if takes NAME=FACTOR, such as nccl=0.5, with a factor from 0 to 1000000; it is \"{}\"",
                text);
  what_if.name_ = text.substr(0, equals);
  return what_if;
}

bool WhatIf::fits(const Trace& trace, EventId e) {
  if (!is_set()) return false;
  known_.resize(trace.strings().size());
  u8& known = known_[trace.name[e]];
  if (known == 0) known = trace.name_of(e).find(name_) != std::string_view::npos ? 2 : 1;
  return known == 2;
}

}  // namespace spotter
