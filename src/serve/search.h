// Search: names with a word in them, over all ranks, which a browser cannot search where there are many.
#pragma once
#include "analyze/analysis.h"

namespace spotter::serve {

extern const Analysis kSearch;
inline constexpr const char* kSearchWord = "q";  // its parameter: letters of either case

}  // namespace spotter::serve
