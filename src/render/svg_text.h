// Text and colours of pictures.
#pragma once
#include <string>
#include <string_view>

namespace spotter::render {

// What a picture's text is drawn with: every cell (base/text/utf8.h) is as wide, so that places for texts can
// be computed. Usual fonts of this kind are at most 0.605 times as wide as high.
inline constexpr const char* kSvgFont = "monospace";
inline constexpr double kSvgFontSize = 12, kSvgCell = 7.3;

double svg_width(std::string_view text);  // pixels it takes at most

// Text as the content or an attribute of an element of XML.
std::string svg_escaped(std::string_view text);

// The colour of what is called so: the same one in every picture, whatever else is in it.
std::string svg_colour(std::string_view word);

}  // namespace spotter::render
