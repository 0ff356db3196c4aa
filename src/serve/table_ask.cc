#include "serve/table_ask.h"

#include <algorithm>

#include "analyze/range_text.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "diagnose/diagnose.h"
#include "diagnose/tables.h"

namespace spotter::serve {
namespace {

std::string text_of(const ParamValue& value) {
  const i64* const number = std::get_if<i64>(&value);
  return number ? std::to_string(*number) : std::get<std::string>(value);
}

std::string names_of(std::span<const std::string_view> names, const Analysis* analysis) {
  std::vector<std::string_view> all(names.begin(), names.end());
  if (analysis)
    for (const Param& param : analysis->params) all.push_back(param.name);
  return fmt::format("{}", fmt::join(all, ", "));
}

Result<double> read_sensitivity(const std::string& word) {
  const auto percent = number_in<double>(word);
  if (!percent || !(*percent >= 0 && *percent <= 100))
    return fail(Code::invalid, "\"{}\" is no share of a step; write a number of percent, such as 0.5",
                to_printable(word));
  return *percent / 100;
}

}  // namespace

Result<void> read_part(const wire::Target& target, analyze::RunRequest& run) {
  if (const std::string ranks = target.text("ranks"); !ranks.empty()) {
    auto read = analyze::parse_ranges(ranks);
    if (!read) return within(read.error(), "ranks");
    run.ranks = std::move(*read);
  }
  if (const std::string steps = target.text("steps"); !steps.empty()) {
    const auto read = analyze::parse_range(steps);
    if (!read) return within(read.error(), "steps");
    run.steps = *read;
  }
  return {};
}

Result<TableAsk> read_table_ask(const std::string& name, const wire::Target& target) {
  constexpr std::string_view kOfAll[] = {"ranks", "steps", "compat"};
  TableAsk ask;
  const Result<const Analysis*> analysis = diagnose::parse_table(to_printable(name));
  if (!analysis) return fail(Code::not_found, "{}", analysis.error().message);
  ask.analysis = *analysis;
  TRY(read_part(target, ask.run));
  for (const auto& [key, word] : target.parameters) {
    if (std::ranges::count(target.parameters, key, [](const auto& p) { return p.first; }) > 1)
      return fail(Code::invalid, "{} is there twice", to_printable(key));
    if (key == "ranks" || key == "steps") continue;
    ask.is_usual = false;
    if (key == "compat") {
      ask.run.compat = analyze::find_compat(word);
      if (!ask.run.compat)
        return fail(Code::invalid, "there is no tool \"{}\" to be compatible with", to_printable(word));
      if (ask.analysis) ask.analysis = analyze::stand_in(ask.run.compat, ask.analysis);
    } else if (key == "sensitivity" && !ask.analysis) {
      TRY_ASSIGN(ask.sensitivity, read_sensitivity(word));
    } else if (!ask.analysis ||
               std::ranges::find(ask.analysis->params, key, &Param::name) == ask.analysis->params.end()) {
      return fail(Code::invalid, "{} has no parameter \"{}\"; there are {}", name, to_printable(key),
                  names_of(kOfAll, ask.analysis));
    } else {
      const Param& param = *std::ranges::find(ask.analysis->params, key, &Param::name);
      auto value = diagnose::parse_param(param, word);
      if (!value) return within(value.error(), key);
      ask.run.params.emplace_back(key, std::move(*value));
    }
  }
  if (ask.analysis) ask.run.analyses = {ask.analysis};
  TRY(analyze::check_request(ask.run));
  return ask;
}

std::string part_key(const analyze::RunRequest& run) {
  std::string key = fmt::format("{}|{}", analyze::range_text(run.ranks),
                                run.steps ? fmt::format("{}-{}", run.steps->first, run.steps->last) : "");
  if (run.compat) key += fmt::format("|{}", run.compat->name);
  return key;
}

std::string key_of(const FoundJob& job, const TableAsk& ask, Form form) {
  std::string key = fmt::format("table|{}|{}|{}|{}|{}", job.id, job.version, static_cast<int>(form),
                                ask.analysis ? ask.analysis->name : diagnose::kFindings, part_key(ask.run));
  for (const auto& [name, value] : ask.run.params) key += fmt::format("|{}={}", name, text_of(value));
  if (ask.sensitivity) key += fmt::format("|{}", *ask.sensitivity);
  return key;
}

}  // namespace spotter::serve
