#include "analyze/efficiency/counted_operators.h"

#include <algorithm>
#include <array>

#include "analyze/group_ids.h"
#include "analyze/list_text.h"
#include "trace/device_work.h"
#include "trace/devices.h"
#include "trace/facts/tensor_cores.h"
#include "trace/nesting.h"
#include "trace/per_kind.h"

namespace spotter::analyze {
namespace {

using trace::Precision;

// What an operator was called as and with: name, dims, types, values.
using FormIds = GroupIds<4>;

class Forms {
 public:
  explicit Forms(const Trace& trace) : trace_(trace), formula_of_(trace.strings().size(), kNotLookedUp) {}

  // kNone for an operator without a formula.
  u32 of(EventId e) {
    u16& formula = formula_of_[trace_.name[e]];
    if (formula == kNotLookedUp) formula = look_up(trace_.name_of(e));
    if (formula == kNoFormula) return kNone;
    const auto id = [&](Arg arg) { return trace_.text_id(e, arg).value_or(kNone); };
    const FormIds::Key key = {trace_.name[e], id(Arg::input_dims), id(Arg::input_type),
                              id(Arg::concrete_inputs)};
    const u32 form = ids_.id(key);
    if (form == forms_.size()) forms_.push_back(make(key, flop_formulas()[formula]));
    return form;
  }
  const OperatorForm& operator[](u32 form) const { return forms_[form]; }
  std::vector<OperatorForm> take() { return std::move(forms_); }

 private:
  static constexpr u16 kNotLookedUp = 0xffff, kNoFormula = 0xfffe;

  static u16 look_up(std::string_view name) {
    const FlopFormula* formula = find_flop_formula(name);
    return formula ? static_cast<u16>(formula - flop_formulas().data()) : kNoFormula;
  }

  OperatorForm make(const FormIds::Key& key, const FlopFormula& formula) const {
    const auto id = [&](size_t part) { return static_cast<StringId>(key[part]); };
    OperatorForm form = {.name = id(0), .formula = &formula, .work = {}, .shapes = {}};
    if (id(1) == kNone || id(2) == kNone) return form;
    const Strings& strings = trace_.strings();
    const auto inputs = parse_recorded_inputs(strings[id(1)], strings[id(2)],
                                              id(3) == kNone ? std::nullopt : std::optional(strings[id(3)]));
    if (!inputs) return form;
    form.work = formula.of(*inputs);
    form.shapes = list_text(strings[id(1)]);
    return form;
  }

