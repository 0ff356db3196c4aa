#include "collect/gpu/owner.h"

namespace spotter::collect {
namespace {

// The value that all have; empty where they differ.
template <class T>
T common(std::span<const Who> processes, T Who::* member) {
  T value{};
  for (const Who& who : processes) {
    if (who.*member == T{} || who.*member == value) continue;
    if (value != T{}) return {};
    value = who.*member;
  }
  return value;
}

}  // namespace

Who owner_of(std::span<const Who> processes) {
  Who owner;
  owner.job = common(processes, &Who::job);
  owner.rank = common(processes, &Who::rank);
  owner.user = common(processes, &Who::user);
  owner.container = common(processes, &Who::container);
  owner.container_name = common(processes, &Who::container_name);
  owner.pod = common(processes, &Who::pod);
  owner.pod_namespace = common(processes, &Who::pod_namespace);
  return owner;
}

void set_owner(std::span<Value> row, size_t first, const Who& who) {
  row[first] = or_null(who.job);
  row[first + 1] = or_null(who.rank);
  row[first + 2] = or_null(who.user);
  row[first + 3] = or_null(who.container);
  row[first + 4] = or_null(who.pod);
  row[first + 5] = or_null(who.pod_namespace);
}

}  // namespace spotter::collect
