#include "respond/hang.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "base/text/quantity.h"
#include "base/text/utf8.h"
#include "base/text/words.h"
#include "respond/incidents/says.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr size_t kMostSuspects = 8, kMostEvidence = 6, kMostPlaces = 4;

// Where threads wait for disks and file servers, by how the names of functions begin.
constexpr std::string_view kStorage[] = {
    "nfs",  "rpc_",       "fuse_",        "ext4_", "xfs_",        "btrfs_",
    "ceph", "ll_",        "cl_",          "osc_",  "ptlrpc",      "gpfs",
    "cifs", "smb2_",      "jbd2_",        "blk_",  "io_schedule", "beegfs",
    "bio_", "folio_wait", "wait_on_page", "weka",  "filemap_",    "request_wait_answer"};

bool is_storage(const std::string& function) {
  return std::ranges::any_of(kStorage, [&](std::string_view begin) { return function.starts_with(begin); });
}
bool waits_for_storage(const HostedRank& rank) {
  return rank.state == 'D' && (is_storage(rank.function) || std::ranges::any_of(rank.stack, is_storage));
}
bool is_stopped(const HostedRank& rank) { return rank.state == 'T' || rank.state == 't'; }
bool has_ended(const HostedRank& rank) { return rank.state == 'Z' || rank.state == 'X'; }
bool is_blocked(const HostedRank& rank) { return rank.state == 'D'; }

