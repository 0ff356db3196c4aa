#include "app/capture/missing_hosts.h"

#include <algorithm>
#include <cstdio>

#include "base/text/utf8.h"

namespace spotter::app {

Result<bool> tell_missing(const std::vector<std::optional<Error>>& errors) {
  const auto missing = std::ranges::count_if(errors, [](const auto& error) { return error.has_value(); });
  if (missing == 1 && errors.size() == 1) return tl::unexpected(*errors[0]);
  for (const std::optional<Error>& error : errors) {
    if (error) std::fprintf(stderr, "spotter: %s\n", to_printable(error->message).c_str());
  }
  if (missing > 0 && missing == std::ssize(errors)) return fail(errors.back()->code, "no agent has answered");
  return missing == 0;
}

}  // namespace spotter::app
