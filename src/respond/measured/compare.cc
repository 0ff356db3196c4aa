#include "respond/measured/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "base/same_host.h"
#include "base/text/utf8.h"
#include "respond/incidents/says.h"
#include "respond/measured/measured.h"
#include "respond/measured/own_work.h"
#include "respond/rules/columns.h"
#include "respond/statistics/peers.h"
#include "table/metric.h"

namespace spotter::respond {
namespace {

constexpr size_t kMostEvidence = 2, kMostAgainst = 2, kMostNamed = 8;
constexpr double kShown = 3;     // spreads, from which on what differs is shown
constexpr double kAlike = 0.05;  // of the median
constexpr const char* kNames[] = {"host", "rank", "device", "metric", "samples", "value", "before"};
enum : size_t { kHost, kRank, kDevice, kMetric, kSamples, kValue, kBefore };

struct Member {
  std::string host = {}, device = {};
  std::optional<i64> rank = {}, gpu = {};
  double value = 0;
  std::optional<double> before = {};
};

// Those that are compared with one another: of a metric, and of hosts of one device of theirs.
struct Group {
  const OwnWork* metric = nullptr;
  std::vector<Member> members = {};

  PeerOptions options() const { return {.floor = metric->floor, .least_spread = metric->least_spread}; }
  bool is_compared() const { return std::ssize(members) >= options().least_members; }
};

// How a member is to its peers: `worse`: so many spreads on the worse side of the median.
struct Place {
  const Group* group = nullptr;
  const Member* member = nullptr;
  double median = 0, worse = 0;
  bool is_away = false;  // 15 % of the median
  bool was_outlier = false;

  bool stands_out() const { return is_away && !was_outlier && worse >= group->options().spreads; }
  bool is_shown() const { return is_away && !was_outlier && worse >= kShown; }
  bool is_alike() const {
    return worse <= 0 ||
           std::abs(member->value - median) <= std::max(kAlike * std::abs(median), group->metric->floor);
  }
};

bool is_of(const Suspect& suspect, const Member& member, RowOf of) {
  if (suspect.rank && member.rank) return suspect.rank == member.rank;
  if (suspect.host.empty() || !is_same_host(suspect.host, member.host)) return false;
  // A GPU of nobody known may be anybody's.
  return of == RowOf::gpu ? suspect.gpu && suspect.gpu == member.gpu : of == RowOf::host;
}

std::optional<i64> gpu_of(const std::string& device) {
  i64 gpu = 0;
  return std::sscanf(device.c_str(), "gpu %ld", &gpu) == 1 ? std::optional(gpu) : std::nullopt;
}

// In the order of own_work().
std::vector<Group> groups_of(const Table& measured, const std::string& own_host,
                             const std::string& own_name) {
  constexpr size_t kMostText = 256;
  Columns columns(kNames);
  columns.find(measured);
  std::map<std::pair<const OwnWork*, std::string>, Group> groups;
  for (size_t row = 0; row < measured.rows(); ++row) {
    const std::string_view metric = columns.text(row, kMetric);
    const auto known = std::ranges::find_if(own_work(), [&](const OwnWork& each) {
      return table::metric_name(each.table, each.sampled) == metric;
    });
    const auto value = columns.real(row, kValue);
    if (known == own_work().end() || !value || !std::isfinite(*value)) continue;
    if (columns.integer(row, kSamples).value_or(0) < kLeastMeasured) continue;
    Member member{.host = to_printable(columns.text(row, kHost).substr(0, kMostText)),
                  .device = to_printable(columns.text(row, kDevice).substr(0, kMostText)),
                  .rank = columns.integer(row, kRank),
                  .value = *value,
                  .before = columns.real(row, kBefore)};
    if (member.host.empty() || member.host == own_name) member.host = own_host;
    if (known->of == RowOf::gpu) member.gpu = gpu_of(member.device);
    Group& group = groups[{&*known, known->of == RowOf::host ? member.device : std::string()}];
    group.metric = &*known;
    group.members.push_back(std::move(member));
  }
  std::vector<Group> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

std::vector<Place> places_of(const Group& group) {
  const PeerOptions options = group.options();
  std::vector<double> values, before;
  for (const Member& member : group.members) {
    values.push_back(member.value);
    before.push_back(member.before.value_or(std::nan("")));
  }
  const PeerDeviations now = deviations_of(values, options), then = deviations_of(before, options);
  const double sign = group.metric->more_is_worse ? 1 : -1;
  std::vector<Place> places;
  for (size_t i = 0; i < now.r.size(); ++i) {
    Place& place = places.emplace_back(Place{&group, &group.members[i], now.median, sign * now.r[i]});
    place.is_away = std::abs(values[i] - now.median) >= options.share * std::abs(now.median);
    place.was_outlier = i < then.r.size() && sign * then.r[i] >= kShown;
  }
  return places;
}

// "rank 3 on gpu05 (gpu 3)", "gpu05"
std::string whom(const Member& member) {
  std::string text = member.rank ? fmt::format("rank {}", *member.rank) : std::string();
  if (!member.host.empty()) text += (text.empty() ? "" : " on ") + member.host;
  const std::string gpu = member.gpu ? fmt::format("GPU {}", *member.gpu) : std::string();
  if (!gpu.empty()) text += text.empty() ? gpu : fmt::format(" ({})", gpu);
  return text.empty() ? "a host" : text;
}

// "tasks in wait (memory)"
std::string name_of(const Group& group) {
  const Member& member = group.members.front();
  const bool is_told_apart = group.metric->of == RowOf::host && !member.device.empty();
  return is_told_apart ? fmt::format("{} ({})", group.metric->name, member.device)
                       : std::string(group.metric->name);
}

std::string says(const Place& place) {
  const OwnWork& metric = *place.group->metric;
  const auto& before = place.member->before;
  return fmt::format("{}: {} {}{}, the median of {} {} is {}", whom(*place.member), name_of(*place.group),
                     amount(place.member->value, metric.unit),
                     before ? fmt::format(" (before: {})", amount(*before, metric.unit)) : "",
                     place.group->members.size(), metric.of == RowOf::host ? "hosts" : "ranks",
                     amount(place.median, metric.unit));
}

Evidence evidence_of(const Place& place) {
  const OwnWork& metric = *place.group->metric;
  std::string command = fmt::format("spotter metrics --since 10m --metric {}",
                                    table::metric_name(metric.table, metric.sampled));
  // A job says what its hosts are called.
  const std::string& host = place.member->host;
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_';
  };
  if (!host.empty() && std::ranges::all_of(host, is_plain)) command += " --host " + host;
  Evidence evidence{.says = says(place), .command = std::move(command)};
  if (!host.empty()) evidence.row.emplace_back("host", host);
  return evidence;
}

// "a, b and 3 more"
std::string listed(const std::vector<std::string>& words) {
  const size_t shown = std::min(words.size(), kMostNamed);
  return fmt::format("{}{}",
                     fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     words.size() > shown ? fmt::format(" and {} more", words.size() - shown) : "");
}

class Judge {
 public:
  Judge(std::vector<Group> groups, Conclusion& conclusion)
      : groups_(std::move(groups)), conclusion_(conclusion) {}

