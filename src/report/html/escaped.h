// Text in HTML: the one door for all texts, since those of traces are written by others.
#pragma once
#include <string>
#include <string_view>

namespace spotter::report {

// As the content of an element or of an attribute in double quotes: markup is text, UTF-8 is mended, and what
// cannot be seen but changes what is (control characters, marks of the direction of writing) is shown by
// name: U+202E.
std::string html_escaped(std::string_view text);

}  // namespace spotter::report
