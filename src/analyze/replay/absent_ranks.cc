#include "analyze/replay/absent_ranks.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyze/replay/mix.h"
#include "analyze/replay/unnamed_calls.h"
#include "analyze/replay/usual_links.h"
#include "base/fnv.h"
#include "base/lower_median.h"
#include "base/text/listed_ranks.h"

namespace spotter::analyze {
namespace {

class AbsentRanks {
 public:
  explicit AbsentRanks(JobProgram& job) : job_(job) {
    const bool has_devices = std::ranges::any_of(job.ranks, &RankProgram::has_device_work);
    for (const RankProgram& rank : job.ranks)
      if (rank.rank && !(has_devices && lacks_device(rank))) here_.insert(*rank.rank);
  }

  void set() && {
    read_streams();
    std::vector<u32> partial;
    for (u32 c = 0; c < job_.calls.size(); ++c)
      if (lacks_members(job_.calls[c])) partial.push_back(c);
    set_transfers(partial);
    set_arrivals(partial);
  }

 private:
  struct Group {
    u32 members = 0;  // that its words list
    std::set<i64> absent = {};
  };

  // It goes from step to step, and nothing of that is on a device, as if its recording were to leave that
  // out. Who stands still has launched nothing, either, and is there.
  static bool lacks_device(const RankProgram& rank) {
    return !rank.has_device_work() && rank.steps() > 1 &&
           std::ranges::none_of(rank.rows(),
                                [](const SkeletonRow& row) { return row.op == SkeletonOp::collective; });
  }

  const SkeletonRow& first_row(u32 call) const { return job_.row(job_.members_of(job_.calls[call])[0]); }
  std::string_view words_of(u32 call) const {
    const Member& m = job_.members_of(job_.calls[call])[0];
    return job_.ranks[m.rank].skeleton.strings[job_.row(m).group];
  }
  Ns end_of(u32 call) const {
    Ns end = -kMaxTime;
    for (const Member& m : job_.members_of(job_.calls[call])) end = std::max(end, job_.end(m));
    return end;
  }

  // Of which group the calls on a stream are, where those that say it are all of one.
  void read_streams() {
    for (u32 r = 0; r < job_.ranks.size(); ++r)
      for (const SkeletonRow& row : job_.ranks[r].rows()) {
        if (row.op != SkeletonOp::collective || is_unnamed(job_.ranks[r], row)) continue;
        const auto [stream, is_new] = group_of_stream_.try_emplace({r, row.stream}, row.group);
        if (!is_new && stream->second != row.group) stream->second = 0;
      }
  }

  bool lacks_members(const JobCall& call) {
    const Member& first = job_.members_of(call)[0];
    const SkeletonRow& row = job_.row(first);
    if (is_unnamed(job_.ranks[first.rank], row)) {
      const auto stream = group_of_stream_.find({first.rank, row.stream});
      return call.members == 1 && stream != group_of_stream_.end() &&
             !group_of(job_.ranks[first.rank].skeleton.strings[stream->second]).absent.empty();
    }
    if (row.peer != kNoPeer) {
      if (call.members > 1 || here_.contains(row.peer)) return false;
      job_.absent.insert(row.peer);
      return true;
    }
    const Group& group = group_of(job_.ranks[first.rank].skeleton.strings[row.group]);
    job_.absent.insert(group.absent.begin(), group.absent.end());
    // Of a large group not all are listed.
    return !group.absent.empty() || call.members < group.members;
  }

  const Group& group_of(std::string_view words) {
    const auto [known, is_new] = groups_.try_emplace(fnv1a(words));
    Group& group = known->second;
    if (!is_new) return group;
    const ListedRanks listed = listed_ranks(words);
    for (const i64 rank : listed.ranks) {
      ++group.members;
      if (!here_.contains(rank)) group.absent.insert(rank);
    }
    return group;
  }

  using Kind = std::tuple<std::string_view, std::string_view, i64, i64>;  // group, operation, peer, bytes
  Kind kind_of(u32 call) const {
    const Member& m = job_.members_of(job_.calls[call])[0];
    const SkeletonRow& row = job_.row(m);
    return {words_of(call), job_.ranks[m.rank].skeleton.strings[row.name], row.peer, row.count};
  }

  void set_transfers(const std::vector<u32>& partial) {
    if (partial.empty()) return;
    struct Times {
      std::vector<Ns> partial, whole;
    };
    std::map<Kind, Times> kinds;
    for (const u32 c : partial) kinds[kind_of(c)].partial.push_back(job_.calls[c].transfer);
    auto next = partial.begin();
    for (u32 c = 0; c < job_.calls.size(); ++c) {
      if (next != partial.end() && *next == c) {
        ++next;
        continue;
      }
      if (const auto found = kinds.find(kind_of(c)); found != kinds.end())
        found->second.whole.push_back(job_.calls[c].transfer);
    }
    for (const u32 c : partial) {
      Times& times = kinds.at(kind_of(c));
      const Ns usual =
          times.whole.empty() ? transfer_of(c, low_of(times.partial)) : lower_median(times.whole);
      job_.calls[c].transfer = std::min(job_.calls[c].transfer, usual);
    }
  }

  static Ns low_of(std::vector<Ns>& times) {
    const auto low = times.begin() + std::ssize(times) / 10;
    std::ranges::nth_element(times, low);
    return *low;
  }

  // With one rank here each call of a group may have waited.
  Ns transfer_of(u32 call, Ns least) const {
    const Member& m = job_.members_of(job_.calls[call])[0];
    const i64 bytes = job_.row(m).count;
    if (job_.calls[call].members > 1 || bytes < kLargeMessage) return least;
    const auto usual = usual_link(job_.ranks[m.rank]);
    if (!usual) return least;
    const Ns needed = static_cast<Ns>(static_cast<double>(bytes) / usual->network) + kRoundOfHosts;
    return static_cast<double>(needed) < kSlowLink * static_cast<double>(least) ? needed : least;
  }

  void set_arrivals(const std::vector<u32>& partial) {
    if (partial.empty()) return;
    std::vector<u8> is_partial(job_.calls.size());
    for (const u32 c : partial) is_partial[c] = 1;
    std::vector<Ns> end(job_.calls.size());
    std::vector<u32> by_end(job_.calls.size());
    for (u32 c = 0; c < end.size(); ++c) {
      end[c] = end_of(c);
      by_end[c] = c;
    }
    std::ranges::sort(by_end, {}, [&](u32 c) { return std::pair(end[c], c); });
    std::unordered_map<u64, u32> last;  // call of each group, or pair of ranks
    for (const u32 c : by_end) {
      JobCall& call = job_.calls[c];
      const u64 group = mix(fnv1a(words_of(c)), static_cast<u64>(first_row(c).peer));
      const auto [before, is_first] = last.try_emplace(group, c);
      const u32 earlier = std::exchange(before->second, c);
      if (!is_partial[c]) continue;
      Ns last_start = -kMaxTime;
      for (const Member& m : job_.members_of(call)) last_start = std::max(last_start, job_.start(m));
      call.waited = std::max<Ns>(0, end[c] - last_start - call.transfer);
      if (is_first) continue;
      call.before = earlier;
      call.arrival = end[c] - call.transfer - end[earlier];
    }
  }

  JobProgram& job_;
  std::set<i64> here_;
  std::map<std::pair<u32, u32>, StringId> group_of_stream_;  // by rank and stream; 0: of several
  std::unordered_map<u64, Group> groups_;                    // by their words
};

}  // namespace

void set_absent(JobProgram& job) { AbsentRanks(job).set(); }

}  // namespace spotter::analyze
