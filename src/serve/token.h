// The word that lets its holder ask: 128 random bits, or what a file has.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace spotter::serve {

std::string random_token();  // 32 hexadecimal digits

// The first line of a file that nobody else may read: 16 to 256 letters, digits and "-._~". Errors:
// not_found, io; denied (others may read it, or it is not this user's); invalid.
Result<std::string> read_token(const std::string& path);

// Takes the same time wherever they differ.
bool is_same_token(std::string_view one, std::string_view other);

}  // namespace spotter::serve
