// The output formats behind render(): one file each.
#pragma once
#include <span>
#include <string>

#include "render/render.h"

namespace spotter::render {

std::string render_text(std::span<const Table> tables, const Notes& notes,
                        const TextStyle& style);  // text.cc
std::string render_json(std::span<const Table> tables, const Notes& notes,
                        const TextStyle& style);                                                    // json.cc
std::string render_csv(std::span<const Table> tables, const Notes& notes, const TextStyle& style);  // csv.cc

std::string render_svg(std::span<const Table> tables, const Notes& notes, const TextStyle& style);  // svg.cc
bool is_drawn(const Table& table);

}  // namespace spotter::render
