// Shares: how the work of a pipeline stage is shared out among its ranks where the fault `imbalance` is. What
// some have more than their equal share others have less, in each step.
#pragma once
#include <vector>

#include "simulate/layout.h"

namespace spotter::simulate {

class Shares {
 public:
  Shares(const Spec& spec, const Layout& layout);

  // Of the stage's work, times the number of its ranks: 1 is an equal share. `step`: from 0.
  double of(size_t fault, i64 rank, i64 step) const;

 private:
  double weight(size_t fault, i64 rank, i64 step) const;

  const Spec& spec_;
  const Layout& layout_;
  std::vector<std::vector<double>>
      means_;  // of weights, by fault: [stage * steps + step]; empty: no such fault
};

}  // namespace spotter::simulate
