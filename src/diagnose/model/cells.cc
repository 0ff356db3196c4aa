#include "diagnose/model/cells.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/lower_median.h"

namespace spotter::diagnose {
namespace {

using analyze::JobProgram;
using analyze::RankProgram;
using analyze::SkeletonOp;

// One kind of work of a rank in a step.
struct Piece {
  u32 kind, step;
  i64 count;
  double mean;  // ns
  double time() const { return static_cast<double>(count) * mean; }
};

// Of two ranks the faster one is as it should be, if any is.
double reference_of(std::vector<double>& of_ranks) {
  return of_ranks.size() == 2 ? std::min(of_ranks[0], of_ranks[1]) : lower_median(of_ranks);
}

// By kind of work: what the ranks of other stages tell of it.
using References = std::unordered_map<i64, double>;

class StageCells {
 public:
  StageCells(const JobProgram& job, const std::vector<u32>& ranks, const References& of_job)
      : job_(job), ranks_(ranks) {
    for (const u32 rank : ranks) pieces_.push_back(read(job.ranks[rank]));
    set_references();
    compare_with(of_job);
    leave_out_copies();
    set_devices();
  }

  void fill(std::vector<Cell>& cells, const std::vector<u32>& first) const {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const std::vector<Piece>& pieces = pieces_[r];
      for (size_t begin = 0, end = 0; begin < pieces.size(); begin = end) {
        while (end < pieces.size() && pieces[end].step == pieces[begin].step) ++end;
        cells[first[ranks_[r]] + pieces[begin].step] =
            cell_of(r, {pieces.begin() + begin, pieces.begin() + end});
      }
    }
  }

 private:
  // Other stages tell more than the stage's own past, which is all that its other work has: that is left out
  // where what others have too is enough of it. So are kernels of one name and grid that do other work here
  // than there (another inner dimension): they are out of line with the rest.
  void compare_with(const References& of_job) {
    constexpr double kEnough = 0.25, kOutOfLine = 0.25;
    if (of_job.empty()) return;
    std::vector<double> time(kinds_.size()), ratio(kinds_.size());
    for (const std::vector<Piece>& pieces : pieces_)
      for (const Piece& p : pieces) time[p.kind] += p.time();
    std::vector<u32> shared;
    std::vector<double> reference = reference_;
    double of_shared = 0;
    for (const auto& [kind, index] : kinds_)
      if (const auto known = of_job.find(kind); known != of_job.end() && known->second > 0) {
        ratio[index] = reference_[index] / known->second;
        reference[index] = known->second;
        shared.push_back(index);
        of_shared += time[index];
      }
    std::ranges::sort(shared, {}, [&](u32 kind) { return ratio[kind]; });
    double usual = 0, below = 0;
    for (const u32 kind : shared)
      if (2 * std::exchange(below, below + time[kind]) <= of_shared) usual = ratio[kind];
    std::vector<u8> is_left_out(kinds_.size(), 1);
    double left = 0;
    for (const u32 kind : shared) {
      if (std::abs(ratio[kind] - usual) > kOutOfLine * usual) continue;
      is_left_out[kind] = 0;
      left += time[kind];
    }
    if (left <= kEnough * std::accumulate(time.begin(), time.end(), 0.0)) return;
    reference_ = std::move(reference);
    is_left_out_ = std::move(is_left_out);
  }

  // Copies go over a link, whatever the device's clock; a rank that does nothing else is compared by them.
  void leave_out_copies() {
    is_left_out_.resize(kinds_.size());
    for (size_t kind = 0; kind < kinds_.size(); ++kind)
      if (!is_copy_[kind]) {
        for (size_t k = 0; k < kinds_.size(); ++k) is_left_out_[k] |= is_copy_[k];
        return;
      }
  }

  // Other devices run other kernels for the same work than most of the stage.
  void set_devices() {
    for (const u32 rank : ranks_)
      is_other_device_.push_back(2 * std::ranges::count(ranks_, job_.ranks[rank].device_name(),
                                                        [&](u32 r) { return job_.ranks[r].device_name(); }) <
                                 std::ssize(ranks_));
  }

