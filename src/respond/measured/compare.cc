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
constexpr const char* kNames[] = {"host", "rank", "device", "metric", "samples", "value"};
enum : size_t { kHost, kRank, kDevice, kMetric, kSamples, kValue };

struct Member {
  std::string host = {}, device = {};
  std::optional<i64> rank = {};
  double value = 0;
};

// Those that are compared with one another: of a metric, and of hosts of one device of theirs.
struct Group {
  const OwnWork* metric = nullptr;
  std::vector<Member> members = {};
};

struct Outlier {
  const Group* group = nullptr;
  const Member* member = nullptr;
  double median = 0, r = 0;
};

bool is_of(const Suspect& suspect, const Member& member) {
  if (suspect.rank && member.rank) return suspect.rank == member.rank;
  if (suspect.host.empty() || !is_same_host(suspect.host, member.host)) return false;
  i64 gpu = 0;
  const bool is_gpu = std::sscanf(member.device.c_str(), "gpu %ld", &gpu) == 1;
  return !is_gpu || !suspect.gpu || *suspect.gpu == gpu;
}

std::vector<Group> groups_of(const Table& measured) {
  Columns columns(kNames);
  columns.find(measured);
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (size_t row = 0; row < measured.rows(); ++row) {
    const std::string metric(columns.text(row, kMetric));
    const auto known = std::ranges::find_if(own_work(), [&](const OwnWork& each) {
      return table::metric_name(each.table, each.sampled) == metric;
    });
    const auto value = columns.real(row, kValue);
    if (known == own_work().end() || !value || !std::isfinite(*value)) continue;
    if (columns.integer(row, kSamples).value_or(0) < kLeastMeasured) continue;
    Member member{.host = std::string(columns.text(row, kHost)),
                  .device = std::string(columns.text(row, kDevice)),
                  .rank = columns.integer(row, kRank),
                  .value = *value};
    Group& group = groups[{metric, known->of == RowOf::host ? member.device : std::string()}];
    group.metric = &*known;
    group.members.push_back(std::move(member));
  }
  std::vector<Group> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

PeerOptions options_of(const OwnWork& metric) { return {.floor = metric.floor}; }

std::vector<Outlier> outliers_of(const Group& group) {
  std::vector<double> values;
  for (const Member& member : group.members) values.push_back(member.value);
  const PeerOptions options = options_of(*group.metric);
  const PeerDeviations deviations = deviations_of(values, options);
  std::vector<Outlier> outliers;
  for (size_t i = 0; i < deviations.r.size(); ++i) {
    const double worse = group.metric->more_is_worse ? deviations.r[i] : -deviations.r[i];
    const double away = std::abs(values[i] - deviations.median);
    if (worse >= options.spreads && away >= options.share * std::abs(deviations.median))
      outliers.push_back({&group, &group.members[i], deviations.median, worse});
  }
  return outliers;
}

// "rank 3 on gpu05 (gpu 3)", "gpu05", "this host"
std::string whom(const Member& member, const std::string& host) {
  std::string text = member.rank ? fmt::format("rank {}", *member.rank) : std::string();
  if (!host.empty()) text += (text.empty() ? "" : " on ") + to_printable(host);
  if (member.device.starts_with("gpu "))
    text += text.empty() ? member.device : fmt::format(" ({})", member.device);
  return text.empty() ? "a host" : text;
}

// "tasks in wait (memory)"
std::string name_of(const Group& group) {
  const Member& member = group.members.front();
  const bool is_told_apart = group.metric->of == RowOf::host && !member.device.empty();
  return is_told_apart ? fmt::format("{} ({})", group.metric->name, to_printable(member.device))
                       : std::string(group.metric->name);
}

std::string says(const Outlier& outlier, const std::string& host) {
  const char* unit = outlier.group->metric->unit;
  return fmt::format(
      "{}: {} {}, the median of {} {} is {}", whom(*outlier.member, host), name_of(*outlier.group),
      amount(outlier.member->value, unit), outlier.group->members.size(),
      outlier.group->metric->of == RowOf::host ? "hosts" : "ranks", amount(outlier.median, unit));
}

std::string command_of(const Outlier& outlier) {
  const OwnWork& metric = *outlier.group->metric;
  std::string command = fmt::format("spotter metrics --since 10m --metric {}",
                                    table::metric_name(metric.table, metric.sampled));
  // A job says what its hosts are called.
  const std::string& host = outlier.member->host;
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_';
  };
  if (!host.empty() && std::ranges::all_of(host, is_plain)) command += " --host " + host;
  return command;
}

