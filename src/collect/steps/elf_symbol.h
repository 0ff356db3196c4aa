// Where in a library's file a function begins, by the file's own table of what it exports (System V ABI,
// "Dynamic Linking"; the GNU hash table). The file may be anybody's: it is read, never mapped, and nothing in
// it is believed beyond its bounds.
#pragma once
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

namespace spotter::collect {

// Of a 64-bit little-endian ELF file. Null: it exports no function of that name. Errors: invalid (it is no
// such file, or says what cannot be), io.
Result<std::optional<u64>> find_function(int file, std::string_view name);

}  // namespace spotter::collect
