#include "trace/job.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>

#include "base/source_revision.h"
#include "base/stable_sort.h"
#include "base/system/file.h"
#include "base/text/utf8.h"

namespace spotter {
namespace {

// The number in "3...", "-3...", "_3...", "=3...", "[3]...".
std::optional<i64> number_after(std::string_view text) {
  constexpr std::string_view kBetween = "-_=.: ";
  const bool bracket = text.starts_with('[');
  if (bracket || (!text.empty() && kBetween.find(text[0]) != kBetween.npos)) text.remove_prefix(1);
  u32 number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  if (bracket && (stop == text.data() + text.size() || *stop != ']')) return std::nullopt;
  return number;
}

// "local_rank" is a place on the host, "tp_rank" one in a group, and "crank" no rank at all. In lower case.
bool is_rank_word(std::string_view before) {
  if (before.empty()) return true;
  if (before.back() >= 'a' && before.back() <= 'z') return false;
  before.remove_suffix(1);
  constexpr std::string_view kOthers[] = {"local", "node", "group", "role", "dp",
                                          "tp",    "pp",   "cp",    "ep",   "sp"};
  return std::ranges::none_of(kOthers, [&](std::string_view other) {
    if (!before.ends_with(other)) return false;
    const std::string_view rest = before.substr(0, before.size() - other.size());
    return other == "local" || rest.empty() || rest.back() < 'a' || rest.back() > 'z';
  });
}

// As people count: "t2" is before "t10".
bool is_before(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number_of = [&](std::string_view& text) {
    const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    std::string_view digits = text.substr(0, end);
    text.remove_prefix(end);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view one = number_of(a), other = number_of(b);
      if (one.size() != other.size()) return one.size() < other.size();
      if (one != other) return one < other;
      continue;
    }
    if (a[0] != b[0]) return static_cast<u8>(a[0]) < static_cast<u8>(b[0]);
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
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

// Which rule gave the ranks, and what says otherwise.
void tell_sources(const std::vector<RankEvidence>& files, const std::vector<ResolvedRank>& ranks,
                  Notes& notes) {
  const auto tell = [&](std::string_view kind, std::string_view sentence, auto&& is_told) {
    i64 count = 0;
    for (size_t i = 0; i < files.size(); ++i) count += is_told(files[i], ranks[i]);
    if (count > 0) notes.add(kind, Severity::info, sentence, -1, count);
  };
  const auto comes_from = [](RankSource source) {
    return [source](const RankEvidence&, const ResolvedRank& r) { return r.source == source; };
  };
  const auto differs = [](RankSource source, std::optional<i64> RankEvidence::* other) {
    return [source, other](const RankEvidence& file, const ResolvedRank& r) {
      return r.source == source && file.*other && file.*other != r.rank;
    };
  };
  tell("rank_from_receipts",
       "trace files do not say their rank; it was taken from the receipts of their capture",
       comes_from(RankSource::receipts));
  tell("rank_from_file_name", "trace files do not say their rank; it was taken from the file name",
       comes_from(RankSource::file_name));
  const auto has_rank = [](const ResolvedRank& r) { return r.rank.has_value(); };
  if (std::count_if(ranks.begin(), ranks.end(), has_rank) > 1)
    tell("rank_by_order", "trace files do not say their rank, nor do their names; they were numbered by path",
         [](const RankEvidence& file, const ResolvedRank& r) {
           return r.source == RankSource::order && !file.is_unread;
         });
  tell("rank_disagrees", "receipts give another rank than the file's contents, which count",
       differs(RankSource::file_contents, &RankEvidence::receipt_rank));
  tell("rank_disagrees", "file names give another rank than the file's contents, which count",
       differs(RankSource::file_contents, &RankEvidence::name_rank));
  tell("rank_disagrees", "file names give another rank than the receipts of the capture, which count",
       differs(RankSource::receipts, &RankEvidence::name_rank));
}

constexpr size_t kMostRoots = 8;

// Whether a folder can stand in a word of --source-url.
bool is_root_word(std::string_view folder) {
  return folder.size() > 1 && folder[0] == '/' && std::ranges::all_of(folder, [](char c) {
           return c > ' ' && c < 127 && std::string_view("={}*\\\"'").find(c) == std::string_view::npos;
         });
}

}  // namespace

// Each folder that the repository has on some host gives a word, and files that are named without one are
// taken to be in it, too.
std::string source_url_of(const Job& job) {
  if (job.files.empty()) return {};
  const std::string& source = job.files[0].source;
  const std::string web = web_root_of(source);
  if (web.empty() || std::ranges::any_of(job.files, [&](const TraceFile& f) { return f.source != source; }))
    return {};
  std::set<std::string> roots;
  for (const TraceFile& file : job.files)
    if (is_root_word(file.source_root)) roots.insert(file.source_root);
  if (roots.size() > kMostRoots) roots.clear();
  std::string words;
  for (const std::string& root : roots) words += fmt::format("{}={} ", root, web);
  return words + web;
}

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
  for (size_t i = 0; i < files.size(); ++i) {
    const RankEvidence& file = files[i];
    if (file.contents_rank) {
      ranks[i] = {file.contents_rank, RankSource::file_contents};
    } else if (file.receipt_rank) {
      ranks[i] = {file.receipt_rank, RankSource::receipts};
    } else if (file.name_rank) {
      ranks[i] = {file.name_rank, RankSource::file_name};
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
  stable_sort(by_path, [&](size_t a, size_t b) { return is_before(files[a].path, files[b].path); });
  i64 next = 0;
  size_t ranked = owner.size();
  std::vector<RankEvidence> numbered;
  for (const size_t i : by_path) {
    if (ranks[i].rank || !files[i].has_events) continue;
    while (owner.contains(next)) ++next;
    ranks[i] = {next++, RankSource::order};
    numbered.push_back(files[i]);
    ++ranked;
  }

  tell_sources(files, ranks, notes);
  const bool are_all = numbered.size() == ranked;
  if (one_after_the_other(std::move(numbered)))
    notes.add(
        are_all ? kCapturesAtDifferentTimes : "files_at_different_times", Severity::repair,
        "files without a rank do not overlap in time: rather than ranks of one job they may be captures "
        "that were taken one after the other; analyse those one by one");
  return ranks;
}

}  // namespace spotter
