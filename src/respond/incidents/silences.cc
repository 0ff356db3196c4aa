#include "respond/incidents/silences.h"

#include <algorithm>
#include <iterator>

#include "base/text/utf8.h"
#include "respond/alerts/alert.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr size_t kMost = 1000;
constexpr Ns kLongest = 30 * kDay;

}  // namespace

bool matches(const Silence& silence, const Incident& incident) {
  if (!silence.rule.empty() && silence.rule != incident.symptom.rule) return false;
  if (!silence.job.empty() && silence.job != incident.job.id) return false;
  if (!silence.user.empty() && silence.user != incident.job.user) return false;
  return silence.host.empty() || silence.host == incident.host ||
         std::ranges::find(incident.conditions, silence.host, &Condition::host) != incident.conditions.end();
}

Result<void> Silences::add(Silence silence, Ns at) {
  if (silence.rule.empty() && silence.job.empty() && silence.host.empty() && silence.user.empty())
    return fail(Code::invalid, "a silence is of a rule, a job, a host or a user");
  if (!silence.rule.empty() && silence.rule != kAlert && !find_rule(silence.rule))
    return fail(Code::invalid, "there is no rule {}", to_printable(silence.rule));
  if (silence.until <= at || silence.until - at > kLongest)
    return fail(Code::invalid, "a silence ends within 30 days");
  if (silence.reason.empty()) return fail(Code::invalid, "a silence has a reason");
  if (silences_.size() >= kMost) return fail(Code::busy, "there are {} silences", silences_.size());
  silences_.push_back(std::move(silence));
  return {};
}

void Silences::pass(Ns at) {
  std::erase_if(silences_, [&](const Silence& silence) { return silence.until <= at; });
}

std::vector<Silence> Silences::all(Ns at) const {
  std::vector<Silence> all;
  std::ranges::copy_if(silences_, std::back_inserter(all), [&](const Silence& s) { return s.until > at; });
  return all;
}

std::optional<Ns> Silences::until(const Incident& incident, Ns at) const {
  std::optional<Ns> until;
  for (const Silence& silence : silences_) {
    if (silence.until > at && matches(silence, incident)) until = std::max(until.value_or(0), silence.until);
  }
  return until;
}

}  // namespace spotter::respond
