#include "respond/rules/rule.h"

#include <cmath>

#include "base/text/number.h"
#include "base/text/quantity.h"
#include "base/text/utf8.h"
#include "respond/rules/columns.h"

namespace spotter::respond {
namespace {

Result<double> number(const std::string& word) {
  const auto value = number_in<double>(word);
  if (!value || !std::isfinite(*value))
    return fail(Code::invalid, "\"{}\" is not a number", to_printable(word));
  return *value;
}

}  // namespace

void HostFacts::see(const Sample& sample) {
  if (sample.table.name() != "job") return;
  static constexpr const char* kNames[] = {"job", "user"};
  Columns columns(kNames);
  columns.find(sample.table);
  users_.clear();
  for (size_t row = 0; row < sample.table.rows(); ++row) {
    const std::string job(columns.text(row, 0));
    if (!job.empty()) users_.emplace(job, columns.text(row, 1));
  }
  std::erase_if(captures_, [&](const auto& capture) {
    return !users_.contains(capture.first) && capture.second.until < sample.at - kHour;
  });
}

void HostFacts::captured(const std::string& job, Span span) { captures_[job] = span; }

std::string HostFacts::only_job() const { return users_.size() == 1 ? users_.begin()->first : std::string(); }

std::string HostFacts::user_of(const std::string& job) const {
  const auto it = users_.find(job);
  return it == users_.end() ? std::string() : it->second;
}

std::optional<Span> HostFacts::last_capture(const std::string& job) const {
  const auto it = captures_.find(job);
  return it == captures_.end() ? std::nullopt : std::optional(it->second);
}

double number_of(const Settings& settings, const char* key) { return number(settings.at(key)).value_or(0); }

Ns duration_of(const Settings& settings, const char* key) {
  return parse_duration_ns(settings.at(key)).value_or(0);
}

Result<void> is_positive(const std::string& word) {
  TRY_ASSIGN(const double value, number(word));
  if (value > 0) return {};
  return fail(Code::invalid, "\"{}\" is not above 0", word);
}

Result<void> is_share(const std::string& word) {
  TRY_ASSIGN(const double value, number(word));
  if (value >= 0 && value <= 1) return {};
  return fail(Code::invalid, "\"{}\" is not between 0 and 1", word);
}

Result<void> is_above_one(const std::string& word) {
  TRY_ASSIGN(const double value, number(word));
  if (value > 1) return {};
  return fail(Code::invalid, "\"{}\" is not above 1", word);
}

}  // namespace spotter::respond
