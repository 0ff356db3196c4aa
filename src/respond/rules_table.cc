#include "respond/rules_table.h"

namespace spotter::respond {
namespace {

constexpr Field kColumns[] = {
    {"rule", Type::text, Unit::none, Role::key, "Its name."},
    {"family", Type::text, Unit::none, Role::detail,
     "What an incident of it is about; one per job and family."},
    {"severity", Type::text, Unit::none, Role::detail, "info, warning or critical."},
    {"enabled", Type::flag, Unit::none, Role::value, "Whether it is watched for."},
    {"for", Type::text, Unit::none, Role::detail, "How long it has to hold before it is told."},
    {"recover", Type::text, Unit::none, Role::detail, "How long after the last sign of it it is over."},
    whole({"settings", Type::text, Unit::none, Role::detail, "Its thresholds, as they are."}),
    whole({"meaning", Type::text, Unit::none, Role::value, "When it holds, by default."}),
};

}  // namespace

std::span<const Field> rules_columns() { return kColumns; }

Table rules_table(const RuleSettings& said) {
  Table table("rules", kColumns);
  for (const Rule* rule : all_rules()) {
    const auto own = said.find(rule->name);
    const Settings settings = whole_settings(*rule, own == said.end() ? Settings() : own->second);
    std::string words;
    for (const Setting& setting : rule->settings)
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", setting.key, settings.at(setting.key));
    table.append({rule->name, rule->family, urgency_name(rule->urgency), settings.at("enabled") == "true",
                  std::string_view(settings.at("for")), std::string_view(settings.at("recover")),
                  or_null(std::string_view(words)), rule->meaning});
  }
  return table;
}

}  // namespace spotter::respond
