#include "respond/incidents/conclusion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text/number.h"
#include "base/text/quantity.h"
#include "respond/rules/columns.h"

namespace spotter::respond {
namespace {

constexpr size_t kMostSuspects = 8, kMostEvidence = 4;
constexpr double kClose = 1.5;  // as near as this in time at stake, one is as likely as the other
// Of a step: a fault that costs less is no reason to be told of, and so much communication waits for
// somebody.
constexpr double kSmall = 0.02, kWaiting = 0.2;
// As captures say it of a process that did not run when it was to (capture/captures.cc).
constexpr std::string_view kAsleep[] = {"the process woke too late",
                                        "the process did not ask for the request"};

constexpr const char* kFindings[] = {"mechanism",  "kind",    "ranks",  "time_ns",  "share",
                                     "confidence", "finding", "remedy", "evidence", "against"};
enum : size_t {
  kMechanism,
  kKind,
  kRanks,
  kTime,
  kShare,
  kConfidence,
  kFinding,
  kRemedy,
  kCommand,
  kAgainst
};
constexpr const char* kReceipts[] = {"host", "rank", "state", "reason"};
enum : size_t { kHost, kRank, kState, kReason };

// "0-3,7"; no more than a few of them.
struct Range {
  i64 first = 0, last = 0;
};
std::vector<Range> ranges_in(std::string_view text) {
  std::vector<Range> ranges;
  for (const std::string& word : split_commas(text)) {
    const size_t dash = std::min(word.find('-'), word.size());
    const auto first = whole_number(std::string_view(word).substr(0, dash));
    const auto last = dash == word.size() ? first : whole_number(std::string_view(word).substr(dash + 1));
    if (first && last) ranges.push_back({*first, *last});
  }
  return ranges;
}

// The first of them.
std::vector<i64> ranks_in(std::string_view text) {
  std::vector<i64> ranks;
  for (const Range& range : ranges_in(text))
    for (i64 rank = range.first; rank <= range.last && ranks.size() < kMostSuspects; ++rank)
      ranks.push_back(rank);
  return ranks;
}

// "spotter analyze PATH --table stragglers ..." -> stragglers
std::string table_in(std::string_view command) {
  constexpr std::string_view kOption = "--table ";
  const size_t at = command.find(kOption);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = command.substr(at + kOption.size());
  return std::string(rest.substr(0, rest.find(' ')));
}

struct Untraced {
  size_t processes = 0;
  std::set<i64> ranks = {};  // of those that have one; not more than are named
};

struct Traced {
  std::map<i64, std::string> hosts;  // of ranks with a trace
  size_t written = 0;
  std::map<std::string, Untraced> reasons;  // why others have none
  std::map<i64, std::string> asleep;        // hosts of those among them that did not run
};

Traced traced_by(const Table& receipts) {
  Traced traced;
  Columns columns(kReceipts);
  columns.find(receipts);
  for (size_t row = 0; row < receipts.rows(); ++row) {
    if (columns.text(row, kState) == "written") {
      ++traced.written;
      if (const auto rank = columns.integer(row, kRank))
        traced.hosts.emplace(*rank, columns.text(row, kHost));
    } else {
      const std::string_view reason = columns.text(row, kReason);
      Untraced& those = traced.reasons[std::string(reason.empty() ? columns.text(row, kState) : reason)];
      ++those.processes;
      if (const auto rank = columns.integer(row, kRank); rank && those.ranks.size() < kMostSuspects)
        those.ranks.insert(*rank);
      const bool is_asleep =
          std::ranges::any_of(kAsleep, [&](std::string_view why) { return reason.starts_with(why); });
      if (const auto rank = columns.integer(row, kRank); rank && is_asleep)
        traced.asleep.emplace(*rank, columns.text(row, kHost));
    }
  }
  return traced;
}

// "ranks 3, 7", "ranks 3, 7 and 2 more processes", "2 processes".
std::string named(const Untraced& those) {
  const auto processes = [](size_t n, const char* more) {
    return fmt::format("{} {}{}", n, more, n == 1 ? "process" : "processes");
  };
  if (those.ranks.empty()) return processes(those.processes, "");
  const size_t more = those.processes - those.ranks.size();
  return fmt::format("{} {}{}", those.ranks.size() == 1 ? "rank" : "ranks", fmt::join(those.ranks, ", "),
                     more == 0 ? "" : " and " + processes(more, "more "));
}

void add_reasons(const Traced& traced, std::vector<std::string>& not_known) {
  for (const auto& [reason, those] : traced.reasons) {
    if (not_known.size() >= kMostEvidence) return;
    not_known.push_back(fmt::format("{} wrote no trace: {}", named(those), reason));
  }
}

bool are_all_in(std::string_view text, const Traced& traced) {
  const std::vector<Range> ranges = ranges_in(text);
  return !traced.hosts.empty() && std::ranges::all_of(traced.hosts, [&](const auto& host) {
    return std::ranges::any_of(
        ranges, [&](const Range& range) { return range.first <= host.first && host.first <= range.last; });
  });
}

class Findings {
 public:
  explicit Findings(const Table& table) : table_(table) { columns_.find(table); }

