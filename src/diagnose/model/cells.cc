#include "diagnose/model/cells.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

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
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Of two ranks the faster one is as it should be, if any is.
double reference_of(std::vector<double>& of_ranks) {
  return of_ranks.size() == 2 ? std::min(of_ranks[0], of_ranks[1]) : median(of_ranks);
}

class StageCells {
 public:
  StageCells(const JobProgram& job, const std::vector<u32>& ranks) : job_(job), ranks_(ranks) {
    for (const u32 rank : ranks) pieces_.push_back(read(job.ranks[rank]));
    set_references();
  }

  void fill(std::vector<Cell>& cells, const std::vector<u32>& first) const {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const std::vector<Piece>& pieces = pieces_[r];
      for (size_t begin = 0, end = 0; begin < pieces.size(); begin = end) {
        while (end < pieces.size() && pieces[end].step == pieces[begin].step) ++end;
        cells[first[ranks_[r]] + pieces[begin].step] =
            cell_of(job_.ranks[ranks_[r]], {pieces.begin() + begin, pieces.begin() + end});
      }
    }
  }

 private:
  std::vector<Piece> read(const RankProgram& rank) {
    std::vector<Piece> pieces;
    i64 step = -1;
    for (const analyze::SkeletonRow& row : rank.rows()) {
      if (row.op == SkeletonOp::step) ++step;
      if (row.op != SkeletonOp::work || step < 0 || row.count == 0) continue;
      const auto [kind, is_new] = kinds_.try_emplace(row.number, static_cast<u32>(kinds_.size()));
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
        counts_[{job_.ranks[ranks_[r]].job_steps[p.step], p.kind}].push_back(static_cast<double>(p.count));
      }
      for (size_t kind = 0; kind < own.size(); ++kind) {
        if (!own[kind].empty()) means[kind].push_back(median(own[kind]));
        own[kind].clear();
      }
    }
    for (std::vector<double>& of_ranks : means)
      reference_.push_back(of_ranks.empty() ? 0 : reference_of(of_ranks));
    for (auto& [where, counts] : counts_) {
      // A rank that does none of a kind in a step has none in its count, too.
      size_t ranks = 0;
      for (const u32 rank : ranks_) ranks += job_.ranks[rank].step_at(where.first) ? 1 : 0;
      counts.resize(std::max(ranks, counts.size()));
      counts = {reference_of(counts)};
    }
  }

  Cell cell_of(const RankProgram& rank, std::span<const Piece> pieces) const {
    Cell cell;
    double sum = 0, expected = 0;
    for (const Piece& p : pieces) {
      const auto count = static_cast<double>(p.count);
      sum += count * p.mean;
      expected += count * reference_[p.kind];
      cell.more +=
          std::max(0.0, count - counts_.at({rank.job_steps[p.step], p.kind})[0]) * reference_[p.kind];
    }
    if (expected <= 0) return cell;
    cell.is_known = true;
    cell.device = std::llround(sum);
    cell.factor = sum / expected;
    double squares = 0;
    for (const Piece& p : pieces) {
      const double part = static_cast<double>(p.count) * reference_[p.kind] / expected;
      const double off = reference_[p.kind] > 0 ? p.mean / reference_[p.kind] - cell.factor : 0;
      squares += part * part * off * off;
    }
    const auto n = static_cast<double>(pieces.size());
    cell.error = n > 1 ? std::sqrt(squares * n / (n - 1)) : 0;
    return cell;
  }

  const JobProgram& job_;
  const std::vector<u32>& ranks_;
  std::unordered_map<i64, u32> kinds_;
  std::vector<std::vector<Piece>> pieces_;  // per rank of the stage, by step
  std::vector<double> reference_;           // per kind
  std::map<std::pair<u32, u32>, std::vector<double>>
      counts_;  // by step of the job and kind: of the ranks, then the usual one
};

}  // namespace

Cells::Cells(const JobProgram& job, const Stages& stages) : job_(job) {
  first_.push_back(0);
  for (const RankProgram& rank : job.ranks) first_.push_back(first_.back() + rank.steps());
  cells_.resize(first_.back());
  for (const std::vector<u32>& ranks : stages.ranks) StageCells(job, ranks).fill(cells_, first_);
}

const Cell* Cells::find(u32 rank, u32 job_step) const {
  const std::optional<u32> step = job_.ranks[rank].step_at(job_step);
  return step && at(rank, *step).is_known ? &at(rank, *step) : nullptr;
}

}  // namespace spotter::diagnose
