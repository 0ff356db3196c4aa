// Visible lists: a record (an analysis, a collector, a sink ...) has a file of its own, and one header names
// all of a kind, one on a line, as src/sink/list.h does: a macro SPOTTER_SINKS of names with commas between,
// then
//
//   extern const SinkKind SPOTTER_SINKS;
//
// The same names make the list: `static constexpr auto kAll = addresses(SPOTTER_SINKS);`.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace spotter {

template <class Record, class... Same>
constexpr std::array<const Record*, 1 + sizeof...(Same)> addresses(const Record& first,
                                                                   const Same&... others) {
  return {&first, &others...};
}

// By the member `name`; nullptr if there is none.
template <class Record>
const Record* find_named(std::span<const Record* const> all, std::string_view name) {
  const auto it = std::ranges::find_if(all, [&](const Record* record) { return name == record->name; });
  return it == all.end() ? nullptr : *it;
}

}  // namespace spotter
