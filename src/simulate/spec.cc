#include "simulate/spec.h"

#include <algorithm>
#include <cstdlib>

#include "simulate/inference.h"
#include "simulate/layout.h"

namespace spotter::simulate {
namespace {

constexpr NumberOption kNumbers[] = {
    {"--ranks", &Spec::ranks, 1, 65536, "processes of the job, one device each"},
    {"--steps", &Spec::steps, 1, 100'000, "training steps that are recorded"},
    {"--first-step", &Spec::first_step, 0, 1'000'000'000, "number of the first one"},
    {"--layers", &Spec::layers, 1, 10'000, "transformer layers of the model"},
    {"--hidden", &Spec::hidden, 128, 65536, "width of the model, a multiple of 128"},
    {"--batch", &Spec::batch, 1, 1024, "sequences (of 2,048 tokens) in a micro-batch"},
    {"--micro-batches", &Spec::micro_batches, 0, 100'000,
     "micro-batches in a step; 0: one, or four for each stage of a pipeline"},
    {"--events", &Spec::events, 0, 1'000'000'000,
     "about so many events in a rank's trace, by more micro-batches; 0: as they come"},
    {"--tp", &Spec::tensor, 1, 1024, "ranks of a tensor-parallel group"},
    {"--pp", &Spec::pipeline, 1, 1024, "stages of the pipeline (1F1B)"},
    {"--virtual-stages", &Spec::virtual_stages, 1, 1024,
     "parts of the model that each stage has, which take turns (interleaved 1F1B)", true},
    {"--ep", &Spec::expert, 1, 1024,
     "ranks of an expert-parallel group, with an expert each: tokens are sent there and back (all-to-all)",
     true},
    {"--bucket-mb", &Spec::bucket_mb, 1, 100'000, "size of a bucket of gradients (--sharding ddp)"},
    {"--gpus-per-node", &Spec::gpus_per_node, 1, 1024, "ranks on a host"},
    {"--jitter", &Spec::jitter_percent, 0, 50,
     "percent by which every duration varies; 0: all steps are equal"},
    {"--seed", &Spec::seed, 0, INT64_MAX, "another number is another job"},
    {"--prefill-every", &Spec::prefill_every, 1, 1'000'000,
     "of the iterations of --inference, every so many-th reads a prompt, the others make tokens", true},
};

constexpr SwitchOption kSwitches[] = {
    {"--inference", &Spec::inference,
     "a job that serves a model: steps are iterations of prefill and decode that nothing marks; decode is a CUDA graph",
     true},
    {"--eager", &Spec::eager, "without graphs (--inference)", true},
    {"--annotations", &Spec::annotations, "iterations are annotated as vLLM does (--inference)", true},
    {"--cuda-graphs", &Spec::cuda_graphs,
     "layers are replayed as CUDA graphs; with --inference all but attention is (piecewise)"},
    {"--python-stacks", &Spec::python_stacks, "with python_function events"},
    {"--memory-events", &Spec::memory_events, "with [memory] events of activations"},
    {"--all-memory-events", &Spec::all_memory_events,
     "with [memory] events of all that is made from the first step on, also parameters, gradients, optimizer state and "
     "temporaries"},
    {"--all-shapes", &Spec::all_shapes,
     "with the shapes and values of attention's arguments, too, and in truth.json the flops of a step", true},
    {"--coupled-sends", &Spec::coupled_sends,
     "stages send and receive at once, by one kernel, where both fall together (batch_isend_irecv)", true},
};

constexpr i64 kMostInStep = 10'000'000;
constexpr size_t kMostFaults = 100;

bool has_data_collectives(const Spec& spec) {
  return !spec.inference && spec.sharding != Sharding::none && spec.data() > 1;
}

bool has_group(const Spec& spec, GroupKind kind) {
  if (kind == GroupKind::data) return has_data_collectives(spec);
  if (kind == GroupKind::expert_data)
    return spec.sharding == Sharding::ddp && spec.expert > 1 && spec.data() > spec.expert;
  if (kind == GroupKind::expert) return spec.expert > 1;
  return (kind == GroupKind::tensor ? spec.tensor : spec.pipeline) > 1;
}

Result<void> validate_stages(const Spec& spec) {
  const bool is_interleaved = spec.virtual_stages > 1;
  if (is_interleaved && spec.pipeline < 3)
    return fail(Code::invalid, "--virtual-stages needs a pipeline of three stages at least (--pp)");
  if (is_interleaved && spec.layers % (spec.pipeline * spec.virtual_stages) != 0)
    return fail(Code::invalid, "--layers {} is no multiple of --pp {} times --virtual-stages {}", spec.layers,
                spec.pipeline, spec.virtual_stages);
  if (is_interleaved && spec.micro_batches % spec.pipeline != 0)
    return fail(Code::invalid, "--micro-batches {} is no multiple of --pp {}, as --virtual-stages wants it",
                spec.micro_batches, spec.pipeline);
  if (spec.coupled_sends && (spec.pipeline == 1 || is_interleaved))
    return fail(Code::invalid, "--coupled-sends needs a pipeline (--pp) without --virtual-stages");
  return {};
}

Result<void> validate_experts(const Spec& spec) {
  if (spec.expert == 1) return {};
  if (spec.data() % spec.expert != 0)
    return fail(Code::invalid,
                "--ep {} does not divide the {} data-parallel ranks; see --ranks, --tp and --pp", spec.expert,
                spec.data());
  if (spec.sharding == Sharding::fsdp)
    return fail(Code::invalid, "--ep cannot be had with --sharding fsdp, which would gather all experts");
  return {};
}

bool is_in_some_step(const Fault& fault, const Spec& spec) {
  const i64 last = std::min(fault.steps.last, spec.last_step());
  return last / fault.every * fault.every >= std::max(fault.steps.first, spec.first_step);
}

// Whether anything goes from one to the other.
Result<void> validate_pair(const Spec& spec, const RankPair& pair) {
  const Layout layout(spec);
  if (const i64 last = std::max(pair.one, pair.other); last >= spec.ranks)
    return fail(Code::invalid, "the fault slow-link is at rank {}, but the ranks are 0 to {}", last,
                spec.ranks - 1);
  for (size_t k = 0; k < kGroupKinds; ++k) {
    const auto kind = static_cast<GroupKind>(k);
    if (!has_group(spec, kind) || layout.group(kind, pair.one) != layout.group(kind, pair.other)) continue;
    const i64 stages = layout.stage(pair.one) - layout.stage(pair.other);
    const bool wraps = spec.virtual_stages > 1 && std::abs(stages) == spec.pipeline - 1;
    if (kind != GroupKind::pipeline || std::abs(stages) == 1 || wraps) return {};
  }
  return fail(Code::invalid,
              "the fault slow-link is between the ranks {} and {}, which send each other nothing", pair.one,
              pair.other);
}

Result<void> validate(const Spec& spec, const Fault& fault) {
  const char* name = kind_of(fault.type).name;
  if (const i64 rank = fault.ranks.is_open() ? fault.ranks.first : fault.ranks.last; rank >= spec.ranks)
    return fail(Code::invalid, "the fault {} is at rank {}, but the ranks are 0 to {}", name, rank,
                spec.ranks - 1);
  if (fault.steps.first > spec.last_step() || fault.steps.last < spec.first_step)
    return fail(Code::invalid, "the fault {} is at step {}, but the steps are {} to {}", name,
                fault.steps.first, spec.first_step, spec.last_step());
  if (fault.type == FaultType::imbalance && spec.ranks == spec.pipeline)
    return fail(Code::invalid, "the fault {} needs two ranks of a stage, to give one what the other has less",
                name);
  if (fault.type == FaultType::unoverlapped_communication && !has_data_collectives(spec))
    return fail(Code::invalid,
                "the fault {} needs --sharding ddp or fsdp and more than one data-parallel rank", name);
  if (!is_in_some_step(fault, spec))
    return fail(Code::invalid, "the fault {} is in every {}th step, but none of the steps {} to {} is one",
                name, fault.every, std::max(fault.steps.first, spec.first_step),
                std::min(fault.steps.last, spec.last_step()));
  if (fault.type == FaultType::compilation && !spec.era->cat[static_cast<size_t>(Cat::driver)])
    return fail(Code::invalid, "the fault {} cannot be had in the era {}, which has no torch.compile", name,
                spec.era->name);
  if (fault.type == FaultType::slow_link && fault.pair) return validate_pair(spec, *fault.pair);
  if (fault.type == FaultType::slow_link) {
    const char* group = kGroupNames[static_cast<size_t>(fault.group)];
    if (!has_group(spec, fault.group))
      return fail(
          Code::invalid,
          "the fault {} is at group={}, but no ranks of this job make such a group; see --tp, --pp and --sharding",
          name, group);
    if (fault.groups.first >= Layout(spec).groups(fault.group))
      return fail(Code::invalid,
                  "the fault {} is at index={}, but the job has {} groups of ranks for {} parallelism", name,
                  fault.groups.first, Layout(spec).groups(fault.group), group);
  }
  if (fault.type == FaultType::launch_bound && spec.cuda_graphs)
    return fail(Code::invalid,
                "the fault {} cannot be had with --cuda-graphs, which launch all kernels of a layer at once",
                name);
  if (fault.type == FaultType::hang && !has_data_collectives(spec) && spec.tensor == 1 &&
      spec.pipeline == 1 && spec.expert == 1)
    return fail(Code::invalid,
                "the fault {} needs ranks that wait for each other; see --ranks and --sharding", name);
  return {};
}

}  // namespace

std::span<const NumberOption> number_options() { return kNumbers; }
std::span<const SwitchOption> switch_options() { return kSwitches; }

Result<void> validate(const Spec& spec) {
  TRY(validate_inference(spec));
  if (spec.ranks % (spec.tensor * spec.pipeline) != 0)
    return fail(Code::invalid, "--ranks {} is no multiple of --tp {} times --pp {}", spec.ranks, spec.tensor,
                spec.pipeline);
  if (spec.layers % spec.pipeline != 0)
    return fail(Code::invalid, "--layers {} is no multiple of --pp {}", spec.layers, spec.pipeline);
  TRY(validate_stages(spec));
  TRY(validate_experts(spec));
  if (spec.hidden % 128 != 0) return fail(Code::invalid, "--hidden {} is no multiple of 128", spec.hidden);
  if (spec.hidden % spec.tensor != 0)
    return fail(Code::invalid, "--hidden {} is no multiple of --tp {}", spec.hidden, spec.tensor);
  if (spec.all_memory_events && spec.cuda_graphs)
    return fail(
        Code::invalid,
        "--all-memory-events cannot be had with --cuda-graphs, whose memory is allocated before the recording");
  if (std::ranges::count(spec.faults, FaultType::hang, &Fault::type) > 1)
    return fail(Code::invalid, "a job can hang only once");
  if (spec.events / spec.steps > kMostInStep ||
      spec.layers / spec.pipeline * spec.micro_batches > kMostInStep / 100)
    return fail(Code::invalid,
                "a step would have more than {} events, and is held in memory; ask for more --steps",
                kMostInStep);
  if (spec.ranks * spec.steps > kMostInStep)
    return fail(Code::invalid, "truth.json would tell of more than {} steps of ranks; ask for fewer --steps",
                kMostInStep);
  if (spec.faults.size() > kMostFaults)
    return fail(Code::invalid, "a job has at most {} faults", kMostFaults);
  for (const Fault& fault : spec.faults) TRY(validate(spec, fault));
  for (const NumberRange& omitted : spec.omitted)
    if (const i64 last = omitted.is_open() ? omitted.first : omitted.last; last >= spec.ranks)
      return fail(Code::invalid, "--omit-ranks: there is no rank {}; the ranks are 0 to {}", last,
                  spec.ranks - 1);
  bool writes = false;
  for (i64 rank = 0; rank < spec.ranks && !writes; ++rank) writes = !spec.omits(rank);
  if (!writes) return fail(Code::invalid, "--omit-ranks leaves no rank whose trace could be written");
  return {};
}

}  // namespace spotter::simulate
