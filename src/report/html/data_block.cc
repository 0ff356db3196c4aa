#include "report/html/data_block.h"

#include <fmt/format.h>

#include "base/gzip_writer.h"
#include "base/text/base64.h"
#include "render/columns_binary.h"
#include "report/html/escaped.h"

namespace spotter::report {

Result<std::string> data_block(std::string_view id, const render::Document& document) {
  TRY_ASSIGN(const std::string bytes, gzipped(render::columns_binary(document), GzipWriter::For::size));
  return fmt::format("<script type=\"application/octet-stream\" id=\"{}\">{}</script>\n", html_escaped(id),
                     to_base64(bytes));
}

}  // namespace spotter::report