  const Trace& trace_;
  std::vector<u16> formula_of_;  // by name
  FormIds ids_;
  std::vector<OperatorForm> forms_;
};

// What counts inside a span.
enum Inside : u8 { kMatrixCounts = 1, kAnyCounts = 2, kMatrixUnknown = 4, kAnyUnknown = 8 };

// From the innermost outwards: a parent stands before its children in the nesting's order.
void choose_innermost(const Trace& trace, Forms& forms, std::vector<u32>& form_of) {
  const trace::Nesting& nesting = trace.nesting();
  const auto is_operator =
      trace::per_kind(trace, [](const Kind& k) { return k.category == Category::cpu_op; });
  std::vector<u8> inside(nesting.order.size());
  for (size_t i = nesting.order.size(); i-- > 0;) {
    const EventId e = nesting.order[i];
    const u32 form = is_operator[trace.kind[e]] ? forms.of(e) : kNone;
    if (form != kNone) {
      const bool matrix = forms[form].is_matrix(), known = forms[form].work.has_value();
      const int counts = inside[i] & (matrix ? kMatrixCounts : kAnyCounts);
      const int unknown = inside[i] & (matrix ? kMatrixUnknown : kAnyUnknown);
      if (!counts && (known || !unknown)) {
        form_of[e] = form;
        inside[i] |= known ? kAnyCounts : kAnyUnknown;
        if (matrix) inside[i] |= known ? kMatrixCounts : kMatrixUnknown;
      }
    }
    if (nesting.parent[i] != kNone) inside[nesting.parent[i]] |= inside[i];
  }
}

// What is not known inside of one that counts is part of that.
void find_around(const Trace& trace, CountedOperators& counted) {
  const trace::Nesting& nesting = trace.nesting();
  for (size_t i = 0; i < nesting.order.size(); ++i) {
    const EventId e = nesting.order[i];
    if (nesting.parent[i] == kNone) continue;
    const EventId parent = nesting.order[nesting.parent[i]];
    const EventId around = counted.form[parent] != kNone ? parent : counted.around[parent];
    counted.around[e] = around;
    if (around == kNone || counted.form[e] == kNone) continue;
    const bool known = counted.forms[counted.form[e]].work.has_value();
    if (!known && counted.forms[counted.form[around]].work) counted.form[e] = kNone;
  }
}

// Tensor cores of NVIDIA have no product of floats in all their 32 bits, while AMD's matrix units do.
void find_tf32(const Trace& trace, CountedOperators& counted) {
  const auto is_of_floats = [](const OperatorForm& form) {
    return form.is_matrix() && form.work && precision_of(form.work->type) == Precision::fp32;
  };
  if (std::ranges::none_of(counted.forms, is_of_floats)) return;
  const trace::DeviceWork& work = trace.device_work();
  const std::vector<trace::TensorCores> cores = trace::tensor_cores_by_row(trace);
  for (size_t row = 0; row < work.event.size(); ++row) {
    const EventId launch = work.launch[row], owner = counted.owner(launch);
    if (owner == kNone || cores[row] != trace::TensorCores::yes) continue;
    OperatorForm& form = counted.forms[counted.form[owner]];
    if (is_of_floats(form) && !trace.name_of(launch).starts_with("hip")) form.has_tf32_kernel = true;
  }
}

bool any_shapes(const Trace& trace) {
  return std::ranges::any_of(trace.nesting().order, [&](EventId e) { return trace.has(e, Arg::input_dims); });
}

}  // namespace

std::optional<Precision> OperatorForm::precision() const {
  if (!work) return std::nullopt;
  const std::optional<Precision> precision = precision_of(work->type);
  if (!precision) return std::nullopt;
  if (is_matrix()) return has_tf32_kernel ? Precision::tf32 : precision;
  return precision == Precision::fp64 ? Precision::fp64_vector : Precision::fp32_vector;
}

CountedOperators counted_operators(const Trace& trace) {
  CountedOperators counted;
  counted.form.assign(trace.size(), kNone);
  counted.around.assign(trace.size(), kNone);
  Forms forms(trace);
  choose_innermost(trace, forms, counted.form);
  counted.forms = forms.take();
  find_around(trace, counted);
  find_tf32(trace, counted);
  counted.has_shapes = any_shapes(trace);
  return counted;
}

DevicesInUse devices_in_use(const Trace& trace) {
  DevicesInUse devices;
  std::optional<i64> last;
  const trace::DeviceWork& work = trace.device_work();
  for (const trace::Stream& stream : work.streams) {
    const auto kinds = std::span(work.kind).subspan(stream.begin, stream.end - stream.begin);
    if (last == stream.device || !std::ranges::count(kinds, trace::WorkKind::compute)) continue;
    last = stream.device;
    const Device* device = trace::device_of(trace.info().devices, stream.device);
    const trace::DevicePeaks* peaks = device ? trace::peaks_of(*device) : nullptr;
    if (devices.count++ == 0) devices.peaks = peaks;
    if (peaks != devices.peaks) devices.peaks = nullptr;
  }
  return devices;
}

void note_unknown_work(const Trace& trace, const CountedOperators& counted, const DevicesInUse& devices,
                       Table& table) {
  const auto note = [&](const char* kind, const char* sentence, i64 count) {
    if (count > 0) table.notes.add(kind, Severity::info, sentence, -1, count);
  };
  i64 operators = 0, unknown = 0;
  for (const u32 form : counted.form) {
    if (form == kNone) continue;
    ++operators;
    unknown += !counted.forms[form].work;
  }
  if (!counted.has_shapes)
    note("no_shapes",
         "calls of operators were recorded without their shapes, so that their flops are not known; "
         "torch.profiler.profile(record_shapes=True) records them",
         operators);
  else
    note("unknown_flops", "calls of operators have inputs that do not tell their flops", unknown);
  if (unknown < operators && devices.count > 0 && !devices.peaks)
    note("unknown_device",
         "traces are of devices whose peaks are not known, so that there are no shares of them", 1);
  const trace::DeviceWork& work = trace.device_work();
  i64 others = 0;
  for (const EventId launch : work.launch) {
    const EventId owner = counted.owner(launch);
    others += owner == kNone || !counted.forms[counted.form[owner]].work;
  }
  if (counted.has_shapes)
    note(
        "without_formula",
        "pieces of device work are of no operator whose flops are known: copies, what graphs and compiled kernels do, and "
        "others",
        others);
}

}  // namespace spotter::analyze
