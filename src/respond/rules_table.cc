#include "respond/rules_table.h"

#include "table/ops.h"

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

// "ratio 1.1, spreads 5": a word may have a comma, but the keys come in their order.
void read_settings(std::string_view text, std::span<const Setting> keys, Settings& settings) {
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string key = fmt::format("{} ", keys[i].key);
    if (!text.starts_with(key)) continue;  // of another release
    text.remove_prefix(key.size());
    const size_t end = i + 1 < keys.size() ? text.find(fmt::format(", {} ", keys[i + 1].key)) : text.npos;
    settings[keys[i].key] = std::string(text.substr(0, end));
    if (end == text.npos) return;
    text.remove_prefix(end + 2);
  }
}

}  // namespace

Result<RuleSettings> read_rules_table(const Table& table) {
  RuleSettings all;
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string name(table::text_or_empty(table, row, "rule"));
    const Rule* rule = find_rule(name);
    if (!rule) continue;
    Settings& settings = all[name];
    const Value enabled = table.at(row, table.column("enabled"));
    const bool* flag = std::get_if<bool>(&enabled);
    settings["enabled"] = flag && !*flag ? "false" : "true";
    settings["for"] = table::text_or_empty(table, row, "for");
    settings["recover"] = table::text_or_empty(table, row, "recover");
    read_settings(table::text_or_empty(table, row, "settings"), rule->settings, settings);
  }
  if (auto checked = check(all); !checked) return fail(Code::corrupt, "{}", checked.error().message);
  return all;
}

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
