// Moments as people and other programs write them: "2026-11-23T14:05:00Z", "2026-11-23T14:05:00.5+01:00",
// "2026-11-23 14:05" (local time), "2026-11-23" (its first moment). The profile of ISO 8601 that RFC 3339
// has, with seconds, the time of day and the zone left out at will.
#pragma once
#include <string>

#include "base/result.h"
#include "base/types.h"

namespace spotter {

// "2026-11-23T14:05:00.123Z"; what is below a millisecond is left out.
std::string utc_text(Ns unix_ns);

// Unix time. Errors: invalid (also days and hours that there are not; seconds are 0 to 59).
Result<Ns> parse_moment(const std::string& text);

// How long before `now` that is: a length of time ("10m"), or a moment. Errors: invalid (also a moment that
// is not over yet).
Result<Ns> parse_ago(const std::string& text, Ns now);

}  // namespace spotter
