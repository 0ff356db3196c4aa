// Our columns under the names of OpenTelemetry's semantic conventions, in two visible tables. Source:
// opentelemetry.io/docs/specs/semconv, system and hardware metrics (status: development), as of 2026.
//
// What the conventions do not have (SM activity, NVLink, pressure, ...) is only in our own namespace, where
// all columns are. Left out on purpose: hw.gpu.io, since drivers tell rates of PCIe and no totals; hw.status,
// since a GPU whose numbers are doubted is neither well nor broken.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "base/types.h"

namespace spotter::sink {

enum class Instrument : u8 { counter, updown_counter, gauge };

struct FixedAttribute {
  const char* key = nullptr;  // nullptr: none
  const char* value = nullptr;
};

// Entries of one metric stand together.
struct SemanticName {
  const char *table, *column;
  const char *name, *unit;
  Instrument instrument;
  std::array<FixedAttribute, 3> attributes = {};
  std::array<const char*, 3> less = {};  // columns that are subtracted; nullptr: none
  const char* of = nullptr;              // column of the whole that it is a part of; nullptr: it is no part
};

// What a column of Role::key or Role::detail says about its row. Details that are not here are no attributes:
// they may be another text each time, and each text is a series of its own.
struct AttributeName {
  const char *table, *column;  // the table "*": all that have no line of their own for the column
  const char* name;
  bool is_user = false;  // who uses the thing now, not which one it is
};

std::span<const SemanticName> semantic_names();
std::span<const AttributeName> attribute_names();
// nullptr: none.
const AttributeName* find_attribute(std::string_view table, std::string_view column);

}  // namespace spotter::sink
