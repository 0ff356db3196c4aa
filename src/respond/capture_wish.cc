#include "respond/capture_wish.h"

#include <algorithm>

#include "respond/alerts/alert.h"

namespace spotter::respond {

std::string why_not_traced(const Incident& incident, const std::map<u64, Condition>& firing,
                           bool has_stopped) {
  if (incident.shared_by) return "nothing was traced for it: that is done for its jobs' own incidents";
  const bool is_alert = incident.family == kAlert;
  if (incident.family == "progress" || (is_alert && has_stopped))
    return "a job that does not go on is not traced";
  if (std::ranges::any_of(firing, [](const auto& c) { return c.second.is_flapping; }))
    return "it comes and goes: nothing was traced";
  if (is_alert && std::ranges::all_of(firing, [](const auto& c) { return c.second.no_capture; }))
    return "nothing was traced: the alert asks for no capture";
  if (is_alert && !incident.part_of.empty())
    return "nothing was traced for the alert: that is " + incident.part_of + "'s to do";
  const bool is_slow = incident.family == "speed" && incident.urgency != Urgency::info;
  return !incident.job.id.empty() && (is_slow || is_alert) ? "" : "nothing was traced";
}

}  // namespace spotter::respond
