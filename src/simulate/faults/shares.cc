#include "simulate/faults/shares.h"

#include "simulate/hash.h"

namespace spotter::simulate {

Shares::Shares(const Spec& spec, const Layout& layout)
    : spec_(spec), layout_(layout), means_(spec.faults.size()) {
  const i64 of_stage = spec.ranks / spec.pipeline;
  for (size_t f = 0; f < means_.size(); ++f) {
    if (spec.faults[f].type != FaultType::imbalance) continue;
    std::vector<double>& means = means_[f];
    means.resize(static_cast<size_t>(spec.pipeline * spec.steps));
    for (i64 rank = 0; rank < spec.ranks; ++rank)
      for (i64 step = 0; step < spec.steps; ++step)
        means[static_cast<size_t>(layout.stage(rank) * spec.steps + step)] +=
            weight(f, rank, step) / static_cast<double>(of_stage);
  }
}

double Shares::weight(size_t fault, i64 rank, i64 step) const {
  const Fault& of = spec_.faults[fault];
  if (!of.ranks.has(rank)) return 1;
  return 1 + (of.factor - 1) * unit(mix(step_hash(spec_.seed, rank, step), of.number));
}

double Shares::of(size_t fault, i64 rank, i64 step) const {
  const auto cell = static_cast<size_t>(layout_.stage(rank) * spec_.steps + step);
  return weight(fault, rank, step) / means_[fault][cell];
}

}  // namespace spotter::simulate
