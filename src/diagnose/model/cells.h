// Cells: how much longer the device of a rank works in a step than what it does takes its peers. Like is
// compared with like: kernels of one kind (name, grid and block; copies of one size) among the ranks of a
// stage, those of a stage of one rank with what they take other stages.
#pragma once
#include <vector>

#include "analyze/replay/job_program.h"
#include "diagnose/model/stages.h"

namespace spotter::diagnose {

struct Cell {
  double factor = 1;       // how many times as long as the reference, over all its kinds of work
  double error = 0;        // of the factor, as the kinds' own factors scatter around it
  double more = 0;         // time of pieces beyond the stage's median count of each kind, by reference, ns
  double more_pieces = 0;  // how many those are
  Ns device = 0;           // of its work
  bool is_known = false;   // it did anything

  double excess() const { return factor - 1; }
  // Beyond what differs between devices and what the work's own scatter explains.
  bool is_high() const { return is_known && excess() > kLeast && excess() > kErrors * error; }
  static constexpr double kLeast = 0.01, kErrors = 6;
};

// The job has to live as long.
class Cells {
 public:
  Cells(const analyze::JobProgram& job, const Stages& stages);
  const Cell& at(u32 rank, u32 step) const { return cells_[first_[rank] + step]; }
  // Of a step of the job; null: the rank did nothing in it, or has not recorded it.
  const Cell* find(u32 rank, u32 job_step) const;
  u32 steps(u32 rank) const { return first_[rank + 1] - first_[rank]; }

 private:
  const analyze::JobProgram& job_;
  std::vector<Cell> cells_;
  std::vector<u32> first_;  // per rank
};

}  // namespace spotter::diagnose
