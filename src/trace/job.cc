#include "trace/job.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <tuple>

#include "base/file.h"
#include "base/utf8.h"

namespace spotter {
namespace {

// The number in "3...", "-3...", "_3...", "[3]...".
std::optional<i64> number_after(std::string_view text) {
  const bool bracket = text.starts_with('[');
  if (bracket || text.starts_with('-') || text.starts_with('_')) text.remove_prefix(1);
  u32 number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  if (bracket && (stop == text.data() + text.size() || *stop != ']')) return std::nullopt;
  return number;
}

// "local_rank" is a place on the host, and "crank" no rank at all. In lower case.
bool is_rank_word(std::string_view before) {
  if (before.empty()) return true;
  if (before.back() >= 'a' && before.back() <= 'z') return false;
  before.remove_suffix(1);
  return !before.ends_with("local");
}

// Whether some of the files had ended before another one began.
bool one_after_the_other(std::vector<RankEvidence> files) {
  std::erase_if(files, [](const RankEvidence& f) { return f.start == f.end; });
  std::sort(files.begin(), files.end(),
            [](const RankEvidence& a, const RankEvidence& b) { return a.start < b.start; });
  for (size_t i = 1; i < files.size(); ++i) {
    if (files[i].start > files[i - 1].end) return true;
    files[i].end = std::max(files[i].end, files[i - 1].end);
  }
  return false;
}

}  // namespace

std::optional<i64> rank_in_name(std::string_view path) {
  const std::string name = ascii_lower(base_name(path));
  const std::string_view text = name;
  for (size_t at = text.find("rank"); at != text.npos; at = text.find("rank", at + 1)) {
    if (!is_rank_word(text.substr(0, at))) continue;
    if (const auto rank = number_after(text.substr(at + 4))) return rank;
  }
  return std::nullopt;
}

Result<std::vector<ResolvedRank>> resolve_ranks(const std::vector<RankEvidence>& files, Notes& notes) {
  std::vector<ResolvedRank> ranks(files.size());
  std::map<i64, size_t> owner;  // file of each rank
  i64 from_name = 0, by_order = 0, disagree = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    const RankEvidence& file = files[i];
    if (file.contents_rank) {
      ranks[i] = {file.contents_rank, RankSource::file_contents};
      disagree += file.name_rank && file.name_rank != file.contents_rank;
    } else if (file.name_rank) {
      ranks[i] = {file.name_rank, RankSource::file_name};
      ++from_name;
    } else {
      continue;
    }
    const auto [taken, is_new] = owner.try_emplace(*ranks[i].rank, i);
    if (!is_new)
      return fail(Code::invalid, "{} and {} both say that they are rank {}; leave one of them out",
                  files[taken->second].path, file.path, *ranks[i].rank);
  }

  std::vector<size_t> by_path(files.size());
  std::iota(by_path.begin(), by_path.end(), size_t{0});
  std::sort(by_path.begin(), by_path.end(),
            [&](size_t a, size_t b) { return std::tie(files[a].path, a) < std::tie(files[b].path, b); });
  i64 next = 0;
  std::vector<RankEvidence> numbered;
  for (const size_t i : by_path) {
    if (ranks[i].rank || !files[i].has_events) continue;
    while (owner.contains(next)) ++next;
    ranks[i] = {next++, RankSource::order};
    ++by_order;
    numbered.push_back(files[i]);
  }

  if (from_name > 0)
    notes.add("rank_from_file_name", Severity::info,
              "trace files do not say their rank; it was taken from the file name", -1, from_name);
  if (by_order > 0 && files.size() > 1)
    notes.add("rank_by_order", Severity::info,
              "trace files do not say their rank, nor do their names; they were numbered by path", -1,
              by_order);
  if (one_after_the_other(std::move(numbered)))
    notes.add(
        "captures_at_different_times", Severity::repair,
        "files without a rank do not overlap in time: rather than ranks of one job they may be captures "
        "that were taken one after the other; analyse those one by one");
  if (disagree > 0)
    notes.add("rank_disagrees", Severity::info,
              "file names give another rank than the file's contents, which count", -1, disagree);
  return ranks;
}

}  // namespace spotter
