#include <unistd.h>

#include "analyze/list.h"
#include "app/commands.h"
#include "app/terminal.h"
#include "table/table.h"

namespace spotter {
namespace {

constexpr Field kListColumns[] = {
    {"analysis", Type::text, Unit::none, Role::key, "Name, for --table."},
    {"summary", Type::text, Unit::none, Role::value, "What it answers."},
};
constexpr Field kColumnColumns[] = {
    {"column", Type::text, Unit::none, Role::key, "Name."},
    {"unit", Type::text, Unit::none, Role::value, "Unit in JSON and CSV."},
    {"meaning", Type::text, Unit::none, Role::value, "Definition."},
};

std::string list() {
  Table table("analyses", kListColumns);
  for (const Analysis* a : all_analyses()) table.append({a->name, a->summary});
  return render_text_table(table, style_of(STDOUT_FILENO));
}

std::string definition(const Analysis& a) {
  std::string out = fmt::format("{}: {}\n\n{}\n\n", a.name, a.summary, a.doc);
  Table columns("columns", kColumnColumns);
  for (const Field& f : a.columns) columns.append({f.name, unit_name(f.unit), f.help});
  out += render_text_table(columns, {});
  for (const Param& p : a.params) {
    std::string flag = p.name;
    for (char& c : flag) c = c == '_' ? '-' : c;
    out += fmt::format("\n--{} N  {} (default {})\n", flag, p.help, p.fallback);
  }
  return out;
}

}  // namespace

Result<void> analyses_command(const AnalysesOptions& options) {
  if (options.name.empty()) return write_output("", list());
  const Analysis* analysis = find_analysis(options.name);
  if (!analysis)
    return fail(Code::not_found, "there is no analysis \"{}\"; `spotter analyses` lists them", options.name);
  return write_output("", definition(*analysis));
}

}  // namespace spotter
