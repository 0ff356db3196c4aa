// Patterns of names, as people write them to choose several.
#pragma once
#include <string_view>

namespace spotter {

// '*' stands for any text, also none, '?' for any one byte, all else for itself. Takes at most as many steps
// as the two lengths' product: who asks may mean harm.
bool matches_glob(std::string_view pattern, std::string_view name);

}  // namespace spotter