  void judge() {
    const bool has_suspects = conclusion_.verdict && !conclusion_.verdict->suspects.empty();
    has_suspects ? judge_suspects() : name_one();
  }

 private:
  const std::vector<Suspect>& suspects() const { return conclusion_.verdict->suspects; }
  bool is_suspect(const Member& member, RowOf of) const {
    return std::ranges::any_of(suspects(),
                               [&](const Suspect& suspect) { return is_of(suspect, member, of); });
  }

  void judge_suspects() {
    size_t others = 0;
    bool is_measured = false, stands_out = false;
    std::vector<std::string> alike, few;
    for (const Group& group : groups_) {
      const RowOf of = group.metric->of;
      const bool has = std::ranges::any_of(group.members, [&](const Member& m) { return is_suspect(m, of); });
      // Of one host everything that it has is what its ranks have in common.
      is_measured = is_measured || (has && (group.is_compared() || of != RowOf::host));
      if (has && !group.is_compared() && of != RowOf::host) few.push_back(name_of(group));
      bool are_alike = has && group.is_compared();
      for (const Place& place : places_of(group)) {
        if (!is_suspect(*place.member, of)) {
          if (place.stands_out() && others++ < kMostAgainst)
            conclusion_.against.push_back(kDoubt + says(place));
          continue;
        }
        are_alike = are_alike && place.is_alike();
        stands_out = stands_out || place.stands_out();
        if (place.is_shown()) add(evidence_of(place));
      }
      if (are_alike) alike.push_back(name_of(group));
    }
    if (stands_out) conclusion_.verdict->confidence = more_sure(conclusion_.verdict->confidence);
    if (!alike.empty())
      conclusion_.against.push_back(
          fmt::format("measured: {} of {}: like the others'", listed(alike), named()));
    if (!few.empty())
      conclusion_.not_known.push_back(fmt::format("{} of {}: fewer than {} to compare", listed(few), named(),
                                                  PeerOptions().least_members));
    if (!is_measured)
      conclusion_.not_known.push_back(
          fmt::format("clocks, quotas and pressure of {}: not measured, or kept in no history", named()));
  }

  void name_one() {
    for (const Group& group : groups_) {
      const Place* worst = nullptr;
      const std::vector<Place> places = places_of(group);
      for (const Place& place : places) {
        if (place.stands_out() && (!worst || place.worse > worst->worse)) worst = &place;
      }
      if (!worst) continue;
      const Member& member = *worst->member;
      Verdict verdict{.cause = "rank_outlier", .confidence = Confidence::low};
      verdict.suspects.push_back({.rank = member.rank, .host = member.host, .gpu = member.gpu});
      verdict.sentence = says(*worst);
      verdict.remedy = "look at that host: its power, its cooling, its links, and what else runs there";
      conclusion_.hint = Conclusion::Hint{.verdict = std::move(verdict), .evidence = evidence_of(*worst)};
      return;
    }
  }

  // After what the trace says of it first.
  void add(Evidence evidence) {
    if (added_ >= kMostEvidence) return;
    auto& all = conclusion_.evidence;
    const size_t place = std::min(all.size(), 1 + added_++);
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(place), std::move(evidence));
  }

  // "rank 3", "ranks 3, 7", "gpu05"
  std::string named() const {
    std::vector<std::string> ranks, hosts;
    for (const Suspect& suspect : suspects()) {
      if (suspect.rank)
        ranks.push_back(std::to_string(*suspect.rank));
      else
        hosts.push_back(to_printable(suspect.host));
    }
    if (ranks.empty()) return listed(hosts);
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", listed(ranks));
  }

  const std::vector<Group> groups_;
  Conclusion& conclusion_;
  size_t added_ = 0;  // to its evidence
};

}  // namespace

void compare(const Table& measured, const std::string& own_host, const std::string& own_name,
             Conclusion& conclusion) {
  Judge(groups_of(measured, own_host, own_name), conclusion).judge();
}

}  // namespace spotter::respond
