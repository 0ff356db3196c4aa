// Cells of collectors' rows.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "table/table.h"

namespace spotter::collect {

inline constexpr Ns kSecond = 1'000'000'000;

template <class T>
Value or_null(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}

// An empty text is null.
inline Value or_null(std::string_view text) { return text.empty() ? Value() : Value(text); }

}  // namespace spotter::collect
