#include "analyze/replay/unnamed_clocks.h"

#include <algorithm>
#include <map>

#include "analyze/replay/exchanges.h"
#include "analyze/replay/mix.h"
#include "analyze/replay/unnamed_calls.h"
#include "base/fnv.h"
#include "base/lower_median.h"
#include "base/stable_sort.h"

namespace spotter::analyze {
namespace {

constexpr size_t kFewest = 4;  // calls of a stream: fewer are alike by chance
constexpr size_t kMost = 128;  // more make a median no better
constexpr Ns kTogether = 10'000;

struct Ends {
  u64 operations = 0;
  std::vector<Ns> ends;
};

std::vector<Ends> ends_of(const JobProgram& job, const std::vector<u32>& ranks) {
  std::vector<Ends> all;
  for (const u32 r : ranks) {
    std::map<u32, Ends> streams;
    const RankProgram& rank = job.ranks[r];
    for (const SkeletonRow& row : rank.rows()) {
      if (row.op != SkeletonOp::collective || !is_unnamed(rank, row)) continue;
      const std::string_view name = rank.skeleton.strings[row.name];
      if (direction_of(name) != Direction::none) continue;
      Ends& of = streams[row.stream];
      of.operations = mix(of.operations, fnv1a(name));
      of.ends.push_back(row.end);
    }
    for (auto& [stream, ends] : streams)
      if (ends.ends.size() >= kFewest) all.push_back(std::move(ends));
  }
  return all;
}

// How far apart their ends are, evenly over the recording.
std::vector<Ns> apart(const Ends& a, const Ends& b) {
  std::vector<Ns> all;
  const size_t stride = (a.ends.size() - 1) / kMost + 1;
  for (size_t i = 0; i < a.ends.size(); i += stride) all.push_back(b.ends[i] - a.ends[i]);
  return all;
}

}  // namespace

std::vector<ClockEdge> unnamed_clock_edges(const JobProgram& job,
                                           const std::vector<std::vector<u32>>& hosts) {
  std::vector<std::vector<Ends>> streams;
  for (const std::vector<u32>& ranks : hosts) streams.push_back(ends_of(job, ranks));
  std::vector<ClockEdge> edges;
  for (u32 first = 0; first < hosts.size(); ++first)
    for (u32 second = first + 1; second < hosts.size(); ++second) {
      ClockEdge best{first, second, 0, kTogether + 1};
      for (const Ends& a : streams[first])
        for (const Ends& b : streams[second]) {
          if (a.operations != b.operations || a.ends.size() != b.ends.size()) continue;
          std::vector<Ns> all = apart(a, b);
          const Ns ahead = lower_median(all);
          for (Ns& one : all) one = one > ahead ? one - ahead : ahead - one;
          if (const Ns varies = lower_median(all); varies < best.varies)
            best = {first, second, ahead, varies};
        }
      if (best.varies <= kTogether) edges.push_back(best);
    }
  stable_sort(edges, [](const ClockEdge& a, const ClockEdge& b) { return a.varies < b.varies; });
  return edges;
}

}  // namespace spotter::analyze