  std::vector<Piece> read(const RankProgram& rank) {
    std::vector<Piece> pieces;
    i64 step = -1;
    for (const analyze::SkeletonRow& row : rank.rows()) {
      if (row.op == SkeletonOp::step) ++step;
      if (row.op != SkeletonOp::work || step < 0 || row.count == 0) continue;
      const auto [kind, is_new] = kinds_.try_emplace(row.number, static_cast<u32>(kinds_.size()));
      if (is_new) is_copy_.push_back(row.cause == analyze::Cause::copy);
      pieces.push_back({kind->second, static_cast<u32>(step), row.count,
                        static_cast<double>(row.device) / static_cast<double>(row.count)});
    }
    return pieces;
  }

  void set_references() {
    std::vector<std::vector<double>> means(kinds_.size()), own(kinds_.size());
    for (size_t r = 0; r < ranks_.size(); ++r) {
      for (const Piece& p : pieces_[r]) {
        own[p.kind].push_back(p.mean);
        counts_[job_.ranks[ranks_[r]].job_steps[p.step]][p.kind].push_back(static_cast<double>(p.count));
      }
      for (size_t kind = 0; kind < own.size(); ++kind) {
        if (!own[kind].empty()) means[kind].push_back(lower_median(own[kind]));
        own[kind].clear();
      }
    }
    for (std::vector<double>& of_ranks : means)
      reference_.push_back(of_ranks.empty() ? 0 : reference_of(of_ranks));
    for (auto& [step, of_step] : counts_) {
      // A rank that does none of a kind in a step has none in its count, too.
      size_t ranks = 0;
      for (const u32 rank : ranks_) ranks += job_.ranks[rank].step_at(step) ? 1 : 0;
      for (auto& [kind, counts] : of_step) {
        counts.resize(std::max(ranks, counts.size()));
        counts = {reference_of(counts)};
      }
    }
  }

  bool is_left_out(const Piece& p) const { return is_left_out_[p.kind] != 0; }

  // What the stage does in a step.
  struct Usual {
    double pieces = 0, time = 0;
    double fewer_pieces = 0, fewer = 0;  // of that, what a rank does not
  };
  Usual usual_of(u32 job_step, std::span<const Piece> pieces) const {
    std::unordered_map<u32, double> own;
    for (const Piece& p : pieces) own[p.kind] += static_cast<double>(p.count);
    Usual usual;
    for (const auto& [kind, counts] : counts_.at(job_step)) {
      if (is_left_out_[kind]) continue;
      const auto found = own.find(kind);
      const double less = std::max(0.0, counts[0] - (found == own.end() ? 0 : found->second));
      usual.pieces += counts[0];
      usual.time += counts[0] * reference_[kind];
      usual.fewer_pieces += less;
      usual.fewer += less * reference_[kind];
    }
    return usual;
  }

  // As many pieces as peers do, of other kinds: another device does the same with other kernels, and so does
  // another version of a library, where the kinds that all have are as much longer as these are. Else it is
  // other work, and this says false.
  bool compare_together(const Usual& usual, double sum, double expected, bool is_other_device,
                        Cell& cell) const {
    constexpr double kAsMany = 0.05, kAlike = 0.1, kEnough = 0.1;
    if (usual.fewer <= 0 || cell.more_pieces <= kAsMany * usual.pieces) return false;
    if (std::abs(cell.more_pieces - usual.fewer_pieces) > kAsMany * usual.pieces) return false;
    const double shared = expected - cell.more, of_others = cell.more / usual.fewer;
    const double of_shared = shared > 0 ? (sum - cell.more) / shared : 0;
    const bool are_alike =
        shared > kEnough * expected && std::abs(of_others - of_shared) <= kAlike * of_shared;
    if (!is_other_device && !are_alike) return false;
    cell.factor = sum / usual.time;
    cell.error = is_other_device ? 0 : std::abs(of_others - of_shared);
    cell.more = cell.more_pieces = 0;
    return true;
  }

