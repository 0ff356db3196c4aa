#include "analyze/replay/unnamed_calls.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "analyze/replay/exchanges.h"
#include "analyze/replay/mix.h"
#include "base/fnv.h"

namespace spotter::analyze {
namespace {

// The ends of one call on several ranks, with what clocks of hosts that were set by other calls may differ.
constexpr Ns kTogether = 25'000;
// By how much that may vary from call to call: ends are recorded to the microsecond, and clocks drift.
constexpr std::array<Ns, 3> kVaries = {2'000, 5'000, kTogether};
constexpr i64 kPart = 4, kWhole = 5;  // of the ends of a stream

struct Row {
  u64 operation;
  u32 group;  // of streams
  Ns end;
  u32 rank, row;
  u32 stream;  // of all ranks
};

// For two streams being of one group, by each of kVaries.
struct Votes {
  std::array<i64, kVaries.size()> count = {};
  std::array<Ns, kVaries.size()> varied = {};  // in those that count, together
  std::optional<Ns> apart;                     // of the last call

  void add(Ns now) {
    const Ns difference = apart ? std::abs(now - *apart) : 0;
    for (size_t i = 0; i < kVaries.size(); ++i) {
      if (difference > kVaries[i]) continue;
      ++count[i];
      varied[i] += difference;
    }
    apart = now;
  }
};

class Matcher {
 public:
  explicit Matcher(JobProgram& job) : job_(job) {
    std::map<std::pair<u32, u32>, u32> streams;
    for (u32 r = 0; r < job.ranks.size(); ++r) {
      const RankProgram& rank = job.ranks[r];
      for (u32 i = 0; i < rank.rows().size(); ++i) {
        const SkeletonRow& row = rank.rows()[i];
        if (row.op != SkeletonOp::collective || !is_unnamed(rank, row)) continue;
        const std::string_view name = rank.skeleton.strings[row.name];
        if (direction_of(name) != Direction::none) continue;
        const u32 stream =
            streams.try_emplace({r, row.stream}, static_cast<u32>(streams.size())).first->second;
        rows_.push_back({fnv1a(name), 0, job.end({r, i}), r, i, stream});
      }
    }
    calls_of_.resize(streams.size());
    is_group_.resize(streams.size());
    seen_.resize(std::max(streams.size(), job.ranks.size()));
    for (const Row& row : rows_) ++calls_of_[row.stream];
    group_.resize(streams.size());
    std::iota(group_.begin(), group_.end(), 0u);
  }

  void match() && {
    // Streams that end together by chance do so now and then; those of one group do so always. Groups that
    // wait for each other nearly do: whoever has found its own is not joined to those whose ends vary more
    // against its ends.
    for_each_call(&Row::stream, [&](std::span<Row> call) { vote(call); });
    for (size_t round = 0; round < kVaries.size(); ++round) join_voted(round);
    for (Row& row : rows_) row.group = root(row.stream);
    for_each_call(&Row::rank, [&](std::span<Row> call) { add(call); });
  }

 private:
  // The rows of an operation and group that end within kTogether, each `whose` once. What ends nearly so
  // late is cut off where the ends are farthest apart, so that no call is cut in two.
  template <class F>
  void for_each_call(u32 Row::* whose, F&& use) {
    std::ranges::sort(rows_, {},
                      [](const Row& r) { return std::tuple(r.operation, r.group, r.end, r.rank, r.row); });
    for (size_t begin = 0, end = 0; begin < rows_.size(); begin = end) {
      const Row& first = rows_[begin];
      seen_[first.*whose] = ++calls_seen_;
      const auto is_of_it = [&](const Row& row) {
        return row.operation == first.operation && row.group == first.group;
      };
      size_t widest = begin + 1;
      for (end = begin + 1; end < rows_.size() && is_of_it(rows_[end]); ++end) {
        const Row& row = rows_[end];
        if (row.end - rows_[end - 1].end >= rows_[widest].end - rows_[widest - 1].end) widest = end;
        if (row.end - first.end > kTogether) {
          end = widest;
          break;
        }
        if (std::exchange(seen_[row.*whose], calls_seen_) == calls_seen_) {
          end = widest;
          break;
        }
      }
      use(std::span(rows_).subspan(begin, end - begin));
    }
  }

  void vote(std::span<Row> call) {
    std::ranges::sort(call, {}, &Row::stream);
    // Two groups may end together now and then, so that neighbours are not always of one; of many all pairs
    // are too many to count, and of eight neighbours one is of the same group where eight groups alternate.
    constexpr size_t kFew = 64, kNext = 9;
    for (size_t i = 0; i < call.size(); ++i) {
      const size_t end = call.size() <= kFew ? call.size() : std::min(call.size(), i + kNext);
      for (size_t k = i + 1; k < end; ++k)
        votes_[{call[i].stream, call[k].stream}].add(call[k].end - call[i].end);
    }
  }

  u32 root(u32 stream) const {
    while (group_[stream] != stream) stream = group_[stream];
    return stream;
  }
  // Those that vary least against each other first; groups of earlier rounds stay apart.
  void join_voted(size_t round) {
    std::vector<std::pair<Ns, std::pair<u32, u32>>> pairs;
    for (const auto& [pair, votes] : votes_)
      if (kWhole * votes.count[round] >= kPart * std::min(calls_of_[pair.first], calls_of_[pair.second]))
        pairs.emplace_back(votes.varied[round] / votes.count[round], pair);
    std::ranges::sort(pairs);
    for (u32 stream = 0; stream < group_.size(); ++stream)
      if (root(stream) != stream) is_group_[root(stream)] = true;
    for (const auto& [varied, pair] : pairs) {
      const u32 a = root(pair.first), b = root(pair.second);
      if (a == b || (is_group_[a] && is_group_[b])) continue;
      group_[std::max(a, b)] = std::min(a, b);
      is_group_[std::min(a, b)] = is_group_[a] || is_group_[b];
    }
  }

  void add(std::span<Row> call) {
    const auto number = static_cast<u32>(job_.calls.size());
    job_.calls.push_back(
        {.first_member = static_cast<u32>(job_.members.size()), .members = static_cast<u32>(call.size())});
    std::ranges::sort(call, {}, &Row::rank);
    for (const Row& row : call) {
      job_.members.push_back({row.rank, row.row});
      job_.ranks[row.rank].call[row.row] = number;
    }
  }

  JobProgram& job_;
  std::vector<Row> rows_;
  std::vector<i64> calls_of_;   // per stream
  std::vector<u32> group_;      // per stream: another one of its group, or itself
  std::vector<bool> is_group_;  // per root: of several streams, since an earlier round
  std::vector<size_t> seen_;    // per stream or rank: the last call that it was seen in
  size_t calls_seen_ = 0;
  std::map<std::pair<u32, u32>, Votes> votes_;
};

}  // namespace

bool is_unnamed(const RankProgram& rank, const SkeletonRow& row) {
  return row.peer == kNoPeer && is_unnamed(rank.skeleton.strings[row.group]);
}

void match_unnamed_calls(JobProgram& job) { Matcher(job).match(); }

}  // namespace spotter::analyze
