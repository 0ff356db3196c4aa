// describe: what a table, a metric or a rule is.
#include <algorithm>
#include <array>

#include "analyze/list.h"
#include "base/text/glob.h"
#include "collect/list.h"
#include "diagnose/diagnose.h"
#include "diagnose/tables.h"
#include "mcp/ask.h"
#include "mcp/cells.h"
#include "mcp/definitions.h"
#include "mcp/list.h"
#include "respond/rules_table.h"
#include "table/metric.h"
#include "table/ops.h"

namespace spotter::mcp {
namespace {

constexpr ToolParam kParams[] = {
    {.name = "name",
     .help = "a table, a mechanism of findings, a metric or a rule; tables, mechanisms, rules: what there is",
     .required = true},
};

constexpr Field kColumns[] = {
    {"name", Type::text, Unit::none, Role::key, "What is defined."},
    {"unit", Type::text, Unit::none, Role::value, "Unit of its values."},
    {"means", Type::text, Unit::none, Role::value, "Its definition."},
};

constexpr size_t kMostSaid = 560;

Answer answer_of(std::string sentence, std::string command) {
  Answer answer{.sentence = std::move(sentence), .table = Table("describe", kColumns), .limit = 100};
  answer.sources.push_back({"the definition", "", std::move(command)});
  return answer;
}

void add_columns(std::span<const Field> columns, Table& table) {
  for (const Field& field : columns) table.append({field.name, unit_name(field.unit), field.help});
}

Answer of_analysis(const Analysis& analysis) {
  Answer answer =
      answer_of(fmt::format("The table {} [s1]: {} {}", analysis.name, analysis.summary, analysis.doc),
                fmt::format("spotter analyses {}", analysis.name));
  add_columns(analysis.columns, answer.table);
  return answer;
}

Answer of_findings() {
  Answer answer = answer_of(fmt::format("The table findings [s1]: {}", diagnose::findings_definition()),
                            "spotter analyses findings");
  add_columns(diagnose::finding_columns(), answer.table);
  return answer;
}

Answer of_mechanism(const std::string& name, const std::string& meaning) {
  Answer answer = answer_of(fmt::format("In the table findings {} means [s1]: {}", name, meaning),
                            "spotter analyses findings");
  answer.table.append({name, Value(), meaning});
  return answer;
}

Answer of_rule(const World& world, const Table& rules, size_t row) {
  const std::string name(table::text_or_empty(rules, row, "rule"));
  Answer answer =
      answer_of(fmt::format("The rule {} [s1]: {}", name, table::text_or_empty(rules, row, "meaning")),
                world.agents ? agents_command(world, "rules") : "spotter rules --defaults --format json");
  answer.table = table::pick(rules, {row});
  return answer;
}

Answer of_all(const std::string& what) {
  Answer answer = answer_of(fmt::format("These are the {} [s1].", what),
                            what == "rules" ? "spotter rules --defaults" : "spotter analyses");
  if (what == "tables") {
    answer.table.append({"findings", Value(), "What stands out, with evidence and remedy."});
    for (const Analysis* analysis : analyze::all_analyses())
      answer.table.append({analysis->name, Value(), analysis->summary});
  } else if (what == "mechanisms") {
    for (const auto& [name, meaning] : diagnose::rule_meanings())
      answer.table.append({name, Value(), meaning});
  } else {
    answer.table = respond::rules_table({});
  }
  return answer;
}

std::optional<Answer> of_metric(const World& world, const std::string& name) {
  Answer answer = answer_of("", "spotter metrics --list --metric " + command_word(name) + " --format json");
  for (const collect::CollectorKind* collector : collect::all_collectors())
    for (const collect::TableKind& kind : collector->tables)
      for (const Field& field : kind.columns)
        if (const std::string metric = collect::metric_name(kind, field);
            table::is_metric(field) && matches_glob(name, metric))
          answer.table.append({metric, unit_name(field.unit), field.help});
  const size_t count = answer.table.rows();
  if (count == 0) return std::nullopt;
  answer.sentence =
      fmt::format("There {} {} of such a name [s1].", count == 1 ? "is" : "are", count_of(count, "metric"));
  if (world.agents)
    answer.next.push_back(
        {"query_metrics", {{"metric", boost::json::array{boost::json::string(name)}}, {"since", "10m"}}});
  else
    answer.next.push_back({"overview", {}});
  return answer;
}

Result<Answer> describe(const Call& call) {
  const std::string name = call.arguments.text("name");
  if (name == "tables" || name == "mechanisms" || name == "rules") return of_all(name);
  if (const auto analysis = diagnose::parse_table(name)) {
    Answer answer = *analysis ? of_analysis(**analysis) : of_findings();
    answer.sentence = clean(answer.sentence, kMostSaid);
    answer.next.push_back({"overview", {}});
    return answer;
  }
  for (const auto& [mechanism, meaning] : diagnose::rule_meanings())
    if (name == mechanism) {
      Answer answer = of_mechanism(name, meaning);
      answer.sentence = clean(answer.sentence, kMostSaid);
      answer.next.push_back({"overview", {}});
      return answer;
    }
  const Table rules = rules_here(call.world, call.patience);
  for (size_t row = 0; row < rules.rows(); ++row)
    if (table::text_or_empty(rules, row, "rule") == name) {
      Answer answer = of_rule(call.world, rules, row);
      answer.next.push_back({"list_incidents", {}});
      return answer;
    }
  if (auto metric = of_metric(call.world, name)) return std::move(*metric);
  return fail(
      Code::not_found,
      "name: there is no table, mechanism, metric or rule of that name; describe with the name tables, mechanisms or "
      "rules lists them");
}

}  // namespace

constexpr Tool kDescribe = {
    .name = "describe",
    .title = "Definitions",
    .description =
        "What a table, a mechanism of findings, a metric or a rule is: its definition in words, its columns and units. It "
        "has no data; query_table and query_metrics do.",
    .params = kParams,
    .call = describe,
};

}  // namespace spotter::mcp