  Cell cell_of(size_t of_stage, std::span<const Piece> pieces) const {
    Cell cell;
    const u32 job_step = job_.ranks[ranks_[of_stage]].job_steps[pieces[0].step];
    const std::map<u32, std::vector<double>>& counts = counts_.at(job_step);
    double sum = 0, expected = 0, device = 0;
    for (const Piece& p : pieces) {
      const auto count = static_cast<double>(p.count);
      device += p.time();
      if (is_left_out(p)) continue;
      sum += p.time();
      expected += count * reference_[p.kind];
      const double usual = counts.at(p.kind)[0], beyond = std::max(0.0, count - usual);
      // More pieces that are smaller are no more work.
      if (p.time() < (usual + beyond / 2) * reference_[p.kind]) continue;
      cell.more_pieces += beyond;
      cell.more += beyond * reference_[p.kind];
    }
    if (expected <= 0) return cell;
    cell.is_known = true;
    cell.device = std::llround(device);
    cell.factor = sum / expected;
    double squares = 0, n = 0;
    for (const Piece& p : pieces) {
      if (is_left_out(p)) continue;
      ++n;
      const double part = static_cast<double>(p.count) * reference_[p.kind] / expected;
      const double off = reference_[p.kind] > 0 ? p.mean / reference_[p.kind] - cell.factor : 0;
      squares += part * part * off * off;
    }
    cell.error = n > 1 ? std::sqrt(squares * n / (n - 1)) : 0;
    const Usual usual = usual_of(job_step, pieces);
    if (compare_together(usual, sum, expected, is_other_device_[of_stage] != 0, cell)) return cell;
    // Ranks whose work has other shapes have kinds that their peers have not, instead of others.
    cell.more = std::max(0.0, cell.more - usual.fewer);
    cell.more_pieces = std::max(0.0, cell.more_pieces - usual.fewer_pieces);
    return cell;
  }

  const JobProgram& job_;
  const std::vector<u32>& ranks_;
  std::unordered_map<i64, u32> kinds_;
  std::vector<std::vector<Piece>> pieces_;  // per rank of the stage, by step
  std::vector<double> reference_;           // per kind
  std::vector<u8> is_copy_, is_left_out_;   // per kind
  std::vector<u8> is_other_device_;         // per rank of the stage
  std::unordered_map<u32, std::map<u32, std::vector<double>>>
      counts_;  // by step of the job and kind: of the ranks, then the usual one
};

// A stage of one rank has no peers: its reference is the median of all ranks that have the same work, of
// three at least. Empty where each stage has several.
References references_of(const JobProgram& job, const Stages& stages) {
  constexpr size_t kLeastRanks = 3;
  References references;
  if (std::ranges::none_of(stages.ranks, [](const auto& ranks) { return ranks.size() == 1; }))
    return references;
  std::unordered_map<i64, std::vector<double>> of_ranks;
  for (const RankProgram& rank : job.ranks) {
    std::unordered_map<i64, std::vector<double>> means;
    bool is_in_step = false;
    for (const analyze::SkeletonRow& row : rank.rows()) {
      is_in_step |= row.op == SkeletonOp::step;
      if (row.op == SkeletonOp::work && is_in_step && row.count > 0)
        means[row.number].push_back(static_cast<double>(row.device) / static_cast<double>(row.count));
    }
    for (auto& [kind, values] : means) of_ranks[kind].push_back(lower_median(values));
  }
  for (auto& [kind, values] : of_ranks)
    if (values.size() >= kLeastRanks) references.emplace(kind, lower_median(values));
  return references;
}

}  // namespace

Cells::Cells(const JobProgram& job, const Stages& stages) : job_(job) {
  first_.push_back(0);
  for (const RankProgram& rank : job.ranks) first_.push_back(first_.back() + rank.steps());
  cells_.resize(first_.back());
  const References of_job = references_of(job, stages);
  for (const std::vector<u32>& ranks : stages.ranks)
    StageCells(job, ranks, ranks.size() == 1 ? of_job : References()).fill(cells_, first_);
}

const Cell* Cells::find(u32 rank, u32 job_step) const {
  const std::optional<u32> step = job_.ranks[rank].step_at(job_step);
  return step && at(rank, *step).is_known ? &at(rank, *step) : nullptr;
}

}  // namespace spotter::diagnose
