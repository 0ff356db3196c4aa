#include <algorithm>
#include <array>

#include "analyze/efficiency/counted_operators.h"
#include "analyze/list.h"
#include "analyze/steps/step_windows.h"
#include "analyze/time/device_time.h"
#include "base/saturated.h"
#include "trace/device_work.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

using trace::Precision;

const Field kColumns[] = {
    kRankField,
    {"number", Type::integer, Unit::none, Role::value,
     "Number of the step, as its mark says, else counted from 0; null: all of them together."},
    kWindowStartField,
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Length of the window; of all: their sum."},
    {"mfu", Type::real, Unit::ratio, Role::value,
     "tflops divided by peak_tflops; null where one of them is not known or there are no flops."},
    {"tflops", Type::real, Unit::none, Role::value, "10^12 flops in a second of dur_ns; null as flops."},
    {"dtype", Type::text, Unit::none, Role::value,
     "What most of the flops are computed in; null without any."},
    {"peak_tflops", Type::real, Unit::none, Role::value,
     "The most that the rank's devices could do in these dtypes: of several, in their mix; null for a device that is "
     "not known."},
    {"flops", Type::integer, Unit::count, Role::value,
     "Of products of matrices, convolutions and attention launched in the step; null where shapes were not recorded, or "
     "those of one of them do not tell."},
    {"covered_ratio", Type::real, Unit::ratio, Role::value,
     "Share of the durations of the device work launched in the step that operators of known flops launched, be "
     "they products or not; null without any."},
    {"vector_flops", Type::integer, Unit::count, Role::detail,
     "Of normalisations, softmax and element-wise work, as far as they are known; mfu leaves them out. Null where shapes were not "
     "recorded."},
    {"achievable_ratio", Type::real, Unit::ratio, Role::detail,
     "As mfu, against what the devices' maker itself measures at most; null where nobody says."},
};

struct StepFlops {
  std::array<i64, trace::kPrecisions> by_precision{};
  i64 without_precision = 0;   // of whole numbers
  i64 unknown = 0;             // calls of products whose flops are not known
  i64 vector = 0;              // flops of other work
  Ns device = 0, covered = 0;  // durations launched

  void add(const StepFlops& o) {
    for (size_t p = 0; p < by_precision.size(); ++p)
      by_precision[p] = add_saturated(by_precision[p], o.by_precision[p]);
    without_precision = add_saturated(without_precision, o.without_precision);
    unknown += o.unknown;
    vector = add_saturated(vector, o.vector);
    device = add_saturated(device, o.device);
    covered = add_saturated(covered, o.covered);
  }
  i64 flops() const {
    i64 sum = without_precision;
    for (const i64 flops : by_precision) sum = add_saturated(sum, flops);
    return sum;
  }
};

void add_call(const OperatorForm& form, StepFlops& step) {
  if (!form.work) {
    step.unknown += form.is_matrix();
    return;
  }
  i64* flops = &step.vector;
  if (form.is_matrix()) {
    const std::optional<Precision> precision = form.precision();
    flops = precision ? &step.by_precision[static_cast<size_t>(*precision)] : &step.without_precision;
  }
  *flops = add_saturated(*flops, form.work->flops);
}

std::vector<StepFlops> by_step(const Trace& trace, const CountedOperators& counted,
                               const StepWindows& windows) {
  std::vector<StepFlops> steps(windows.steps.size());
  const StepMarks marks(trace, windows);
  const auto step_of = [&](EventId e) -> StepFlops* {
    const i64 step = marks.around(trace.ts[e], trace.end(e));
    return step >= 0 && step < std::ssize(steps) ? &steps[static_cast<size_t>(step)] : nullptr;
  };
  const trace::DeviceWork& work = trace.device_work();
  std::vector<u8> launches(work.event.empty() ? 0 : trace.size());
  for (size_t row = 0; row < work.event.size(); ++row) {
    const EventId launch = work.launch[row], owner = counted.owner(launch);
    const bool is_covered = owner != kNone && counted.forms[counted.form[owner]].work;
    if (owner != kNone) launches[owner] = 1;
    StepFlops* step = launch == kNone ? nullptr : step_of(launch);
    if (!step) continue;
    const Ns dur = work.end[row] - work.start[row];
    step->device = add_saturated(step->device, dur);
    if (is_covered) step->covered = add_saturated(step->covered, dur);
  }
  for (EventId e = 0; e < trace.size(); ++e) {
    if (counted.form[e] == kNone) continue;
    if (!launches.empty() && !launches[e]) continue;
    if (StepFlops* step = step_of(e)) add_call(counted.forms[counted.form[e]], *step);
  }
  return steps;
}

