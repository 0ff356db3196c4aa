#include "base/text/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text/utf8.h"

namespace spotter {
namespace {

constexpr size_t kMostShown = 3;
constexpr size_t kLettersPerEdit = 3;
constexpr size_t kLongest = 64;  // letters of a word that somebody meant to type

std::string lower(std::string_view word) {
  std::string text(word);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

size_t edit_distance(std::string_view one, std::string_view other) {
  // Three rows of the table of the distances between beginnings: this one, the one before, and that before
  // it.
  std::vector<size_t> before_last, last(other.size() + 1), row(other.size() + 1);
  for (size_t j = 0; j <= other.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= other.size(); ++j) {
      const bool is_same = one[i - 1] == other[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + !is_same});
      const bool is_swapped = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    std::swap(last, row);
  }
  return last[other.size()];
}

std::vector<std::string> similar_words(std::string_view word, std::span<const std::string> known) {
  std::vector<std::string> similar;
  const std::string wanted = lower(word);
  if (wanted.empty() || wanted.size() > kLongest) return similar;
  std::pair<size_t, size_t> least = {SIZE_MAX, 0};
  for (const std::string& name : known) {
    const size_t longer = std::max(wanted.size(), name.size()),
                 shorter = std::min(wanted.size(), name.size());
    const std::pair distance = {edit_distance(wanted, lower(name)), longer - shorter};
    if (distance.first > longer / kLettersPerEdit || distance > least) continue;
    if (distance < least) similar.clear();
    least = distance;
    similar.push_back(name);
  }
  if (similar.empty()) {
    const auto continues = [&](const std::string& name) { return lower(name).starts_with(wanted); };
    std::ranges::copy_if(known, std::back_inserter(similar), continues);
  }
  if (similar.size() > kMostShown) similar.resize(kMostShown);
  return similar;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known,
                         std::string_view otherwise) {
  std::vector<std::string> similar = similar_words(word, known);
  if (similar.empty()) return std::string(otherwise);
  for (std::string& name : similar) name = fmt::format("\"{}\"", to_printable(name));
  const std::string last = similar.back();
  similar.pop_back();
  return fmt::format("; did you mean {}{}{}?", fmt::join(similar, ", "), similar.empty() ? "" : " or ", last);
}

}  // namespace spotter
