// The output formats behind render(): one file each.
#pragma once
#include <string>

#include "render/render.h"

namespace spotter::render {

std::string render_text(const Document& document, const TextStyle& style);   // text.cc
std::string render_json(const Document& document, const TextStyle& style);   // json.cc
std::string render_csv(const Document& document, const TextStyle& style);    // csv.cc
std::string render_arrow(const Document& document, const TextStyle& style);  // arrow_ipc.cc

std::string render_svg(const Document& document, const TextStyle& style);  // svg.cc
bool is_drawn(const Table& table);

}  // namespace spotter::render