// The most TFLOP/s in the mix of dtypes that the flops are in; nullopt where one's is not known. `peak`: of
// one.
template <class F>
std::optional<double> peak_of_mix(const StepFlops& step, F peak) {
  const double all = static_cast<double>(step.flops());
  double time = 0;  // that the flops take at the peaks
  for (size_t p = 0; p < step.by_precision.size(); ++p) {
    if (step.by_precision[p] == 0) continue;
    const std::optional<double> tflops = peak(static_cast<Precision>(p));
    if (!tflops) return std::nullopt;
    if (step.by_precision[p] == step.flops()) return tflops;
    time += static_cast<double>(step.by_precision[p]) / *tflops;
  }
  return step.without_precision == 0 && time > 0 ? std::optional(all / time) : std::nullopt;
}

Value ratio(const std::optional<double>& part, const std::optional<double>& whole) {
  return part && whole ? Value(*part / *whole) : Value();
}

// What a row says, for the rank's devices.
class Rows {
 public:
  Rows(const DevicesInUse& devices, bool has_shapes, Table& table)
      : devices_(devices), has_shapes_(has_shapes), table_(table) {}

  void append(std::optional<i64> number, Ns start, Ns dur, const StepFlops& step) {
    const bool is_known = has_shapes_ && step.unknown == 0;
    const auto most = std::ranges::max_element(step.by_precision);
    const auto dtype = static_cast<Precision>(most - step.by_precision.begin());
    constexpr double kPerNs = 1000;  // of a TFLOP/s
    std::optional<double> tflops, peak, achievable;
    if (is_known && dur > 0) tflops = static_cast<double>(step.flops()) / static_cast<double>(dur) / kPerNs;
    if (is_known) {
      peak = of_devices(step, &trace::DevicePeaks::tflops_of);
      achievable = of_devices(step, &trace::DevicePeaks::achievable_of);
    }
    std::optional<double> covered, launched;
    if (has_shapes_ && step.device > 0) {
      covered = static_cast<double>(step.covered);
      launched = static_cast<double>(step.device);
    }
    table_.append({or_null(number), start, dur, ratio(tflops, peak), or_null(tflops),
                   *most > 0 ? Value(std::string_view(trace::precision_name(dtype))) : Value(), or_null(peak),
                   is_known ? Value(step.flops()) : Value(), ratio(covered, launched),
                   has_shapes_ ? Value(step.vector) : Value(), ratio(tflops, achievable)});
  }

 private:
  using PeakOf = std::optional<double> (trace::DevicePeaks::*)(Precision) const;
  std::optional<double> of_devices(const StepFlops& step, PeakOf peak_of) const {
    if (!devices_.peaks) return std::nullopt;
    const auto one = peak_of_mix(step, [&](Precision p) { return (devices_.peaks->*peak_of)(p); });
    return one ? std::optional(*one * static_cast<double>(devices_.count)) : std::nullopt;
  }

  const DevicesInUse& devices_;
  bool has_shapes_;
  Table& table_;
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kMfu.name, std::span(kColumns).subspan(1));
  const StepWindows windows = step_windows(trace);
  note_step_windows(trace, windows, table.notes);
  if (windows.steps.empty()) return table;
  const CountedOperators counted = counted_operators(trace);
  const DevicesInUse devices = devices_in_use(trace);
  note_unknown_work(trace, counted, devices, table);
  note_links(trace, table);
  const std::vector<StepFlops> steps = by_step(trace, counted, windows);
  Rows rows(devices, counted.has_shapes, table);
  StepFlops all;
  Ns all_dur = 0;
  for (size_t s = 0; s < steps.size(); ++s) {
    const StepWindow& window = windows.steps[s];
    const Ns dur = window.end - window.start;
    rows.append(window.number, trace.info().base_ns + window.start, dur, steps[s]);
    all.add(steps[s]);
    all_dur = add_saturated(all_dur, dur);
  }
  rows.append(std::nullopt, trace.info().base_ns + windows.steps.front().start, all_dur, all);
  return table;
}

}  // namespace

const Analysis kMfu = {
    .name = "mfu",
    .summary = "Model flops utilisation of each step: what of the devices' peak its matrix work uses.",
    .doc =
        "The flops of a step are those of the products of matrices, convolutions and attention (counted as operator_efficiency does, with all its rules) whose "
        "call lies wholly in the step's mark, on any thread, so that backward work on autograd's threads is in it; in a trace with "
        "device work, only calls that launched some. The step's time is its window's, as step_breakdown tells it. mfu is the time "
        "that these flops take at the peaks of the dtypes that they are in, of all devices that the rank works on, divided by the step's time: with one dtype, "
        "flops / time / peak. What is computed anew for the backward pass (activation checkpointing) counts like all else, so that mfu is then what others "
        "call hardware flops utilisation. Work in CUDA graphs and in compiled kernels (Triton) has no operators with shapes around "
        "it, and is missing in the flops: covered_ratio tells how much of the device's time is not. Causal attention counts only "
        "the pairs that its mask leaves where the call says that it is causal: a formula that takes it whole, as in PaLM's definition of MFU (Chowdhery "
        "et al. 2022, appendix B), gives more. Peaks: see operator_efficiency. A rank without steps and operators has no rows.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | trace::kStepArgs | kRecordedInputArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
