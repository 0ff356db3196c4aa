// Texts as JSON. What is no UTF-8 is mended.
#pragma once
#include <string>
#include <string_view>

namespace spotter {

void append_json_text(std::string& out, std::string_view text);  // in quotes

}  // namespace spotter
