#include "analyze/replay/job_clocks.h"

#include <algorithm>
#include <map>
#include <string>

#include "analyze/replay/unnamed_clocks.h"

namespace spotter::analyze {
namespace {

using Pair = std::pair<u32, u32>;       // of hosts, the lower one first
constexpr size_t kMostSamples = 2'000;  // of a pair: more make its median no better

struct Edge {
  std::vector<Ns> ahead;               // of the second host's end of a call, of the first one's
  Ns least[2] = {kMaxTime, kMaxTime};  // receive's end minus send's, to the second host and to the first
};

class Clocks {
 public:
  explicit Clocks(JobProgram& job) : job_(job) {
    std::map<std::string_view, u32> known;
    for (const RankProgram& rank : job.ranks) {
      // Where no name tells, a rank is a host of its own.
      const auto next = static_cast<u32>(known.size());
      host_.push_back(known.try_emplace(rank.host.empty() ? rank.path : rank.host, next).first->second);
    }
    hosts_ = static_cast<u32>(known.size());
  }

  void set() && {
    if (hosts_ < 2) return;
    for (const JobCall& call : job_.calls) add(call);
    std::vector<std::optional<Ns>> clock(hosts_);
    clock[0] = 0;
    spread(clock, true);
    spread(clock, false);
    if (std::ranges::any_of(clock, [](const auto& c) { return !c; })) spread_unnamed(clock);
    for (size_t r = 0; r < job_.ranks.size(); ++r) job_.ranks[r].clock = clock[host_[r]].value_or(0);
  }

 private:
  void add(const JobCall& call) {
    const auto members = job_.members_of(call);
    if (members.size() < 2) return;
    const u32 first = host_[members[0].rank];
    for (const Member& m : members.subspan(1)) {
      const u32 host = host_[m.rank];
      if (host == first) continue;
      Edge& edge = edges_[std::minmax(first, host)];
      const Ns later = job_.row(m).end - job_.row(members[0]).end;
      if (call.is_send) {
        Ns& least = edge.least[first < host ? 0 : 1];
        least = std::min(least, later);
      } else if (edge.ahead.size() < kMostSamples) {
        edge.ahead.push_back(first < host ? later : -later);
      }
    }
  }

  static std::optional<Ns> ahead_of(Edge& edge, bool by_calls) {
    if (by_calls) {
      if (edge.ahead.empty()) return {};
      const auto middle = edge.ahead.begin() + static_cast<std::ptrdiff_t>(edge.ahead.size() / 2);
      std::ranges::nth_element(edge.ahead, middle);
      return *middle;
    }
    if (edge.least[0] == kMaxTime || edge.least[1] == kMaxTime) return {};
    return (edge.least[0] - edge.least[1]) / 2;  // there and back a transfer takes the same
  }

  // From hosts with a clock to those that are joined with them.
  void spread(std::vector<std::optional<Ns>>& clock, bool by_calls) {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (auto& [pair, edge] : edges_) {
        const auto [low, high] = pair;
        if (clock[low].has_value() == clock[high].has_value()) continue;
        const std::optional<Ns> ahead = ahead_of(edge, by_calls);
        if (!ahead) continue;
        if (clock[low])
          clock[high] = *clock[low] + *ahead;
        else
          clock[low] = *clock[high] - *ahead;
        goes_on = true;
      }
    }
  }

  // The same for what no call joins whose group is named: over the edge that tells best, again and again.
  void spread_unnamed(std::vector<std::optional<Ns>>& clock) const {
    std::vector<std::vector<u32>> hosts(hosts_);
    for (u32 r = 0; r < host_.size(); ++r) hosts[host_[r]].push_back(r);
    const std::vector<ClockEdge> edges = unnamed_clock_edges(job_, hosts);
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const ClockEdge& edge : edges) {
        if (clock[edge.first].has_value() == clock[edge.second].has_value()) continue;
        if (clock[edge.first])
          clock[edge.second] = *clock[edge.first] + edge.ahead;
        else
          clock[edge.first] = *clock[edge.second] - edge.ahead;
        goes_on = true;
        break;
      }
    }
  }

  JobProgram& job_;
  std::vector<u32> host_;  // per rank
  u32 hosts_ = 0;
  std::map<Pair, Edge> edges_;
};

}  // namespace

void set_clocks(JobProgram& job) { Clocks(job).set(); }

}  // namespace spotter::analyze
