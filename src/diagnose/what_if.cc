#include "diagnose/what_if.h"

#include <algorithm>

#include "analyze/replay/replayed_steps.h"
#include "diagnose/mechanisms/words.h"
#include "diagnose/what_if_world.h"

namespace spotter::diagnose {
namespace {

using analyze::JobStep;

constexpr Field kColumns[] = {
    {"of", Type::text, Unit::none, Role::key, "mean: of all steps; step: of one."},
    {"number", Type::integer, Unit::none, Role::detail,
     "Number of the step, as its mark says; null of the mean."},
    {"measured_ns", Type::integer, Unit::ns, Role::value,
     "From when the first rank begins the step to when the first one begins the next; of the last one to the job's end."},
    {"replayed_ns", Type::integer, Unit::ns, Role::value,
     "What the replay makes of that with the times as they were: how far it can be trusted."},
    {"what_if_ns", Type::integer, Unit::ns, Role::value,
     "What it makes of it with the times that were asked about."},
    {"gain_ns", Type::integer, Unit::ns, Role::value,
     "replayed_ns minus what_if_ns; negative: it takes longer."},
    {"gain_ratio", Type::real, Unit::ratio, Role::value, "gain_ns as a share of replayed_ns."},
};

std::string subject_words(const WhatIf& question) {
  constexpr const char* kWhat[] = {"the work of devices", "the work of hosts", "pauses of hosts",
                                   "transfers"};
  std::string words = kWhat[static_cast<size_t>(question.part)];
  if (!question.group.empty()) words += " of group " + question.group;
  if (question.ranks.empty()) return words;
  const bool is_one = question.ranks.size() == 1 && question.ranks[0].first == question.ranks[0].last;
  return words + (is_one ? " of rank " : " of ranks ") + analyze::range_text(question.ranks);
}

std::string question_words(const WhatIf& question) {
  const std::string what = subject_words(question);
  if (!question.factor) return what + " took as long as peers need";
  if (*question.factor == 0) return what + " took no time";
  return fmt::format("{} took {:.4g} times as long", what, *question.factor);
}

std::string sentence(std::span<const WhatIf> questions, Ns was, Ns is) {
  std::string asked;
  for (size_t i = 0; i < questions.size(); ++i)
    asked += (i == 0 ? "" : i + 1 == questions.size() ? " and " : ", ") + question_words(questions[i]);
  const Ns change = was > is ? was - is : is - was;
  const double share = was > 0 ? static_cast<double>(change) / static_cast<double>(was) : 0;
  const std::string then = change == 0
                               ? fmt::format("{}, as it does", human(was))
                               : fmt::format("{} instead of {}: {} ({}) {}", human(is), human(was),
                                             human(change), percent_of(share), is < was ? "less" : "more");
  return fmt::format("If {}, a step would take {}", asked, then);
}

void append(Table& table, const char* of, std::optional<i64> number, Ns measured, Ns replayed, Ns then) {
  const Ns gain = replayed - then;
  table.append({of, or_null(number), measured, replayed, then, gain,
                replayed > 0 ? Value(static_cast<double>(gain) / static_cast<double>(replayed)) : Value()});
}

Ns mean_of(const std::vector<JobStep>& steps) {
  return (steps.back().end - steps.front().start) / static_cast<Ns>(steps.size());
}

}  // namespace

const char* part_name(WhatIf::Part part) {
  constexpr const char* kNames[] = {"device", "host", "pause", "transfer"};
  return kNames[static_cast<size_t>(part)];
}

std::span<const Field> what_if_columns() { return kColumns; }

Result<Table> what_if(const JobModel& model, std::span<const WhatIf> questions) {
  Table table(kWhatIfTable, kColumns);
  const std::vector<JobStep> measured = analyze::measured_steps(model.job),
                             replayed = analyze::replayed_steps(model.job, model.played);
  if (replayed.empty()) {
    table.notes.add("what_if_no_steps", Severity::info,
                    "no trace has anything to be run again, so that the what-if has no answer");
    return table;
  }
  analyze::Scenario world = model.base;
  Notes notes;
  for (const WhatIf& question : questions) TRY(change(model, question, world, notes));
  const std::vector<JobStep> then = analyze::replayed_steps(model.job, analyze::replay(model.job, world));
  table.notes.add("what_if", Severity::info, sentence(questions, mean_of(replayed), mean_of(then)));
  table.notes.merge(notes);
  append(table, "mean", {}, mean_of(measured), mean_of(replayed), mean_of(then));
  for (size_t i = 0; i < replayed.size(); ++i)
    append(table, "step", replayed[i].number, measured[i].length(), replayed[i].length(), then[i].length());
  return table;
}

}  // namespace spotter::diagnose
