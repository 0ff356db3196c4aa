// The body that Alertmanager's webhook sends (version "4") and Grafana's, which is the same with version "1":
//
//   version          text
//   truncatedAlerts  number   alerts that were left out, by max_alerts
//   alerts           objects  each with its own status ("firing" or "resolved"), labels and annotations
//                             (objects of texts), startsAt and fingerprint
//
// Its other members, and those that are not known, are left alone: the frame's own `status` is wrong where
// alerts were left out of it.
#pragma once
#include <string_view>

#include "base/result.h"
#include "respond/alerts/alert.h"

namespace spotter::wire {

// Errors: invalid (it is none of these frames, or an alert in it has a member of another type).
Result<respond::AlertFrame> read_alert_frame(std::string_view body);

}  // namespace spotter::wire
