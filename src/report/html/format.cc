#include "report/html/format.h"

#include <fmt/format.h>

#include "report/html/elements.h"

namespace spotter::report {
namespace {

// A page without script, which needs little: colours follow the reader's theme.
constexpr const char* kStart =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Tables - Spotter</title>\n"
    "<style>\n"
    ":root{color-scheme:light dark;font:14px/1.45 system-ui,sans-serif}\n"
    "caption{text-align:left;font-weight:bold;padding:8px 0}\n"
    "table{border-collapse:collapse}td,th{padding:2px 10px;border-bottom:1px solid;text-align:left;"
    "font-weight:normal;vertical-align:top}\n"
    "thead th{font-weight:bold}.number{text-align:right;font-variant-numeric:tabular-nums}\n"
    ".wide{overflow-x:auto}\n"
    "</style>\n</head>\n<body>\n<main>\n<h1>Tables</h1>\n";

std::string tables_html(const render::Document& document, const render::TextStyle& style) {
  std::string out = kStart;
  for (const Table& table : document.tables) out += table_html(table, table.name(), style.time_zero);
  if (!document.notes.empty()) out += "<h2>Notes</h2>\n" + notes_html(document.notes);
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace

const render::Format kHtml = {
    .name = "html",
    .help =
        "a page for a browser, which can be mailed: the report with pictures and all tables, or the tables "
        "that are named",
    .ending = ".html",
    .render = tables_html,
    .shows_notes = true,
};

}  // namespace spotter::report
