// A report as text for a terminal.
#pragma once
#include <string>

#include "render/render.h"
#include "report/report.h"

namespace spotter::report {

std::string section_text(const ShownSection& section, const render::TextStyle& style);
std::string report_text(const Report& report, const render::TextStyle& style);

}  // namespace spotter::report
