// What the training script could ask for and does not: the recommendations of the TensorBoard profiler plugin
// (torch-tb-profiler 0.4.3), with conditions that hold today.
#include <algorithm>

#include "diagnose/rules/list.h"
#include "render/render.h"
#include "table/ops.h"
#include "trace/facts/tensor_cores.h"

namespace spotter::diagnose {
namespace {

std::string bytes(i64 number) { return render::human(number, Unit::bytes, Role::value); }

std::optional<Finding> find_memory_limit(const JobFacts& f, double threshold) {
  const RankFacts* worst = nullptr;
  const DeviceFacts* device = nullptr;
  for (const RankFacts& r : f.ranks) {
    for (const DeviceFacts& d : r.devices) {
      if (device && ratio(d.peak_allocated, d.memory) <= ratio(device->peak_allocated, device->memory))
        continue;
      worst = &r;
      device = &d;
    }
  }
  const double share = device ? ratio(device->peak_allocated, device->memory) : 0;
  if (share < threshold) return {};
  return Finding{.what = fmt::format("At its peak {} has {} of the memory of device {} in use ({} of {}).",
                                     rank_name(*worst), percent(share), device->id,
                                     bytes(device->peak_allocated), bytes(device->memory)),
                 .remedy =
                     "See who holds it with --table memory_at_peak; activation checkpointing, mixed "
                     "precision, sharding (FSDP) or smaller batches need less.",
                 .rank = worst->rank};
}

bool has_operator(const JobFacts& f, std::string_view name) {
  const size_t column = f.operators.column("name");
  for (size_t row = 0; row < f.operators.rows(); ++row)
    if (f.operators.text(row, column) == name) return true;
  return false;
}

constexpr i64 kVolta = 7;  // the first compute capability with tensor cores; AMD's with MFMA are 9 and more

// Of the device's time: kernels whose names do not tell, as those of attention in float32.
constexpr double kPerhaps = 0.1;

bool leaves_tensor_cores_unused(const DeviceFacts& d) {
  return d.compute_major >= kVolta && d.on_tensor_cores == 0.0 &&
         d.perhaps_on_tensor_cores.value_or(1) < kPerhaps;
}

std::optional<Finding> find_no_tensor_cores(const JobFacts& f, double threshold) {
  bool any = false;
  for (const RankFacts& r : f.ranks) {
    any |= !r.devices.empty();
    if (!std::ranges::all_of(r.devices, leaves_tensor_cores_unused)) return {};
  }
  if (!any) return {};
  Ns could = 0;
  for (size_t row = 0; row < f.operators.rows(); ++row)
    if (trace::is_tensor_core_operator(f.operators.text(row, f.operators.column("name"))))
      could += table::optional_integer(f.operators, row, "device_self_ns").value_or(0);
  const double share = ratio(could, f.operator_device_time);
  if (share < threshold) return {};
  return Finding{
      .what = fmt::format(
          "No kernel is known to run on tensor cores, but {} of the operators' device time ({}) is of products of "
          "matrices and convolutions, which could.",
          percent(share), render::human_ns(could)),
      .remedy =
          "Compute them in bfloat16 or float16 (torch.autocast), or at least in TF32 "
          "(torch.set_float32_matmul_precision(\"high\")), "
          "whichever the device has."};
}

std::optional<Finding> find_data_parallel(const JobFacts& f, double) {
  const auto has_several = [](const RankFacts& r) { return r.devices.size() > 1; };
  const auto found = std::ranges::find_if(f.ranks, has_several);
  if (found == f.ranks.end() || !has_operator(f, "DataParallel.forward")) return {};
  return Finding{
      .what = fmt::format("DataParallel drives {} devices from one process: it copies the model to each in "
                          "every step, and one Python interpreter launches for all.",
                          found->devices.size()),
      .remedy = "Use DistributedDataParallel or FSDP, with a process for each device (torchrun).",
      .rank = found->rank};
}

std::optional<Finding> find_slow_backend(const JobFacts& f, double) {
  const bool are_several = std::ranges::any_of(
      f.ranks, [&](const RankFacts& r) { return f.ranks.size() > 1 || r.world_size.value_or(1) > 1; });
  if (!are_several || !f.has_device_work || sum_over(f, &RankFacts::communication) > 0 ||
      !has_operator(f, "DistributedDataParallel.forward"))
    return {};
  return Finding{.what =
                     "DistributedDataParallel trains on devices, but no device communicates: gradients go "
                     "through the host.",
                 .remedy = "Use the backend nccl (init_process_group(\"nccl\")); gloo is for the CPU."};
}

}  // namespace

const Rule kMemoryLimit = {
    .name = "memory_limit",
    .kind = Rule::Kind::caveat,
    .summary = "At its peak a process has {} of a device's memory or more in use.",
    .threshold = 0.9,
    .evidence = "--table memory_timeline --table memory_at_peak",
    .find = find_memory_limit,
};
const Rule kNoTensorCores = {
    .name = "no_tensor_cores",
    .kind = Rule::Kind::caveat,
    .summary =
        "Devices have tensor cores that no kernel uses, and operators that could use them take {} of the operators' device time or more.",
    .threshold = 0.1,
    .evidence = "--table device_summary --table operator_groups --table kernel_groups",
    .find = find_no_tensor_cores,
};
const Rule kDataParallel = {
    .name = "data_parallel",
    .kind = Rule::Kind::opportunity,
    .summary = "DataParallel drives several devices from one process.",
    .threshold = 0,
    .evidence = "--table operators --table device_summary",
    .find = find_data_parallel,
};
const Rule kSlowBackend = {
    .name = "slow_backend",
    .kind = Rule::Kind::opportunity,
    .summary = "DistributedDataParallel trains on devices of several ranks, and none of them communicates.",
    .threshold = 0,
    .evidence = "--table comm_comp_overlap --table operators",
    .find = find_slow_backend,
};

}  // namespace spotter::diagnose
