// Who of the hosts that were asked has not answered.
#pragma once
#include <optional>
#include <vector>

#include "base/result.h"

namespace spotter::app {

// `errors`: of each host, in their order; none where it has answered. Of several hosts, each that has not is
// told on standard error. True: all have answered. Errors: not one has, why.
Result<bool> tell_missing(const std::vector<std::optional<Error>>& errors);

}  // namespace spotter::app
