// Every output format, one per file of its name, in the order users see.
#pragma once
#include "render/render.h"

namespace spotter::render {

// One on a line, so that a new one is a line.
// clang-format off
#define SPOTTER_FORMATS \
  kText, \
  kJson, \
  kCsv, \
  kArrow, \
  kSvg
// clang-format on
extern const Format SPOTTER_FORMATS;

std::span<const Format* const> all_formats();
const Format* find_format(std::string_view name);  // nullptr if there is none

}  // namespace spotter::render
