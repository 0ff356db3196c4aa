#include "analyze/replay/unnamed_calls.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "analyze/replay/exchanges.h"
#include "analyze/replay/text_hash.h"

namespace spotter::analyze {
namespace {

constexpr Ns kTogether = 25'000;
constexpr i64 kPart = 4, kWhole = 5;  // of the ends of a stream

struct Row {
  u64 operation;
  u32 group;  // of streams
  Ns end;
  Member member;
  u32 stream;  // of all ranks
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
        rows_.push_back({text_hash_of(name), 0, job.end({r, i}), {r, i}, stream});
      }
    }
    calls_of_.resize(streams.size());
    for (const Row& row : rows_) ++calls_of_[row.stream];
    group_.resize(streams.size());
    std::iota(group_.begin(), group_.end(), 0u);
  }

  void match() && {
    // Streams that end together by chance do so now and then; those of one group do so always.
    for_each_call([&](std::span<Row> call) { vote(call); });
    for (const auto& [pair, votes] : votes_)
      if (kWhole * votes >= kPart * std::min(calls_of_[pair.first], calls_of_[pair.second]))
        join(pair.first, pair.second);
    for (Row& row : rows_) row.group = root(row.stream);
    for_each_call([&](std::span<Row> call) { add(call); });
  }

 private:
  template <class F>
  void for_each_call(F&& use) {
    std::ranges::sort(rows_, {}, [](const Row& r) {
      return std::tuple(r.operation, r.group, r.end, r.member.rank, r.member.row);
    });
    for (size_t begin = 0, end = 0; begin < rows_.size(); begin = end) {
      const Row& first = rows_[begin];
      for (end = begin + 1; end < rows_.size(); ++end) {
        const Row& row = rows_[end];
        if (row.operation != first.operation || row.group != first.group || row.end - first.end > kTogether)
          break;
        const auto is_same = [&](const Row& other) { return other.member.rank == row.member.rank; };
        if (std::any_of(rows_.begin() + static_cast<std::ptrdiff_t>(begin),
                        rows_.begin() + static_cast<std::ptrdiff_t>(end), is_same))
          break;
      }
      use(std::span(rows_).subspan(begin, end - begin));
    }
  }

  void vote(std::span<Row> call) {
    std::ranges::sort(call, {}, &Row::stream);
    // Two groups may end together now and then, so that neighbours are not always of one; of many all pairs
    // are too many to count.
    constexpr size_t kFew = 64;
    for (size_t i = 0; i < call.size(); ++i) {
      const size_t end = call.size() <= kFew ? call.size() : std::min(call.size(), i + 2);
      for (size_t k = i + 1; k < end; ++k) ++votes_[{call[i].stream, call[k].stream}];
    }
  }

  u32 root(u32 stream) const {
    while (group_[stream] != stream) stream = group_[stream];
    return stream;
  }
  void join(u32 a, u32 b) { group_[std::max(root(a), root(b))] = std::min(root(a), root(b)); }

  void add(std::span<Row> call) {
    const auto number = static_cast<u32>(job_.calls.size());
    job_.calls.push_back(
        {.first_member = static_cast<u32>(job_.members.size()), .members = static_cast<u32>(call.size())});
    std::ranges::sort(call, {}, [](const Row& r) { return r.member.rank; });
    for (const Row& row : call) {
      job_.members.push_back(row.member);
      job_.ranks[row.member.rank].call[row.member.row] = number;
    }
  }

  JobProgram& job_;
  std::vector<Row> rows_;
  std::vector<i64> calls_of_;  // per stream
  std::vector<u32> group_;     // per stream: another one of its group, or itself
  std::map<std::pair<u32, u32>, i64> votes_;
};

}  // namespace

bool is_unnamed(const RankProgram& rank, const SkeletonRow& row) {
  return row.peer == kNoPeer && rank.skeleton.strings[row.group].starts_with("stream ");
}

void match_unnamed_calls(JobProgram& job) { Matcher(job).match(); }

}  // namespace spotter::analyze
