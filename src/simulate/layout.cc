#include "simulate/layout.h"

namespace spotter::simulate {

i64 Layout::size(GroupKind kind) const {
  const i64 sizes[] = {data_, tensor_, pipeline_};
  return sizes[static_cast<size_t>(kind)];
}

i64 Layout::group(GroupKind kind, i64 rank) const {
  switch (kind) {
    case GroupKind::data:
      return stage(rank) * tensor_ + rank % tensor_;
    case GroupKind::tensor:
      return rank / tensor_;
    case GroupKind::pipeline:
      return rank % (tensor_ * data_);
  }
  return 0;
}

std::vector<i64> Layout::members(GroupKind kind, i64 group) const {
  i64 first = group, stride = tensor_ * data_;
  if (kind == GroupKind::tensor) {
    first = group * tensor_;
    stride = 1;
  } else if (kind == GroupKind::data) {
    first = group / tensor_ * (tensor_ * data_) + group % tensor_;
    stride = tensor_;
  }
  std::vector<i64> members;
  for (i64 i = 0; i < size(kind); ++i) members.push_back(first + i * stride);
  return members;
}

std::string Layout::group_name(GroupKind kind, i64 group) const {
  if (size(kind) == ranks_) return "0";
  i64 number = 1 + group;
  for (size_t k = 0; k < static_cast<size_t>(kind); ++k) number += groups(static_cast<GroupKind>(k));
  return std::to_string(number);
}

std::string Layout::group_description(GroupKind kind) const {
  static constexpr const char* kMeshNames[] = {"mesh_dp", "mesh_tp", "mesh_pp"};
  return size(kind) == ranks_ ? "default_pg" : kMeshNames[static_cast<size_t>(kind)];
}

}  // namespace spotter::simulate