// "rank 3", "ranks 0, 1 and 7 more"
std::string who(const std::vector<i64>& ranks) {
  if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
  std::string text = "ranks ";
  for (size_t i = 0; i < std::min(kMostSuspects, ranks.size()); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  if (ranks.size() > kMostSuspects) text += fmt::format(" and {} more", ranks.size() - kMostSuspects);
  return text;
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// "D, nfs_wait_bit_killable"
std::string place_of(const HostedRank& rank) {
  return rank.function.empty() ? std::string(1, rank.state)
                               : fmt::format("{}, {}", rank.state, to_printable(rank.function));
}

std::string does(const HostedRank& rank) {
  if (rank.state == 'T') return "is stopped (T)";
  if (rank.state == 't') return "is stopped by a debugger (t)";
  if (has_ended(rank)) return fmt::format("has ended ({})", rank.state);
  if (waits_for_storage(rank)) return fmt::format("waits for a disk or a file server ({})", place_of(rank));
  return fmt::format("waits in the kernel for a device ({})", place_of(rank));
}

struct Cause {
  const char* mechanism;
  bool (*is)(const HostedRank&);
  Confidence alone;  // where nobody else names the rank
  const char* remedy;
};
// The most certain first.
constexpr Cause kCauses[] = {
    {"hang", is_stopped, Confidence::medium,
     "find out who stopped it (SIGSTOP, a debugger, the scheduler); kill -CONT lets it go on"},
    {"rank_gone", has_ended, Confidence::medium,
     "look into its log; restart the job, the others wait for it"},
    {"storage_hangs", waits_for_storage, Confidence::medium, "look at the file server and the network to it"},
};
constexpr Cause kBlocked = {"hang", is_blocked, Confidence::low,
                            "look at the kernel's log of the host for that device"};

class Judge {
 public:
  explicit Judge(const HangFacts& facts) : facts_(facts) {
    if (facts.recorded) named_.insert(facts.recorded->ranks.begin(), facts.recorded->ranks.end());
    for (const Condition& c : facts.conditions) {
      if (c.rule == kRankGone.name && c.rank) gone_[*c.rank] = c.host.empty() ? facts.host : c.host;
      if (c.rule != kCollectiveStuck.name || c.unit != "count") continue;
      if (!c.rank) continue;
      named_.insert(*c.rank);
      hosts_[*c.rank] = c.host;
    }
    for (const HostedRank& rank : facts.ranks) hosts_[rank.rank] = rank.host;
    for (const auto& [rank, host] : gone_) hosts_[rank] = host;
  }

  Conclusion conclude() {
    for (const Cause& cause : kCauses) {
      if (!conclusion_.verdict) judge(cause);
    }
    if (!conclusion_.verdict) gone_.empty() ? judge_named() : judge_gone();
    if (!conclusion_.verdict && gone_.empty()) judge(kBlocked);
    add_named();
    if (!is_found_) add_places();
    add_the_rest();
    return std::move(conclusion_);
  }

 private:
  void judge(const Cause& cause) {
    std::vector<const HostedRank*> found;
    for (const HostedRank& rank : facts_.ranks) {
      if (cause.is(rank) && !gone_.contains(rank.rank)) found.push_back(&rank);
    }
    if (found.empty()) return;
    is_found_ = true;
    std::vector<i64> ranks;
    for (const HostedRank* rank : found) {
      ranks.push_back(rank->rank);
      Evidence evidence{
          .says = fmt::format("rank {} on {} {}", rank->rank, to_printable(rank->host), does(*rank))};
      if (rank->pid != 0) {
        evidence.says += fmt::format(": process {}", rank->pid);
        evidence.command =
            fmt::format("cat /proc/{}/wchan; grep State /proc/{}/status", rank->pid, rank->pid);
      }
      add(std::move(evidence));
    }
    Verdict verdict{.cause = cause.mechanism, .confidence = cause.alone, .remedy = cause.remedy};
    const bool are_named = std::ranges::any_of(ranks, [&](i64 rank) { return named_.contains(rank); });
    if (are_named) verdict.confidence = Confidence::high;
    if (!are_named && !named_.empty()) {
      verdict.confidence = Confidence::low;
      conclusion_.against.push_back(std::string(kDoubt) + "others wait for " +
                                    who({named_.begin(), named_.end()}) +
                                    ", say NCCL or the flight recorders");
    }
    const std::string what = ranks.size() == 1 ? does(*found[0]) : plural(*found[0]);
    verdict.sentence =
        fmt::format("{} on {} {}{}", capital(who(ranks)), hosts_of(found), what, others_wait(ranks.size()));
    name(verdict, ranks);
    conclusion_.verdict = std::move(verdict);
  }

  // "gpu05", "gpu05, gpu07", "3 hosts"
  template <class Ranks>
  static std::string hosts_of(const Ranks& ranks) {
    constexpr size_t kMostHosts = 4;
    std::set<std::string> hosts;
    for (const HostedRank* rank : ranks) hosts.insert(to_printable(rank->host));
    return hosts.size() > kMostHosts ? fmt::format("{} hosts", hosts.size())
                                     : fmt::format("{}", fmt::join(hosts, ", "));
  }

  static std::string plural(const HostedRank& rank) {
    if (is_stopped(rank)) return fmt::format("are stopped ({})", rank.state);
    if (has_ended(rank)) return "have ended";
    return fmt::format("wait for {} ({})", waits_for_storage(rank) ? "a disk or a file server" : "a device",
                       place_of(rank));
  }

  std::string others_wait(size_t suspects) const {
    const i64 all = std::max(facts_.world_size, static_cast<i64>(facts_.ranks.size()));
    return all > static_cast<i64>(suspects) ? "; the others wait" : "";
  }

  // The rule has found it; that others name it as well is what is new.
  void judge_gone() {
    std::vector<i64> ranks;
    std::set<std::string> hosts;
    for (const auto& [rank, host] : gone_) {
      if (!named_.contains(rank)) continue;
      ranks.push_back(rank);
      hosts.insert(host);
    }
    if (ranks.empty()) return;
    Verdict verdict{.cause = kRankGone.name, .confidence = Confidence::medium, .remedy = kRankGone.remedy};
    verdict.sentence = fmt::format("{} on {} {} gone; the others wait", capital(who(ranks)),
                                   fmt::join(hosts, ", "), ranks.size() == 1 ? "is" : "are");
    name(verdict, ranks);
    conclusion_.verdict = std::move(verdict);
  }

  // NCCL or the records alone.
  void judge_named() {
    if (named_.empty()) return;
    const bool is_recorded = facts_.recorded && !facts_.recorded->ranks.empty();
    std::vector<i64> ranks =
        is_recorded ? facts_.recorded->ranks : std::vector<i64>(named_.begin(), named_.end());
    Verdict verdict{.cause = "hang",
                    .confidence = Confidence::medium,
                    .remedy = "look at what the host of that rank does (py-spy dump, its log, dmesg)"};
    if (is_recorded && facts_.recorded->has_no_dump) verdict.confidence = Confidence::low;
    if (ranks.size() > kMostSuspects) verdict.confidence = Confidence::low;
    verdict.sentence = is_recorded ? capital(to_printable(facts_.recorded->what))
                                   : fmt::format("{} {} not arrived in a collective; the others wait",
                                                 capital(who(ranks)), ranks.size() == 1 ? "has" : "have");
    name(verdict, ranks);
    conclusion_.verdict = std::move(verdict);
  }

  void name(Verdict& verdict, const std::vector<i64>& ranks) const {
    for (const i64 rank : ranks) {
      if (verdict.suspects.size() >= kMostSuspects) return;
      const auto host = hosts_.find(rank);
      verdict.suspects.push_back({.rank = rank, .host = host == hosts_.end() ? "" : host->second});
    }
  }

  void add_named() {
    if (facts_.recorded)
      add({.says = "flight recorders: " + to_printable(facts_.recorded->what), .table = "flight_recorder"});
    for (const Condition& c : facts_.conditions) {
      if (c.rule == kCollectiveStuck.name)
        add({.says = says(c), .table = c.unit == "count" ? "nccl_ras" : ""});
    }
  }

  // Where ranks wait that nothing is wrong with: one that is elsewhere than the others stands out.
  void add_places() {
    std::map<std::string, std::vector<i64>> places;
    for (const HostedRank& rank : facts_.ranks) {
      if (rank.state != '?') places[place_of(rank)].push_back(rank.rank);
    }
    if (places.size() > kMostPlaces) return;
    std::string text;
    for (const auto& [place, ranks] : places)
      text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", who(ranks), place);
    if (!text.empty()) add({.says = fmt::format("on {}: {}", hosts_of(known()), text)});
  }

  void add_the_rest() {
    conclusion_.against.insert(conclusion_.against.end(), facts_.against.begin(), facts_.against.end());
    if (const auto those = known(); !those.empty() && !is_found_)
      conclusion_.against.push_back(
          fmt::format("host: no rank on {} is stopped, has ended or waits for a disk", hosts_of(those)));
    auto& not_known = conclusion_.not_known;
    not_known.insert(not_known.end(), facts_.not_known.begin(), facts_.not_known.end());
    const i64 elsewhere = facts_.world_size - static_cast<i64>(facts_.ranks.size() + gone_.size());
    if (facts_.world_size > 0 && elsewhere > 0)
      not_known.push_back(
          fmt::format("what {} of {} ranks do: their hosts have not said so", elsewhere, facts_.world_size));
  }

  // Those of which something is known.
  std::vector<const HostedRank*> known() const {
    std::vector<const HostedRank*> ranks;
    for (const HostedRank& rank : facts_.ranks) {
      if (rank.state != '?') ranks.push_back(&rank);
    }
    return ranks;
  }

  void add(Evidence evidence) {
    if (conclusion_.evidence.size() < kMostEvidence) conclusion_.evidence.push_back(std::move(evidence));
  }

  const HangFacts& facts_;
  Conclusion conclusion_;
  std::set<i64> named_;              // by NCCL or records
  std::map<i64, std::string> gone_;  // by the rule: where they were
  std::map<i64, std::string> hosts_;
  bool is_found_ = false;  // somebody in whose state something is wrong
};

}  // namespace

std::string kernel_wait_of(const std::vector<HostedRank>& ranks) {
  std::string text;
  for (const HostedRank& rank : ranks) {
    if (rank.state == '?') continue;
    const auto storage = std::ranges::find_if(rank.stack, is_storage);
    const bool tells_more = !is_storage(rank.function) && storage != rank.stack.end();
    const std::string& function = tells_more ? *storage : rank.function;
    text += fmt::format("{}{} {}{}{}", text.empty() ? "" : ", ", rank.rank, rank.state,
                        function.empty() ? "" : " ", function);
  }
  return text;
}

std::vector<HostedRank> hosted_ranks_of(const Condition& condition) {
  constexpr std::string_view kStates = "RSDTtZXI";
  constexpr size_t kMostFunction = 64, kMostRanks = 64;
  const auto is_of_a_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  };
  std::vector<HostedRank> ranks;
  if (condition.rule != kProgressStopped.name) return ranks;
  for (const std::string& said : split_commas(condition.kernel_wait)) {
    std::string_view rest = said;
    const auto rank = whole_number(next_word(rest));
    const std::string_view state = next_word(rest), function = next_word(rest);
    const bool is_known = state.size() == 1 && kStates.find(state) != std::string_view::npos;
    if (!rank || !is_known || !next_word(rest).empty() || function.size() > kMostFunction ||
        !std::ranges::all_of(function, is_of_a_name) || ranks.size() >= kMostRanks)
      continue;
    ranks.push_back(
        {.host = condition.host, .rank = *rank, .state = state[0], .function = std::string(function)});
  }
  return ranks;
}

Conclusion conclusion_of(const HangFacts& facts) { return Judge(facts).conclude(); }

}  // namespace spotter::respond
