// Counted operators: the calls of a trace whose flops and bytes count, each once. An operator with a formula
// counts unless one inside it counts: what it computes is computed there. An operator of matrix units gives
// way to those of matrix units alone, so that the sum with a bias inside a convolution does not stand for the
// convolution.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analyze/efficiency/flop_formulas.h"
#include "table/table.h"

namespace spotter::analyze {

// Calls of one operator with equal inputs.
struct OperatorForm {
  StringId name = 0;
  const FlopFormula* formula = nullptr;
  std::optional<OperatorWork> work;  // nullopt: its inputs are not recorded, or do not tell
  std::string shapes;                // list_text(); empty: not recorded
  bool has_tf32_kernel = false;      // products of floats on NVIDIA's tensor cores

  bool is_matrix() const { return formula->unit == WorkUnit::matrix; }
  // That it is computed in. Other work than products is computed by vector units in 64 or 32 bits: PyTorch
  // widens smaller types for it.
  std::optional<trace::Precision> precision() const;
};

struct CountedOperators {
  std::vector<OperatorForm> forms;
  // Per event: which of `forms` it is, or kNone. Those whose work is not known are in it, too, unless another
  // one around or inside counts.
  std::vector<u32> form;
  std::vector<EventId> around;  // per event of a host thread: the innermost such operator around it, or kNone
  bool has_shapes = false;      // any operator's inputs were recorded

  // Of a row of device work: its time is that of the innermost operator here around its launch; kNone: of
  // none.
  EventId owner(EventId launch) const { return launch == kNone ? kNone : around[launch]; }
};

// Reads kRecordedInputArgs and trace::kDeviceWorkArgs.
CountedOperators counted_operators(const Trace& trace);

// What the devices can do that run kernels of this process other than of communication.
struct DevicesInUse {
  i64 count = 0;
  const trace::DevicePeaks* peaks = nullptr;  // of each; nullptr: not known, or not of one kind
};
DevicesInUse devices_in_use(const Trace& trace);

// Says in `table` which of these numbers are not known, and why.
void note_unknown_work(const Trace& trace, const CountedOperators& counted, const DevicesInUse& devices,
                       Table& table);

}  // namespace spotter::analyze
