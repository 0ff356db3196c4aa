// Times as texts.
#pragma once
#include <string>

#include "base/types.h"

namespace spotter::sink {

std::string utc_text(Ns unix_ns);  // "2026-11-22T11:00:00.123Z"

}  // namespace spotter::sink
