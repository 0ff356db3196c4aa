// JSON as plain data (plain_data.h), for formats that are written both as pickles and as JSON.
#pragma once
#include <string>

#include "base/result.h"
#include "read/plain_data/plain_data.h"

namespace spotter::read {

// Errors as of parse_pickle().
Result<PlainData> parse_json_data(std::string text, const DataLimits& limits = {});

}  // namespace spotter::read
