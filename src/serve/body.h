// Body: an answer as it is kept and sent: packed, with what a client has to be told of it.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "render/document.h"

namespace spotter::serve {

inline constexpr std::string_view kJsonType = "application/json",
                                  kArrowType = "application/vnd.apache.arrow.stream";

enum class Form : u8 { json, columns, arrow };
Form form_of(std::string_view accept);  // of a request, by its header

struct Body {
  std::string packed;  // gzip
  std::string content_type;
  std::string file_name = {};  // of what is kept as a file; else empty
  size_t bytes() const { return sizeof *this + packed.size(); }
};

// Errors: invalid (the form is of one table, and there are several).
Result<Body> body_of(const render::Document& document, Form form);
Result<Body> body_of(std::string_view bytes, std::string_view content_type);

}  // namespace spotter::serve
