#include "base/text/listed_ranks.h"

#include <string>

#include "base/text/number.h"
#include "base/text/quantity.h"
#include "base/text/words.h"

namespace spotter {

ListedRanks listed_ranks(std::string_view words) {
  ListedRanks listed;
  const size_t begin = words.find('['), end = words.find(']', begin);
  if (begin == words.npos || end == words.npos) return listed;
  bool is_whole = true;
  for (const std::string& word : split_commas(words.substr(begin + 1, end - begin - 1))) {
    const auto rank = whole_number(trimmed(word));
    if (rank) listed.ranks.push_back(*rank);
    is_whole = is_whole && rank;
  }
  listed.is_whole = is_whole && !listed.ranks.empty();
  return listed;
}

}  // namespace spotter
