// Who is told of incidents, as the configuration says it (notify/list.h).
#pragma once
#include <string>
#include <vector>

#include "base/settings.h"
#include "notify/courier.h"

namespace spotter::agent {

struct NotifierOptions {
  std::string type;
  Settings settings;  // what notify::check() passes
};

std::string name_of(const NotifierOptions& options);
// Errors: invalid, denied (a file of a secret that others may read), not_found, io.
Result<notify::Receiver> open_receiver(const NotifierOptions& options,
                                       const notify::Surroundings& surroundings);

}  // namespace spotter::agent
