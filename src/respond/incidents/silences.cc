#include "respond/incidents/silences.h"

#include <algorithm>
#include <iterator>

#include "base/text/utf8.h"
#include "respond/alerts/alert.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr size_t kMost = 1000;

bool is_of(const std::string& wanted, const std::string& value) { return wanted.empty() || wanted == value; }

bool matches(const Silence& silence, const Incident& incident, const std::map<u64, Condition>& firing) {
  if (!is_of(silence.rule, incident.symptom.rule) || !is_of(silence.job, incident.job.id) ||
      !is_of(silence.user, incident.job.user))
    return false;
  const auto is_there = [&](const auto& each) { return each.second.host == silence.host; };
  return is_of(silence.host, incident.host) || std::ranges::any_of(firing, is_there) ||
         std::ranges::find(incident.conditions, silence.host, &Condition::host) != incident.conditions.end();
}

bool matches(const Silence& silence, const Condition& condition) {
  return is_of(silence.rule, condition.rule) && is_of(silence.job, condition.job) &&
         is_of(silence.user, condition.user) && is_of(silence.host, condition.host);
}

// The last end of those that match.
std::optional<Ns> last_end(const std::vector<Silence>& silences, Ns at, auto&& is_match) {
  std::optional<Ns> end;
  for (const Silence& silence : silences) {
    if (silence.until > at && is_match(silence)) end = std::max(end.value_or(0), silence.until);
  }
  return end;
}

}  // namespace

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

std::optional<Ns> Silences::until(const Incident& incident, const std::map<u64, Condition>& firing,
                                  Ns at) const {
  const std::optional<Ns> until =
      last_end(silences_, at, [&](const Silence& silence) { return matches(silence, incident, firing); });
  if (until || !incident.shared_by) return until;
  std::optional<Ns> first;
  for (const auto& [key, condition] : firing) {
    const auto end =
        last_end(silences_, at, [&](const Silence& silence) { return matches(silence, condition); });
    if (!end) return {};
    first = std::min(first.value_or(*end), *end);
  }
  return first;
}

}  // namespace spotter::respond