  // `are_some`: others were not traced.
  Conclusion conclude(const Traced& traced, bool are_some) const {
    Conclusion c;
    std::optional<size_t> first, rival;
    for (size_t row = 0; row < table_.rows(); ++row) {
      const std::string_view kind = columns_.text(row, kKind);
      if (kind == "fault" && !first)
        first = row;
      else if (kind == "fault" && !rival && columns_.text(row, kRanks) != columns_.text(*first, kRanks))
        rival = row;
      if (kind == "caveat") c.not_known.emplace_back(columns_.text(row, kFinding));
      if (kind != "caveat" && c.evidence.size() < kMostEvidence) c.evidence.push_back(evidence(row));
    }
    if (!first || columns_.real(*first, kShare).value_or(1) < kSmall) {
      if ((c.verdict = of_asleep(traced))) return c;
    }
    if (!first) {
      c.not_known.insert(c.not_known.begin(), "the traces show no fault");
      return c;
    }
    c.verdict = verdict(*first, rival, traced);
    if (const std::string_view against = columns_.text(*first, kAgainst); !against.empty())
      c.against.push_back(kDoubt + std::string(against));
    if (are_some && are_all_in(columns_.text(*first, kRanks), traced)) doubt(traced, c);
    return c;
  }

 private:
  // What all that were traced have, nobody else has been compared with: of several it is likely the whole
  // job's.
  static void doubt(const Traced& traced, Conclusion& c) {
    if (traced.hosts.size() > 1) return c.verdict->suspects.clear();
    c.verdict->confidence = Confidence::low;
    c.against.push_back(kDoubt + std::string("no other rank was traced, which may have it as well"));
  }

  // Ranks that slept when the others were awake, and that these wait for: of what they did there is no trace.
  std::optional<Verdict> of_asleep(const Traced& traced) const {
    if (traced.asleep.empty() || traced.asleep.size() >= traced.hosts.size()) return {};
    std::optional<size_t> waiting;
    for (size_t row = 0; row < table_.rows(); ++row) {
      const std::string_view mechanism = columns_.text(row, kMechanism);
      const bool is_waiting = mechanism == "exposed_communication" || mechanism == "absent_ranks";
      if (is_waiting && !waiting && columns_.real(row, kShare).value_or(0) >= kWaiting) waiting = row;
    }
    if (!waiting) return {};
    Verdict v{.cause = "slow_host", .confidence = Confidence::medium};
    std::vector<std::string> names;
    for (const auto& [rank, host] : traced.asleep) {
      if (v.suspects.size() == kMostSuspects) break;
      v.suspects.push_back({.rank = rank, .host = host});
      names.push_back(host.empty() ? fmt::format("{}", rank) : fmt::format("{} (host {})", rank, host));
    }
    if (const size_t more = traced.asleep.size() - names.size(); more > 0)
      names.push_back(fmt::format("{} more", more));
    const bool is_one = names.size() == 1;
    v.sentence = fmt::format(
        "Rank{} {} {} asleep when {} trace was to begin, while the others ran and waited: {:.0f} % of each of their steps "
        "is communication.",
        is_one ? "" : "s", fmt::join(names, ", "), is_one ? "was" : "were", is_one ? "its" : "their",
        100 * columns_.real(*waiting, kShare).value_or(0));
    v.remedy =
        "See what stops the process: its state (ps), the limits of its control group, a debugger, its storage.";
    if (const auto time = columns_.integer(*waiting, kTime))
      v.at_stake_s_per_step = static_cast<double>(*time) / static_cast<double>(kSecond);
    return v;
  }

  Evidence evidence(size_t row) const {
    const std::string command(columns_.text(row, kCommand));
    Evidence e{
        .says = std::string(columns_.text(row, kFinding)), .table = table_in(command), .command = command};
    if (const std::string_view ranks = columns_.text(row, kRanks); !ranks.empty())
      e.row.emplace_back("ranks", ranks);
    return e;
  }

  Verdict verdict(size_t row, std::optional<size_t> rival, const Traced& traced) const {
    Verdict v;
    v.cause = columns_.text(row, kMechanism);
    v.sentence = columns_.text(row, kFinding);
    v.remedy = columns_.text(row, kRemedy);
    const auto time = columns_.integer(row, kTime);
    if (time) v.at_stake_s_per_step = static_cast<double>(*time) / static_cast<double>(kSecond);
    const auto close = rival ? columns_.integer(*rival, kTime) : std::nullopt;
    const bool has_rival = time && close && static_cast<double>(*close) * kClose > static_cast<double>(*time);
    v.confidence =
        has_rival || columns_.text(row, kConfidence) == "low" ? Confidence::low : Confidence::medium;
    for (const i64 rank : ranks_in(columns_.text(row, kRanks))) {
      const auto host = traced.hosts.find(rank);
      v.suspects.push_back({.rank = rank, .host = host == traced.hosts.end() ? "" : host->second});
    }
    return v;
  }

  const Table& table_;
  Columns columns_{kFindings};
};

}  // namespace

std::set<i64> ranks_traced(const Table& receipts) {
  std::set<i64> ranks;
  for (const auto& [rank, host] : traced_by(receipts).hosts) ranks.insert(rank);
  return ranks;
}

Conclusion conclusion_of(const Table& findings, const Table& receipts, i64 ranks,
                         const std::set<i64>& before) {
  const Traced traced = traced_by(receipts);
  Conclusion c = Findings(findings).conclude(traced, ranks > static_cast<i64>(traced.written));
  const i64 only_before =
      std::ranges::count_if(before, [&](i64 rank) { return !traced.hosts.contains(rank); });
  if (const i64 untraced = ranks - only_before - static_cast<i64>(traced.written); ranks > 0 && untraced > 0)
    c.not_known.push_back(fmt::format("{} of {} ranks were not traced", untraced, ranks));
  add_reasons(traced, c.not_known);
  return c;
}

Conclusion without_findings(const Table& receipts) {
  const Traced traced = traced_by(receipts);
  Conclusion c;
  add_reasons(traced, c.not_known);
  if (c.not_known.empty()) c.not_known.push_back("the traces could not be read");
  return c;
}

}  // namespace spotter::respond
