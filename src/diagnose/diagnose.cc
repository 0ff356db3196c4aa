#include "diagnose/diagnose.h"

#include "diagnose/list.h"

namespace spotter::diagnose {
namespace {

constexpr Field kColumns[] = {
    {"rule", Type::text, Unit::none, Role::key, "The rule that found it."},
    {"kind", Type::text, Unit::none, Role::detail,
     "cause: where time goes that might be saved; caveat: why something cannot be told."},
    {"rank", Type::integer, Unit::none, Role::detail,
     "Whom it is about; null: all, or a file without a rank."},
    {"time_ns", Type::integer, Unit::ns, Role::value, "The time at stake; null where it is not about time."},
    {"share", Type::real, Unit::ratio, Role::value,
     "That time as a share of what the finding takes it from."},
    {"finding", Type::text, Unit::none, Role::key, "What was found, with its numbers."},
    {"remedy", Type::text, Unit::none, Role::detail, "What to do; null where there is no general answer."},
    {"evidence", Type::text, Unit::none, Role::detail, "The analyses that show more."},
};

const char* kind_name(Rule::Kind kind) { return kind == Rule::Kind::cause ? "cause" : "caveat"; }

}  // namespace

std::span<const Field> finding_columns() { return kColumns; }

Table findings(const JobFacts& facts) {
  Table table(kFindings, kColumns);
  for (const Rule* rule : all_rules()) {
    const std::optional<Finding> found = rule->find(facts, rule->threshold);
    if (!found) continue;
    table.append({rule->name, kind_name(rule->kind), or_null(found->rank), or_null(found->time),
                  or_null(found->share), std::string_view(found->what), or_null(found->remedy),
                  rule->evidence});
  }
  return table;
}

std::string findings_definition() {
  return "What stands out, most telling first. Each rule compares the numbers of other analyses, over all ranks "
         "that were chosen, with a threshold; times are sums over these ranks unless the finding names one.";
}

std::vector<std::pair<std::string, std::string>> rule_meanings() {
  std::vector<std::pair<std::string, std::string>> meanings;
  for (const Rule* rule : all_rules()) {
    const std::string threshold =
        rule->threshold < 1 ? percent(rule->threshold) : fmt::format("{}", rule->threshold);
    meanings.emplace_back(rule->name, fmt::format(fmt::runtime(rule->summary), threshold));
  }
  return meanings;
}

}  // namespace spotter::diagnose
