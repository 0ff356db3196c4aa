#include "diagnose/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/stable_sort.h"
#include "diagnose/diagnose.h"
#include "diagnose/mechanisms/words.h"
#include "diagnose/rules/rule.h"
#include "table/ops.h"

namespace spotter::diagnose {
namespace {

constexpr double kWorthTelling = 0.01;  // of the step

// "12.0 ms (10 %) longer".
std::string longer(Ns before, Ns after) {
  const Ns change = std::abs(after - before);
  return fmt::format("{} ({}) {}", human(change), percent_of(ratio(change, before)),
                     after > before ? "longer" : "less");
}

bool is_worth_telling(Ns change, Ns step) {
  return static_cast<double>(std::abs(change)) >= kWorthTelling * static_cast<double>(step);
}

std::string step_sentence(Ns before, Ns after) {
  if (!is_worth_telling(after - before, before))
    return fmt::format("Steps take as long: {}, and {} before.", human(after), human(before));
  return fmt::format("Steps take {}: {} instead of {}.", longer(before, after), human(after), human(before));
}

// What changed most first.
std::string path_sentence(const analyze::PathTimes& before, const analyze::PathTimes& after, Ns step) {
  constexpr const char* kTakes[] = {
      "the work of hosts takes",   "pauses of hosts take", "the work of devices takes",
      "gaps between kernels take", "transfers take",       "waits for ranks without a recording take",
      "late starts of ranks take"};
  std::vector<std::pair<Ns, const char*>> changes;
  for (size_t i = 0; i < before.size(); ++i)
    if (is_worth_telling(after[i] - before[i], step)) changes.emplace_back(after[i] - before[i], kTakes[i]);
  if (changes.empty()) return {};
  std::ranges::sort(changes, {}, [](const auto& change) { return -std::abs(change.first); });
  std::string text = "Of what the job waits for in a step,";
  for (size_t i = 0; i < changes.size(); ++i)
    text += fmt::format("{} {} {} {}",
                        i == 0                    ? ""
                        : i + 1 == changes.size() ? " and"
                                                  : ",",
                        changes[i].second, human(std::abs(changes[i].first)),
                        changes[i].first > 0 ? "more" : "less");
  return text + " (--table job_critical_path).";
}

struct Told {
  Ns time = 0;
  bool is_there = false;
  std::string sentence = {};
};

// Faults and opportunities by mechanism, ranks and group.
std::map<std::string, Told> told(const Table& findings) {
  std::map<std::string, Told> all;
  for (size_t row = 0; row < findings.rows(); ++row) {
    if (findings.text(row, findings.column("kind")) == "caveat") continue;
    std::string key(findings.text(row, findings.column("mechanism")));
    for (const char* column : {"ranks", "group"})
      key += fmt::format("\n{}", table::text_or_empty(findings, row, column));
    Told& one = all[key];
    one.is_there = true;
    one.time = std::max(one.time, table::optional_integer(findings, row, "time_ns").value_or(0));
    if (one.sentence.empty()) one.sentence = findings.text(row, findings.column("finding"));
  }
  return all;
}

void append_findings(const Diagnosis& before, const Diagnosis& after, std::vector<std::string>& sentences) {
  const Ns step = before.facts.steps.mean;
  std::map<std::string, Told> old = told(*before.findings);
  std::vector<std::pair<Ns, std::string>> changes;
  for (const auto& [key, now] : told(*after.findings)) {
    const Told was = old[key];
    old.erase(key);
    if (!was.is_there)
      changes.emplace_back(now.time, "New: " + now.sentence);
    else if (is_worth_telling(now.time - was.time, step))
      changes.emplace_back(std::abs(now.time - was.time),
                           fmt::format("It was {}, now: {}", human(was.time), now.sentence));
  }
  for (const auto& [key, was] : old)
    if (was.is_there) changes.emplace_back(was.time, "No longer: " + was.sentence);
  stable_sort(changes, [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [time, sentence] : changes) sentences.push_back(std::move(sentence));
}

}  // namespace

bool is_cause(const Note& condition) {
  return condition.kind.starts_with("different_") && condition.kind != "different_rank" &&
         condition.kind != "different_steps";
}

std::vector<std::string> causes(const Diagnosis& before, const Diagnosis& after, const Notes& conditions) {
  CHECK(before.findings && after.findings && before.path && after.path);
  const Ns was = before.facts.steps.mean, is = after.facts.steps.mean;
  std::vector<std::string> sentences;
  if (was <= 0 || is <= 0) return sentences;
  sentences.push_back(step_sentence(was, is));
  // Captures of several times have no path that goes through all of them.
  const bool has_paths = !before.facts.are_apart && !after.facts.are_apart;
  if (std::string where = path_sentence(*before.path, *after.path, was); has_paths && !where.empty())
    sentences.push_back(std::move(where));
  for (const Note& note : conditions.all())
    if (is_cause(note)) {
      std::string sentence = note.sentence + ".";
      if (sentence[0] == 't') sentence[0] = 'T';
      sentences.push_back(std::move(sentence));
    }
  append_findings(before, after, sentences);
  return sentences;
}

const char* quantity_name(Quantity quantity) {
  constexpr const char* kNames[] = {"step", "device", "communication", "memory"};
  return kNames[static_cast<size_t>(quantity)];
}

std::optional<i64> quantity_of(const Diagnosis& diagnosis, Quantity quantity) {
  const JobFacts& facts = diagnosis.facts;
  if (quantity == Quantity::step)
    return facts.steps.mean > 0 ? std::optional(facts.steps.mean) : std::nullopt;
  if (quantity == Quantity::memory) {
    i64 most = 0;
    for (const RankFacts& rank : facts.ranks)
      for (const DeviceFacts& device : rank.devices) most = std::max(most, device.peak_allocated);
    return most > 0 ? std::optional(most) : std::nullopt;
  }
  const i64 count = std::max<i64>(1, facts.steps.count) * std::max<i64>(1, std::ssize(facts.ranks));
  if (!facts.has_device_work) return {};
  if (quantity == Quantity::device) return sum_over(facts, &RankFacts::compute) / count;
  return (sum_over(facts, &RankFacts::communication) - sum_over(facts, &RankFacts::hidden_communication)) /
         count;
}

}  // namespace spotter::diagnose
