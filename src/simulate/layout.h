// Layout: which ranks work together, and where. Ranks are numbered as Megatron does: tensor-parallel ones are
// neighbours, then data-parallel ones; pipeline stages are farthest apart.
#pragma once
#include <string>
#include <vector>

#include "simulate/spec.h"

namespace spotter::simulate {

class Layout {
 public:
  explicit Layout(const Spec& spec)
      : ranks_(spec.ranks),
        tensor_(spec.tensor),
        data_(spec.data()),
        pipeline_(spec.pipeline),
        expert_(spec.expert),
        per_node_(spec.gpus_per_node) {}

  i64 ranks() const { return ranks_; }
  i64 stage(i64 rank) const { return rank / (tensor_ * data_); }
  // The first so many of GroupKind; where there are no experts, they have no groups.
  size_t kinds() const { return expert_ > 1 ? kGroupKinds : static_cast<size_t>(GroupKind::expert); }
  i64 size(GroupKind kind) const;
  i64 groups(GroupKind kind) const { return ranks_ / size(kind); }
  i64 group(GroupKind kind, i64 rank) const;                  // number of the rank's group
  std::vector<i64> members(GroupKind kind, i64 group) const;  // in order
  // The first stage follows the last one, as it does where each has several parts of the model.
  i64 next_stage(i64 rank) const { return (rank + tensor_ * data_) % ranks_; }
  i64 previous_stage(i64 rank) const { return (rank + ranks_ - tensor_ * data_) % ranks_; }
  i64 node(i64 rank) const { return rank / per_node_; }
  i64 device(i64 rank) const { return rank % per_node_; }
  std::string host(i64 rank) const { return fmt::format("node{:03}", node(rank)); }
  // Whether the group is the one that every job has. Expert groups are always made anew, also where all ranks
  // are in one, as data-parallel ones then are, too.
  bool is_whole_job(GroupKind kind) const { return size(kind) == ranks_ && kind < GroupKind::expert; }
  // As PyTorch names process groups: by number, the whole job first.
  std::string group_name(GroupKind kind, i64 group) const;
  std::string group_description(GroupKind kind) const;

 private:
  i64 ranks_, tensor_, data_, pipeline_, expert_, per_node_;
};

}  // namespace spotter::simulate
