#include "mcp/definitions.h"

#include "diagnose/diagnose.h"
#include "diagnose/tables.h"
#include "mcp/ask.h"
#include "respond/rules_table.h"
#include "table/ops.h"

namespace spotter::mcp {
namespace {

std::string columns_text(std::span<const Field> columns) {
  std::string text = "\n## Columns\n\n";
  for (const Field& field : columns)
    text += fmt::format("* `{}` ({}, {}): {}\n", field.name, type_name(field.type), unit_name(field.unit),
                        field.help);
  return text;
}

}  // namespace

Table rules_here(const World& world, const Patience& patience) {
  if (world.agents)
    if (const auto answers = ask_agents(world, "/v1/rules", patience))
      return merged("rules", respond::rules_columns(), {{answers->hosts[0]}, {}});
  return respond::rules_table({});
}

std::optional<std::string> analysis_text(const std::string& name) {
  const auto analysis = diagnose::parse_table(name);
  if (!analysis) return std::nullopt;
  if (*analysis) {
    const Analysis& one = **analysis;
    return fmt::format("# {}\n\n{}\n\n{}\n{}", one.name, one.summary, one.doc, columns_text(one.columns));
  }
  std::string text = fmt::format("# {}\n\n{}\n{}\n## Mechanisms and rules\n\n", diagnose::kFindings,
                                 diagnose::findings_definition(), columns_text(diagnose::finding_columns()));
  for (const auto& [rule, meaning] : diagnose::rule_meanings())
    text += fmt::format("* `{}`: {}\n", rule, meaning);
  return text;
}

std::optional<std::string> rule_text(const World& world, const std::string& name, const Patience& patience) {
  const Table rules = rules_here(world, patience);
  for (size_t row = 0; row < rules.rows(); ++row) {
    if (table::text_or_empty(rules, row, "rule") != name) continue;
    std::string text = fmt::format("# {}\n\n", name);
    for (const Field& field : rules.schema()) {
      const Value cell = rules.at(row, rules.column(field.name));
      if (const auto* said = std::get_if<std::string_view>(&cell))
        text += fmt::format("* {}: {}\n", field.name, *said);
      if (const bool* flag = std::get_if<bool>(&cell))
        text += fmt::format("* {}: {}\n", field.name, *flag ? "yes" : "no");
    }
    return text;
  }
  return std::nullopt;
}

}  // namespace spotter::mcp
