#include "analyze/replay/exchanges.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyze/communication/collective_names.h"
#include "analyze/replay/unnamed_calls.h"
#include "base/stable_sort.h"

namespace spotter::analyze {
namespace {

constexpr Ns kTogether = 10'000;
constexpr size_t kNear = 64;  // rows that end next to each other and are compared
constexpr i64 kFewest = 2;
constexpr i64 kPart = 8;  // of the ends of a stream at least one in so many

struct Row {
  Ns end;
  i64 bytes;
  Member member;
  u32 stream;  // of all ranks
  Direction direction;
  bool is_first = false;  // of its rank's in its step, and no send
  bool is_matched = false;
};

bool fit(const Row& a, const Row& b) {
  const bool is_one_way = a.direction != Direction::both && b.direction != Direction::both;
  return a.member.rank != b.member.rank && a.bytes == b.bytes && (!is_one_way || a.direction != b.direction);
}

class Matcher {
 public:
  explicit Matcher(JobProgram& job) : job_(job) {
    std::map<std::pair<u32, u32>, u32> streams;
    for (u32 r = 0; r < job.ranks.size(); ++r) {
      const RankProgram& rank = job.ranks[r];
      bool is_first = false;
      for (u32 i = 0; i < rank.rows().size(); ++i) {
        const SkeletonRow& row = rank.rows()[i];
        is_first |= row.op == SkeletonOp::step;
        if (row.op != SkeletonOp::collective || !is_unnamed(rank, row)) continue;
        const Direction direction = direction_of(rank.skeleton.strings[row.name]);
        if (direction == Direction::none) continue;
        const u32 stream =
            streams.try_emplace({r, row.stream}, static_cast<u32>(streams.size())).first->second;
        rows_.push_back({job.end({r, i}),
                         row.count,
                         {r, i},
                         stream,
                         direction,
                         std::exchange(is_first, false) && direction != Direction::send});
      }
    }
    rows_of_.resize(streams.size());
    most_.resize(streams.size());
    firsts_of_.resize(streams.size());
    for (const Row& row : rows_) ++rows_of_[row.stream];
    std::ranges::sort(rows_, {}, [](const Row& r) { return std::tuple(r.end, r.member.rank, r.member.row); });
  }

  void match() && {
    vote();
    struct Pair {
      Ns apart;
      Row *row, *other;
    };
    std::vector<Pair> pairs;
    for (size_t i = 0; i < rows_.size(); ++i)
      for_each_near(i, [&](Row& other) {
        if (belong_together(rows_[i].stream, other.stream))
          pairs.push_back({other.end - rows_[i].end, &rows_[i], &other});
      });
    stable_sort(pairs, [](const Pair& a, const Pair& b) { return a.apart < b.apart; });
    for (const Pair& pair : pairs)
      if (!pair.row->is_matched && !pair.other->is_matched) add(*pair.row, pair.other);
    for (size_t i = 0; i < rows_.size(); ++i)
      if (!rows_[i].is_matched && rows_[i].direction == Direction::send) add(rows_[i], receive_of(i));
    for (Row& row : rows_)
      if (!row.is_matched) add(row, nullptr);
  }

 private:
  void vote() {
    for (size_t i = 0; i < rows_.size(); ++i)
      for_each_near(i, [&](const Row& other) {
        const i64 votes = ++votes_[std::minmax(rows_[i].stream, other.stream)];
        for (const u32 stream : {rows_[i].stream, other.stream})
          most_[stream] = std::max(most_[stream], votes);
      });
    // Whom a rank gets its first data of a step from is who ends nearest.
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].is_first) continue;
      const Row* nearest = nullptr;
      for (size_t k = i;
           k-- > 0 && i - k < kNear && rows_[i].end - rows_[k].end <= kTogether && nearest == nullptr;)
        if (fit(rows_[i], rows_[k])) nearest = &rows_[k];
      Ns before = nearest == nullptr ? kTogether + 1 : rows_[i].end - nearest->end;
      for_each_near(i, [&](const Row& other) {
        if (other.end - rows_[i].end >= before) return;
        before = other.end - rows_[i].end;
        nearest = &other;
      });
      ++firsts_of_[rows_[i].stream];
      if (nearest != nullptr) ++firsts_[std::minmax(rows_[i].stream, nearest->stream)];
    }
  }

  // Rows behind this one that end with it and could be its other end.
  template <class F>
  void for_each_near(size_t i, F&& use) {
    for (size_t k = i + 1; k < std::min(rows_.size(), i + kNear) && rows_[k].end - rows_[i].end <= kTogether;
         ++k)
      if (fit(rows_[i], rows_[k])) use(rows_[k]);
  }

  // A send that nobody waits for ends by itself, before its receive: the next one that is left over.
  Row* receive_of(size_t send) {
    for (size_t k = send + 1; k < std::min(rows_.size(), send + kNear); ++k) {
      Row& row = rows_[k];
      if (!row.is_matched && fit(rows_[send], row) && belong_together(rows_[send].stream, row.stream))
        return &row;
    }
    return nullptr;
  }

  // Streams of two that do not talk end together by chance: less often than those of two that do.
  bool belong_together(u32 a, u32 b) const {
    const auto found = votes_.find(std::minmax(a, b));
    if (found == votes_.end()) return false;
    if (const auto first = firsts_.find(found->first);
        first != firsts_.end() && 2 * first->second > std::max(firsts_of_[a], firsts_of_[b]))
      return true;
    const i64 votes = found->second;
    return votes >= kFewest && kPart * votes >= std::min(rows_of_[a], rows_of_[b]) &&
           2 * votes >= std::max(most_[a], most_[b]);
  }

  void add(Row& row, Row* other) {
    const auto number = static_cast<u32>(job_.calls.size());
    JobCall call{.first_member = static_cast<u32>(job_.members.size()),
                 .members = other == nullptr ? 1u : 2u};
    const auto join = [&](Row& member) {
      member.is_matched = true;
      job_.members.push_back(member.member);
      job_.ranks[member.member.rank].call[member.member.row] = number;
    };
    if (other == nullptr) {
      join(row);
    } else {
      call.is_send = row.direction != Direction::both && other->direction != Direction::both;
      const bool is_sender_first = other->direction != Direction::send;
      join(is_sender_first ? row : *other);
      join(is_sender_first ? *other : row);
    }
    job_.calls.push_back(call);
  }

  JobProgram& job_;
  std::vector<Row> rows_;            // by end
  std::vector<i64> firsts_of_;       // per stream
  std::vector<i64> rows_of_, most_;  // per stream: its rows, and the most votes that it has with another
  std::map<std::pair<u32, u32>, i64> votes_, firsts_;
};

}  // namespace

Direction direction_of(std::string_view name) {
  if (!is_point_to_point(name)) return Direction::none;
  if (name.find("SendRecv") != name.npos) return Direction::both;
  return name.find("send") != name.npos ? Direction::send : Direction::receive;
}

void match_exchanges(JobProgram& job) { Matcher(job).match(); }

}  // namespace spotter::analyze
