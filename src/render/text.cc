// Text: aligned columns for a terminal or a pipe, notes at the foot.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/utf8.h"
#include "render/columns.h"
#include "render/list.h"

namespace spotter::render {
namespace {

constexpr size_t kGap = 2;  // blanks between columns

constexpr const char* kBold = "1";
constexpr const char* kDim = "2";
constexpr const char* kRed = "31";
constexpr const char* kYellow = "33";

std::string painted(std::string_view text, const char* color, const TextStyle& style) {
  return style.color ? fmt::format("\x1b[{}m{}\x1b[0m", color, text) : std::string(text);
}

// `shown`: the cell's text as a link, or as it is.
std::string line_of(const std::vector<TextColumn>& columns, auto&& cell_of, auto&& shown) {
  std::string line;
  size_t pending = 0;  // blanks that wait for a next cell, so that no line ends in some
  for (const TextColumn& column : columns) {
    const std::string cell = cell_of(column);
    const auto blanks = static_cast<size_t>(std::max(0, column.width - display_width(cell)));
    line.append(pending + (column.is_left ? 0 : blanks), ' ');
    line += shown(column, cell);
    pending = kGap + (column.is_left ? blanks : 0);
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

std::string headers(const std::vector<TextColumn>& columns, const TextStyle& style) {
  size_t lines = 0;
  for (const TextColumn& column : columns) lines = std::max(lines, column.header.size());
  std::string out;
  for (size_t below = lines; below-- > 0;) {
    const auto line = line_of(
        columns,
        [&](const TextColumn& c) {
          return below < c.header.size() ? c.header[c.header.size() - 1 - below] : std::string();
        },
        [](const TextColumn&, const std::string& cell) { return cell; });
    out += painted(line, kBold, style) + '\n';
  }
  return out;
}

// The whole value says where a cell leads to, however much of it is shown.
std::string cell_link(const Table& table, size_t row, size_t column, const std::string& cell,
                      const TextStyle& style) {
  const bool is_place = !style.source_links.empty() && table.schema()[column].type == Type::text &&
                        !is_null(table.at(row, column));
  return is_place ? hyperlink(cell, style.source_links.address(table.text(row, column))) : cell;
}

bool has_times(const Table& table) {
  return table.rows() > 0 && std::ranges::any_of(table.schema(), [](const Field& field) {
           return field.role == Role::time && field.unit == Unit::ns && field.type == Type::integer;
         });
}

std::string time_zero_text(Ns zero, const TextStyle& style) {
  const auto line = fmt::format(
      "times count from the start of the job's first span, {} Unix time; --epoch shows Unix times",
      human(Value(zero), Unit::ns, Role::time));
  return painted(wrapped(line, style.width, "  "), kDim, style) + '\n';
}

// Tables one below the other; several are headed by their names.
std::string render_text(const Document& document, const TextStyle& style) {
  std::string out;
  for (const Table& table : document.tables) {
    if (!out.empty()) out += '\n';
    if (document.tables.size() > 1) out += fmt::format("{}:\n", table.name());
    out += render_text_table(table, style);
  }
  if (style.time_zero && std::ranges::any_of(document.tables, has_times))
    out += time_zero_text(*style.time_zero, style);
  if (!out.empty() && !document.notes.empty()) out += '\n';
  return out + render_text_notes(document.notes, style);
}

}  // namespace

std::string bold(const std::string& text, const TextStyle& style) { return painted(text, kBold, style); }

std::string render_text_table(const Table& table, const TextStyle& style) {
  const Layout layout = lay_out(table, style);
  std::string out = headers(layout.columns, style);
  for (size_t row = 0; row < table.rows(); ++row) {
    out += line_of(
               layout.columns, [&](const TextColumn& c) { return c.cells[row]; },
               [&](const TextColumn& c, const std::string& cell) {
                 return cell_link(table, row, c.index, cell, style);
               }) +
           '\n';
    for (const TextColumn& c : layout.below)
      if (!is_null(table.at(row, c.index)))
        out += style.source_links.linked(
                   wrapped(fmt::format("  {}: {}", c.title, c.cells[row]), style.width, "    ")) +
               '\n';
  }
  if (table.rows() == 0) out += painted("no rows", kDim, style) + '\n';
  if (!layout.left_out.empty()) {
    const auto hint =
        fmt::format("+{} column{} in a wider terminal or with --format json: {}", layout.left_out.size(),
                    layout.left_out.size() == 1 ? "" : "s", fmt::join(layout.left_out, ", "));
    out += painted(wrapped(hint, style.width, "  "), kDim, style) + '\n';
  }
  return out;
}

std::string render_text_notes(const Notes& notes, const TextStyle& style) {
  std::string out;
  for (const Note& note : notes.all()) {
    const char* color = note.severity == Severity::loss     ? kRed
                        : note.severity == Severity::repair ? kYellow
                                                            : kDim;
    const auto line = fmt::format("{}: {}", severity_name(note.severity), to_printable(to_text(note)));
    out += painted(wrapped(line, style.width, "  "), color, style) + '\n';
  }
  return out;
}

const Format kText = {.name = "text",
                      .help = "for people, with units",
                      .ending = ".txt",
                      .render = render_text,
                      .shows_notes = true};

}  // namespace spotter::render
