#include "analyze/critical_path/what_if.h"

#include <fmt/format.h>

namespace spotter::analyze {

Result<void> check_what_if(const std::string& text) {
  if (!text.empty()) TRY(parse_name_factor(text));
  return {};
}

WhatIf::WhatIf(std::string_view text) {
  if (text.empty()) return;
  Result<NameFactor> what = parse_name_factor(text);
  CHECK(what.has_value());
  what_ = std::move(*what);
}

bool WhatIf::fits(const Trace& trace, EventId e) {
  if (!is_set()) return false;
  known_.resize(trace.strings().size());
  u8& known = known_[trace.name[e]];
  if (known == 0) known = trace.name_of(e).find(what_.name) != std::string_view::npos ? 2 : 1;
  return known == 2;
}

void WhatIf::note_unknown_name(Table& table) const {
  if (is_set() && std::ranges::find(known_, 2) == known_.end())
    table.notes.add(
        "what_if_nothing", Severity::info,
        fmt::format("nothing in the steps has \"{}\" in its name, so that the what-if changes nothing",
                    what_.name));
}

}  // namespace spotter::analyze