class Judge {
 public:
  Judge(const Table& measured, Conclusion& conclusion)
      : groups_(groups_of(measured)), conclusion_(conclusion) {
    for (const Group& group : groups_) {
      for (Outlier& outlier : outliers_of(group)) outliers_.push_back(outlier);
    }
    std::ranges::stable_sort(outliers_, [](const Outlier& a, const Outlier& b) { return a.r > b.r; });
  }

  void judge() {
    const bool has_suspects = conclusion_.verdict && !conclusion_.verdict->suspects.empty();
    if (has_suspects) return judge_suspects();
    if (!conclusion_.verdict) name_one();
  }

 private:
  const std::vector<Suspect>& suspects() const { return conclusion_.verdict->suspects; }
  const Suspect* suspect_of(const Member& member) const {
    const auto it = std::ranges::find_if(suspects(), [&](const Suspect& s) { return is_of(s, member); });
    return it == suspects().end() ? nullptr : &*it;
  }
  static bool is_compared(const Group& group) {
    return std::ssize(group.members) >= options_of(*group.metric).least_members;
  }

  void judge_suspects() {
    size_t found = 0, others = 0;
    std::vector<const Group*> unlike;
    for (const Outlier& outlier : outliers_) {
      const Suspect* suspect = suspect_of(*outlier.member);
      if (!suspect && others < kMostAgainst) {
        ++others;
        conclusion_.against.push_back("measured: " + says(outlier, outlier.member->host));
      }
      if (!suspect) continue;
      unlike.push_back(outlier.group);
      if (found++ < kMostEvidence) add(outlier, suspect->host);
    }
    if (found > 0) conclusion_.verdict->confidence = Confidence::high;
    std::vector<std::string> alike, few;
    bool has_any = false;
    for (const Group& group : groups_) {
      const bool has = std::ranges::any_of(group.members, [&](const Member& m) { return suspect_of(m); });
      has_any = has_any || has;
      if (!has || std::ranges::find(unlike, &group) != unlike.end()) continue;
      // Of one host everything that it has is what its ranks have in common.
      if (is_compared(group))
        alike.push_back(name_of(group));
      else if (group.metric->of != RowOf::host)
        few.push_back(name_of(group));
    }
    if (!alike.empty())
      conclusion_.against.push_back(
          fmt::format("measured: {} of {}: like the others'", listed(alike), named()));
    if (!few.empty())
      conclusion_.not_known.push_back(fmt::format("{} of {}: fewer than {} to compare", listed(few), named(),
                                                  PeerOptions().least_members));
    if (!has_any)
      conclusion_.not_known.push_back(fmt::format(
          "clocks, quotas and pressure of {}: the agent there has no history of the last minute", named()));
  }

  void name_one() {
    if (outliers_.empty()) return;
    const Outlier& outlier = outliers_.front();
    const Member& member = *outlier.member;
    Verdict verdict{.cause = "rank_outlier", .confidence = Confidence::low};
    Suspect suspect{.rank = member.rank, .host = member.host};
    i64 gpu = 0;
    if (std::sscanf(member.device.c_str(), "gpu %ld", &gpu) == 1) suspect.gpu = gpu;
    verdict.suspects.push_back(std::move(suspect));
    verdict.sentence = says(outlier, member.host);
    verdict.remedy = "look at that host: its power, its cooling, its links, and what else runs there";
    conclusion_.otherwise = std::move(verdict);
    add(outlier, member.host);
  }

  void add(const Outlier& outlier, const std::string& host) {
    // After what the trace says of it, and the worst ones before.
    auto& evidence = conclusion_.evidence;
    const size_t place = std::min(evidence.size(), conclusion_.verdict ? 1 + added_ : added_);
    ++added_;
    evidence.insert(evidence.begin() + static_cast<std::ptrdiff_t>(place),
                    {.says = says(outlier, host), .command = command_of(outlier)});
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
  static std::string listed(const std::vector<std::string>& words) {
    const size_t shown = std::min(words.size(), kMostNamed);
    return fmt::format("{}{}",
                       fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                       words.size() > shown ? fmt::format(" and {} more", words.size() - shown) : "");
  }

  std::vector<Group> groups_;
  std::vector<Outlier> outliers_;  // the worst first
  Conclusion& conclusion_;
  size_t added_ = 0;  // to its evidence
};

}  // namespace

void compare(const Table& measured, Conclusion& conclusion) { Judge(measured, conclusion).judge(); }

}  // namespace spotter::respond
