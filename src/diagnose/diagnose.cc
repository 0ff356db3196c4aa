#include "diagnose/diagnose.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/utf8.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"
#include "diagnose/rules/list.h"

namespace spotter::diagnose {
namespace {

constexpr Field kColumns[] = {
    {"mechanism", Type::text, Unit::none, Role::key,
     "How the time is lost; of other caveats and advice the rule that told it."},
    {"kind", Type::text, Unit::none, Role::detail,
     "fault: something is not as it should be; opportunity: what the way the job is built costs; caveat: why something cannot "
     "be told."},
    {"ranks", Type::text, Unit::none, Role::detail, "Whose it is, as 3 or 0-3,7; null: the whole job."},
    {"group", Type::text, Unit::none, Role::detail, "The group of ranks that is meant; else null."},
    {"steps", Type::text, Unit::none, Role::detail, "Numbers of the steps it is in; null: all."},
    {"time_ns", Type::integer, Unit::ns, Role::value,
     "What a step of the job would gain without it, beyond what is gained without those found before it; of a caveat how long it takes; "
     "null where it is not about time."},
    {"share", Type::real, Unit::ratio, Role::value, "That as a share of the job's mean step."},
    {"confidence", Type::text, Unit::none, Role::detail,
     "high: two independent measurements agree; medium; low; null of a caveat."},
    {"finding", Type::text, Unit::none, Role::key, "What was found, with its numbers."},
    {"remedy", Type::text, Unit::none, Role::detail, "What to do; null where there is no general answer."},
    {"evidence", Type::text, Unit::none, Role::detail, "A command that shows the rows."},
    {"against", Type::text, Unit::none, Role::detail,
     "What speaks against it; null: nothing that was looked at."},
    {"subject", Type::text, Unit::none, Role::detail,
     "Text from the job that the finding speaks of: an operator, a call, a group; null: none."},
};

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

// Rows of these ranks and steps, as a command shows them.
std::string command_of(const std::string& paths, const char* evidence, const std::string& ranks,
                       const std::vector<i64>& steps) {
  std::string command = fmt::format("spotter analyze {} {}", paths.empty() ? "PATH" : paths, evidence);
  if (!ranks.empty()) command += fmt::format(" --ranks {}", ranks);
  if (steps.empty()) return command;
  const auto [first, last] = std::ranges::minmax_element(steps);
  return command + (*first == *last ? fmt::format(" --steps {}", *first)
                                    : fmt::format(" --steps {}-{}", *first, *last));
}

const char* kind_of(const Candidate& c) {
  return c.is_caveat ? "caveat" : c.is_opportunity ? "opportunity" : "fault";
}

void append(Table& table, const JobModel& model, const Found& found, const std::string& paths) {
  const Candidate& c = found.candidate;
  const bool is_of_all = c.untraced.empty() && is_whole_job(model, c.ranks);
  std::set<i64> numbers = rank_numbers(model, c.ranks);
  numbers.insert(c.untraced.begin(), c.untraced.end());
  const std::string ranks = is_of_all ? "" : without_blanks(analyze::range_text(numbers)),
                    steps = without_blanks(steps_text(c.steps));
  const std::string gain = fmt::format("{} ({})", human(found.gain), percent_of(found.share));
  const bool has_steps =
      !std::ranges::all_of(model.job.ranks, [](const auto& rank) { return rank.is_unmarked(); });
  const char* const whole = has_steps ? "each step" : "the recording";
  const std::string sentence =
      c.is_certain  ? c.what + "."
      : c.is_caveat ? fmt::format("{}: {} of {}.", c.what, gain, whole)
      : c.is_opportunity
          ? fmt::format("{}: worth up to {} of {}.", c.what, gain, whole)
          : fmt::format("{}; without that {} takes {} less{}.", c.what, has_steps ? "a step" : whole, gain,
                        c.steps.empty() ? "" : " on average");
  // A job of many ranks: one that has it is enough to see it.
  const bool shows_all = is_of_all || found.mechanism->compares_ranks;
  const std::string shown = shows_all ? "" : fmt::format("{}", fmt::join(few_ranks(model, c.ranks), ","));
  table.append(
      {found.mechanism->name, kind_of(c), or_null(ranks), or_null(c.group), or_null(steps),
       c.is_certain ? Value() : Value(found.gain), c.is_certain ? Value() : Value(found.share),
       c.is_caveat ? Value() : Value(confidence_name(found.confidence)),
       std::string_view(to_printable(sentence)),
       or_null(c.remedy.empty() ? std::string_view(found.mechanism->remedy) : std::string_view(c.remedy)),
       std::string_view(command_of(paths, c.evidence.empty() ? found.mechanism->evidence : c.evidence.c_str(),
                                   shown, c.steps)),
       or_null(c.against), or_null(c.subject)});
}

void append(Table& table, const Rule& rule, const Finding& finding, const std::string& paths) {
  const std::string rank = finding.rank ? fmt::format("{}", *finding.rank) : "";
  table.append({rule.name, rule.kind == Rule::Kind::caveat ? "caveat" : "opportunity", or_null(rank), Value(),
                Value(), Value(), Value(), Value(), std::string_view(finding.what), or_null(finding.remedy),
                std::string_view(command_of(paths, rule.evidence, rank, {})), Value(), Value()});
}

}  // namespace

std::span<const Field> finding_columns() { return kColumns; }

Table findings(const JobFacts& facts, const JobModel& model, const std::vector<Found>& found,
               const std::string& paths) {
  Table table(kFindings, kColumns);
  const auto append_found = [&](bool are_caveats) {
    for (const Found& one : found)
      if (one.candidate.is_caveat == are_caveats) append(table, model, one, paths);
  };
  const auto append_rules = [&](Rule::Kind kind) {
    for (const Rule* rule : all_rules())
      if (rule->kind == kind)
        if (const std::optional<Finding> finding = rule->find(facts, rule->threshold))
          append(table, *rule, *finding, paths);
  };
  append_found(false);
  append_rules(Rule::Kind::opportunity);
  append_found(true);
  append_rules(Rule::Kind::caveat);
  return table;
}

std::string findings_definition() {
  return "What is wrong with the job, what could be won, and what cannot be told: faults first, then opportunities, each by what it "
         "costs, then caveats. The time of a mechanism is what the job's step would gain without it: the job is run "
         "again from its traces by the rules of streams and collectives, across all ranks, with it and without (see replay). "
         "Waiting that something else hides costs nothing. What gains most is found first; then what gains most once that is gone, and so "
         "on. Under a share of 1 % of the step (--sensitivity) nothing is told.";
}

std::vector<std::pair<std::string, std::string>> rule_meanings() {
  std::vector<std::pair<std::string, std::string>> meanings;
  for (const Mechanism* mechanism : all_mechanisms())
    meanings.emplace_back(mechanism->name, mechanism->summary);
  for (const Rule* rule : all_rules()) {
    const std::string threshold =
        rule->threshold < 1 ? percent(rule->threshold) : fmt::format("{}", rule->threshold);
    meanings.emplace_back(rule->name, fmt::format(fmt::runtime(rule->summary), threshold));
  }
  return meanings;
}

}  // namespace spotter::diagnose
