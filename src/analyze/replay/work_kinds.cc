#include "analyze/replay/work_kinds.h"

#include <algorithm>
#include <tuple>

#include "analyze/replay/mix.h"
#include "base/fnv.h"
#include "base/saturated.h"

namespace spotter::analyze {
namespace {

constexpr i64 kLeastShare = 5'000;  // kinds with less than this part of the step's device time are left out

}  // namespace

u64 WorkKinds::kind_of(EventId e) {
  const auto [known, is_new] = hash_of_name_.try_emplace(trace_.name[e], 0);
  if (is_new) known->second = fnv1a(trace_.name_of(e));
  u64 hash = known->second;
  if (trace_.category(e) == Category::cpu_op)
    return mix(hash, fnv1a(trace_.text(e, Arg::input_dims).value_or(std::string_view())));
  if (trace_.category(e) != Category::kernel)
    return mix(hash, static_cast<u64>(trace_.integer(e, Arg::bytes).value_or(0)));
  for (const Arg arg : {Arg::grid, Arg::block})
    hash = mix(hash, fnv1a(trace_.text(e, arg).value_or(std::string_view())));
  return hash;
}

void WorkKinds::add(EventId e) {
  const u64 kind = kind_of(e);
  const auto [place, is_new] = place_.try_emplace(kind, kinds_.size());
  const Category category = trace_.category(e);
  const bool is_copy = category == Category::gpu_memcpy || category == Category::gpu_memset;
  if (is_new) kinds_.push_back({kind, trace_.name[e], is_copy ? Cause::copy : Cause::none});
  Kind& of = kinds_[place->second];
  ++of.count;
  of.sum = add_saturated(of.sum, trace_.dur[e]);
}

void WorkKinds::write_step(Skeleton& skeleton) {
  Ns all = 0;
  for (const Kind& kind : kinds_) all = add_saturated(all, kind.sum);
  std::ranges::sort(kinds_, {}, [](const Kind& k) { return std::tuple(-k.sum, k.kind); });
  for (const Kind& kind : kinds_)
    if (kind.sum >= all / kLeastShare)
      skeleton.rows.push_back({.op = SkeletonOp::work,
                               .cause = kind.cause,
                               .name = skeleton.strings.intern(trace_.strings()[kind.name]),
                               .device = kind.sum,
                               .count = kind.count,
                               .number = static_cast<i64>(kind.kind)});
  kinds_.clear();
  place_.clear();
}

}  // namespace spotter::analyze
