#include "simulate/layout.h"

namespace spotter::simulate {

i64 Layout::size(GroupKind kind) const {
  const i64 sizes[] = {data_, tensor_, pipeline_, expert_, data_ / expert_};
  return sizes[static_cast<size_t>(kind)];
}

i64 Layout::group(GroupKind kind, i64 rank) const {
  const i64 data_group = stage(rank) * tensor_ + rank % tensor_, in_data_group = rank / tensor_ % data_;
  switch (kind) {
    case GroupKind::data:
      return data_group;
    case GroupKind::expert:
      return data_group * (data_ / expert_) + in_data_group / expert_;
    case GroupKind::expert_data:
      return data_group * expert_ + in_data_group % expert_;
    case GroupKind::tensor:
      return rank / tensor_;
    case GroupKind::pipeline:
      return rank % (tensor_ * data_);
  }
  return 0;
}

std::vector<i64> Layout::members(GroupKind kind, i64 group) const {
  i64 first = group, stride = tensor_ * data_;
  const auto first_of_data = [&](i64 number) {
    return number / tensor_ * (tensor_ * data_) + number % tensor_;
  };
  if (kind == GroupKind::tensor) {
    first = group * tensor_;
    stride = 1;
  } else if (kind == GroupKind::data) {
    first = first_of_data(group);
    stride = tensor_;
  } else if (kind == GroupKind::expert) {
    const i64 of_data = data_ / expert_;
    first = first_of_data(group / of_data) + group % of_data * expert_ * tensor_;
    stride = tensor_;
  } else if (kind == GroupKind::expert_data) {
    first = first_of_data(group / expert_) + group % expert_ * tensor_;
    stride = expert_ * tensor_;
  }
  std::vector<i64> members;
  for (i64 i = 0; i < size(kind); ++i) members.push_back(first + i * stride);
  return members;
}

std::string Layout::group_name(GroupKind kind, i64 group) const {
  if (is_whole_job(kind)) return "0";
  i64 number = 1 + group;
  for (size_t k = 0; k < static_cast<size_t>(kind); ++k) number += groups(static_cast<GroupKind>(k));
  return std::to_string(number);
}

std::string Layout::group_description(GroupKind kind) const {
  static constexpr const char* kMeshNames[] = {"mesh_dp", "mesh_tp", "mesh_pp", "mesh_ep", "mesh_ep_dp"};
  return is_whole_job(kind) ? "default_pg" : kMeshNames[static_cast<size_t>(kind)];
}

}  // namespace spotter::simulate
