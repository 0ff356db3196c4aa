// Memory places: where in the program memory is allocated and released: inside which operator and module, and
// in which phase of training.
#pragma once
#include <string>
#include <vector>

#include "analyze/memory/allocator_events.h"
#include "trace/forward_links.h"
#include "trace/steps.h"

namespace spotter::analyze {

enum class TrainingPhase : u8 { other, forward, backward, optimizer };
const char* name_of(TrainingPhase phase);

struct MemoryPlace {
  u32 span = kNone;       // the innermost host span around it on its thread
  u32 op = kNone;         // the innermost operator around it
  u32 parent_op = kNone;  // the innermost operator around that
  u32 module = 0;         // in MemoryPlaces::modules; 0: none is known
  TrainingPhase phase = TrainingPhase::other;
  bool makes_module = false;  // while a module is made or moved
  // When that has ended whose own temporaries are released by then: of the optimizer its annotation, of
  // making a module the outermost call that does, else the outermost operator around it. The other phases end
  // by Passes::end_of.
  Ns work_end = 0;
};

// When the passes over the model begin.
struct Passes {
  std::vector<Ns> backward;              // ascending; so are the others
  std::vector<Ns> forward_or_optimizer;  // but not an optimizer that steps within the backward pass

  // Of the forward pass that `time` lies in, when the next backward pass begins; of a backward pass, when the
  // next forward pass or step of the optimizer does. kMaxTime where there is no later one.
  Ns end_of(TrainingPhase phase, Ns time) const;
};

struct MemoryPlaces {
  std::vector<std::vector<MemoryPlace>> of;  // by device, by event of the device; `span` and the operators
                                             // are indices into Nesting::order
  Passes passes;
  std::vector<std::string> modules;  // as users know them (ModulePaths::names); the first is none
};

// Operators are spans of operators around an event on its thread, start <= time < end, but no annotation,
// which to 2021 were operators too. In doubt the last to begin is the innermost.
//
// Phases: what is inside `Optimizer.step#...` or another annotation of an optimizer is the optimizer's.
// Inside a node of autograd (autograd::engine::evaluate_function..., an operator that tells its forward
// thread), or on a thread of autograd other than the main one, it is backward. Inside a module, one of the
// annotations of PyTorch's wrappers (DistributedDataParallel.forward ...) or the forward operator of a node
// of autograd in this trace (ForwardLinks) it is forward. The innermost of them counts; but what runs forward
// inside a backward pass is recomputed for it, and is backward.
//
// The module is the innermost nn.Module around it on its thread; of what is backward and in none, that around
// the forward operator of the innermost node of autograd.
MemoryPlaces memory_places(const Trace& trace, const std::vector<MemoryDevice>& devices);

inline const ArgSet kMemoryPlaceArgs = kAllocatorEventArgs | trace::kStepArgs | trace::kForwardLinkArgs;

// Of MemoryPlace::op or parent_op; empty where there is none.
std::string_view operator_name(const Trace& trace, u32 op);
void note_no_modules(const MemoryPlaces& places, Table& table);

}  // namespace spotter::analyze
