// "did you mean": the known words that an unknown one may stand for.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace spotter {

// How many letters have to be added, left out, changed or swapped with their neighbour to make one word the
// other, each place once (optimal string alignment, the restricted Damerau-Levenshtein distance).
size_t edit_distance(std::string_view one, std::string_view other);

// The known words that differ least (of these, those whose lengths do), at most three of them and in the
// order given: by a third of the letters at most; else those that the word is the beginning of. Upper and
// lower case count as alike. None: it resembles nothing.
std::vector<std::string> similar_words(std::string_view word, std::span<const std::string> known);

// `; did you mean "analyze"?`, for the end of a sentence that names the unknown word; empty where it
// resembles nothing, `otherwise` then.
std::string did_you_mean(std::string_view word, std::span<const std::string> known,
                         std::string_view otherwise = {});

}  // namespace spotter
