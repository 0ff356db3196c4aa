// What a report is made of (section.h) as HTML: semantic, readable without script. Classes alone say how it
// looks (web/src/static.css), since the page's policy forbids style attributes.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "report/section.h"

namespace spotter::report {

// A cell as a person reads it; where that is not all of it, a title has its exact value, as JSON prints it.
// `element`: "td", "dd", "span".
std::string value_html(std::string_view element, const Value& value, const Field& field,
                       std::optional<Ns> time_zero, std::string_view attributes = {});

std::string points_html(const Points& points);
std::string table_html(const Table& table, std::string_view caption, std::optional<Ns> time_zero);
std::string notes_html(const Notes& notes);

// `name`: of its section, for the ids in it.
std::string bars_html(const Bars& bars, std::string_view name);
std::string heat_map_html(const HeatMap& map);

// `heading`: the element that its title is.
std::string section_html(const ShownSection& section, std::optional<Ns> time_zero,
                         std::string_view heading = "h2");

}  // namespace spotter::report
