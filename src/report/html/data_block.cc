#include "report/html/data_block.h"

#include <fmt/format.h>

#include "base/gzip_writer.h"
#include "render/columns_binary.h"
#include "report/html/escaped.h"

namespace spotter::report {

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    u32 three = 0;
    for (size_t i = 0; i < 3; ++i)
      three = three << 8 | (at + i < bytes.size() ? static_cast<u8>(bytes[at + i]) : 0u);
    const size_t digits = std::min<size_t>(3, bytes.size() - at) + 1;
    for (size_t i = 0; i < 4; ++i) out += i < digits ? kDigits[three >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

Result<std::string> data_block(std::string_view id, const render::Document& document) {
  TRY_ASSIGN(const std::string bytes, gzipped(render::columns_binary(document), GzipWriter::For::size));
  return fmt::format("<script type=\"application/octet-stream\" id=\"{}\">{}</script>\n", html_escaped(id),
                     base64(bytes));
}

}  // namespace spotter::report
