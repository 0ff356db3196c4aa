#include "serve/body.h"

#include "base/gzip_writer.h"
#include "net/http/accepted.h"
#include "render/columns_binary.h"
#include "render/list.h"

namespace spotter::serve {

Form form_of(std::string_view accept) {
  if (net::names(accept, render::kColumnsType)) return Form::columns;
  return net::names(accept, kArrowType) ? Form::arrow : Form::json;
}

Result<Body> body_of(std::string_view bytes, std::string_view content_type) {
  TRY_ASSIGN(std::string packed, gzipped(bytes));
  return Body{.packed = std::move(packed), .content_type = std::string(content_type)};
}

Result<Body> body_of(const render::Document& document, Form form) {
  if (form == Form::columns) return body_of(render::columns_binary(document), render::kColumnsType);
  if (form == Form::arrow) {
    TRY(render::check_takes(render::kArrow, document.tables, {}));
    return body_of(render::render(render::kArrow, document), kArrowType);
  }
  return body_of(render::render(render::kJson, document), kJsonType);
}

}  // namespace spotter::serve
