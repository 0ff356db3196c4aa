// The kind of a piece of device work: category first, then collective arguments, then names. classify.cc
// holds the one table of name rules.
#pragma once
#include <string_view>

#include "trace/trace.h"

namespace spotter::trace {

enum class WorkKind : u8 { compute, communication, memory };
inline constexpr size_t kWorkKinds = 3;
const char* work_kind_name(WorkKind kind);

// By category and name alone; for an event also use has_collective.
WorkKind classify(Category category, std::string_view name, bool has_collective_args);

}  // namespace spotter::trace
