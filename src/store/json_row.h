// A row as a JSON object, for the catalogue: readable with any SQLite client.
#pragma once
#include <functional>
#include <string>

#include "store/series/block.h"

namespace spotter::store {

// {"device":"nvme0n1","part":1}: the columns that `wanted` takes. Numbers that JSON does not have are null.
std::string json_row(const Block& block, size_t row, const std::function<bool(const StoredField&)>& wanted);

}  // namespace spotter::store
