#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/efficiency/counted_operators.h"
#include "analyze/list.h"
#include "analyze/time/device_time.h"
#include "analyze/top.h"
#include "base/saturated.h"
#include "trace/device_work.h"
#include "trace/facts/element_types.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"operator", Type::text, Unit::none, Role::key, "Operator; others: all that are not listed."},
    {"shapes", Type::text, Unit::none, Role::value,
     "Shapes of its arguments, [] for one that is no tensor; null where they were not recorded, and for others."},
    {"dtype", Type::text, Unit::none, Role::value,
     "What it computes in: the torch.dtype of its operands, or tf32; null as shapes."},
    {"device_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the durations of the device work that they launched; null in a trace without device work."},
    {"tflops", Type::real, Unit::none, Role::value,
     "10^12 flops in a second of device_ns, or of host_ns in a trace without device work; null where one of "
     "the two is not known or there is no time."},
    {"flops_utilization_ratio", Type::real, Unit::ratio, Role::value,
     "tflops divided by the device's peak for this dtype; null where that is not known."},
    {"bandwidth_utilization_ratio", Type::real, Unit::ratio, Role::value,
     "bytes_per_s divided by the device's memory bandwidth; null where that is not known."},
    {"bound", Type::text, Unit::none, Role::value,
     "Which of the two peaks it would meet first: compute or memory; null where one is not known."},
    {"bytes_per_s", Type::real, Unit::bytes_per_s, Role::value, "bytes in a second, as tflops."},
    {"calls", Type::integer, Unit::count, Role::value, "Number of calls that count."},
    {"device_ratio", Type::real, Unit::ratio, Role::value, "Share of all device work's durations."},
    {"flops", Type::integer, Unit::count, Role::value, "Of all these calls; null where shapes do not tell."},
    {"bytes", Type::integer, Unit::bytes, Role::value,
     "The least that must move for all these calls; null where shapes and types do not tell."},
    {"flops_per_byte", Type::real, Unit::none, Role::detail, "Arithmetic intensity: flops divided by bytes."},
    {"host_ns", Type::integer, Unit::ns, Role::detail, "Sum of the durations of the calls on the host."},
};

constexpr Param kParams[] = {kTop};

struct Totals {
  i64 calls = 0;
  Ns device = 0, host = 0;
  std::optional<i64> flops = 0, bytes = 0;

  void add(const Totals& o) {
    calls += o.calls;
    device = add_saturated(device, o.device);
    host = add_saturated(host, o.host);
    flops = sum(flops, o.flops);
    bytes = sum(bytes, o.bytes);
  }
  static std::optional<i64> sum(std::optional<i64> a, std::optional<i64> b) {
    return a && b ? std::optional(add_saturated(*a, *b)) : std::nullopt;
  }
};

struct Row {
  std::string name = "others", shapes, dtype;  // empty: not known
  std::optional<trace::Precision> precision;
  Totals totals;

  void merge(const Row& o) { totals.add(o.totals); }
};

std::vector<Totals> totals_by_form(const Trace& trace, const CountedOperators& counted) {
  std::vector<Totals> by_form(counted.forms.size());
  for (EventId e = 0; e < trace.size(); ++e) {
    if (counted.form[e] == kNone) continue;
    Totals& totals = by_form[counted.form[e]];
    ++totals.calls;
    totals.host = add_saturated(totals.host, trace.dur[e]);
  }
  const trace::DeviceWork& work = trace.device_work();
  for (size_t row = 0; row < work.event.size(); ++row) {
    const EventId owner = counted.owner(work.launch[row]);
    if (owner == kNone) continue;
    Totals& totals = by_form[counted.form[owner]];
    totals.device = add_saturated(totals.device, work.end[row] - work.start[row]);
  }
  for (size_t f = 0; f < by_form.size(); ++f) {
    const std::optional<OperatorWork>& one = counted.forms[f].work;
    const auto all_calls = [&](std::optional<i64> of_one) {
      return of_one ? std::optional(multiply_saturated(*of_one, by_form[f].calls)) : std::nullopt;
    };
    by_form[f].flops = all_calls(one ? std::optional(one->flops) : std::nullopt);
    by_form[f].bytes = all_calls(one ? one->bytes : std::nullopt);
  }
  return by_form;
}

std::string dtype_of(const OperatorForm& form) {
  if (!form.work) return {};
  if (form.has_tf32_kernel) return trace::precision_name(trace::Precision::tf32);
  const trace::ElementType* type = trace::element_type(form.work->type);
  return type ? type->name : form.work->type;
}

// Calls that differ only in other arguments, such as strides, are one row.
std::vector<Row> rows_of(const Trace& trace, const CountedOperators& counted) {
  const std::vector<Totals> by_form = totals_by_form(trace, counted);
  std::map<std::tuple<StringId, std::string, std::string>, Row> rows;
  for (size_t f = 0; f < by_form.size(); ++f) {
    if (by_form[f].calls == 0) continue;
    const OperatorForm& form = counted.forms[f];
    const std::string dtype = dtype_of(form);
    const auto [row, is_new] = rows.try_emplace({form.name, form.shapes, dtype});
    if (is_new)
      row->second = {std::string(trace.strings()[form.name]), form.shapes, dtype, form.precision(), {}};
    row->second.totals.add(by_form[f]);
  }
  std::vector<Row> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::sort(sorted.begin(), sorted.end(), [](const Row& a, const Row& b) {
    const auto cost = [](const Row& row) { return std::tuple(row.totals.device, row.totals.host); };
    if (cost(a) != cost(b)) return cost(a) > cost(b);
    return std::tie(a.name, a.shapes, a.dtype) < std::tie(b.name, b.shapes, b.dtype);
  });
  return sorted;
}

class Rates {
 public:
  Rates(const Trace& trace, const trace::DevicePeaks* peaks) : peaks_(peaks) {
    const trace::DeviceWork& work = trace.device_work();
    has_device_work_ = !work.event.empty();
    for (size_t row = 0; row < work.event.size(); ++row)
      all_device_ = add_saturated(all_device_, work.end[row] - work.start[row]);
  }

  void append(const Row& row, Table& table) const {
    const Totals& t = row.totals;
    const Ns time = has_device_work_ ? t.device : t.host;
    const auto in_a_ns = [&](const std::optional<i64>& amount) {
      return amount && time > 0 ? std::optional(static_cast<double>(*amount) / static_cast<double>(time))
                                : std::nullopt;
    };
    const double peak = peaks_ && row.precision ? peaks_->tflops_of(*row.precision).value_or(0) : 0;
    const double memory_peak = peaks_ ? peaks_->memory_gbs : 0;
    std::optional<double> tflops = in_a_ns(t.flops);
    if (tflops) *tflops /= kGigaInTera;
    std::optional<double> bytes_per_s = in_a_ns(t.bytes);
    if (bytes_per_s) *bytes_per_s *= kBytesInGiga;
    const bool has_bytes = t.flops && t.bytes && *t.bytes > 0;
    table.append(
        {std::string_view(row.name), or_null(std::string_view(row.shapes)),
         or_null(std::string_view(row.dtype)), has_device_work_ ? Value(t.device) : Value(), or_null(tflops),
         ratio(tflops, peak), ratio(bytes_per_s, memory_peak * kBytesInGiga), bound(t, peak, memory_peak),
         or_null(bytes_per_s), t.calls, device_ratio(t), or_null(t.flops), or_null(t.bytes),
         has_bytes ? Value(static_cast<double>(*t.flops) / static_cast<double>(*t.bytes)) : Value(), t.host});
  }

 private:
  static constexpr double kGigaInTera = 1000, kBytesInGiga = 1e9;  // a byte in a ns is a GB/s

  // Peaks of 0 are not known.
  static Value ratio(const std::optional<double>& rate, double peak) {
    return rate && peak > 0 ? Value(*rate / peak) : Value();
  }
  Value device_ratio(const Totals& t) const {
    return all_device_ > 0 ? Value(static_cast<double>(t.device) / static_cast<double>(all_device_))
                           : Value();
  }
  static Value bound(const Totals& t, double peak, double memory_peak) {
    if (peak <= 0 || memory_peak <= 0 || !t.flops || !t.bytes || (*t.flops == 0 && *t.bytes == 0)) return {};
    const double compute_ns = static_cast<double>(*t.flops) / (peak * kGigaInTera);
    const double memory_ns = static_cast<double>(*t.bytes) / memory_peak;
    return compute_ns >= memory_ns ? std::string_view("compute") : std::string_view("memory");
  }

  const trace::DevicePeaks* peaks_;
  bool has_device_work_ = false;
  Ns all_device_ = 0;
};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kOperatorEfficiency.name, std::span(kColumns).subspan(1));
  const CountedOperators counted = counted_operators(trace);
  const DevicesInUse devices = devices_in_use(trace);
  std::vector<Row> rows = rows_of(trace, counted);
  note_unknown_work(trace, counted, devices, table);
  note_links(trace, table);
  const Rates rates(trace, devices.peaks);
  for (const Row& row : first_and_others(std::move(rows), params[kTop.name])) rates.append(row, table);
  return table;
}

}  // namespace

const Analysis kOperatorEfficiency = {
    .name = "operator_efficiency",
    .summary = "What each operator and shape reaches of the device's peaks: TFLOP/s, GB/s, what bounds it.",
    .doc =
        "Operators whose flops a formula tells from the shapes that they were called with (recorded with record_shapes=True), by "
        "operator, shapes and dtype. Each flop counts once, at the innermost operator that has a formula; products of matrices, convolutions and attention give "
        "way only to such inside them. "
        "A flop is an addition or a multiplication; a function such as exp counts as one. Products of matrices "
        "(mm, bmm, addmm, baddbmm, _scaled_mm, grouped ones, and linear or matmul where nothing inside counts): 2 m n k for each, "
        "without what is added. A convolution: 2 times batch, places of the result (of the input, where it is transposed) and elements "
        "of the weight, which has the channels of one group; padding counts as data; backward: as much for each of the gradients of input "
        "and weight that is wanted. Attention: for each head and each pair of a query and a key 2 (width + value width), backward 2 (3 "
        "width + 2 value width); where the call says that it is causal only the pairs that the mask leaves; of sequences of several "
        "lengths in one, and with windows, none. These are what torch.utils.flop_counter.FlopCounterMode counts (PyTorch 2.13), which "
        "counts the weight's gradient of a convolution with groups as if it had none, and causal attention whole, and knows neither "
        "linear, vectors, grouped products nor attention on the CPU. Normalisations with mean (layer, group, batch in training): 5 for an "
        "element and 1 each for weight and bias, without mean (RMS) 3, with known ones (batch in evaluation) 2; backward 10 (RMS 7), for the "
        "weight 2, for the bias 1. Softmax 5, backward 4. Element-wise work: 1 for an element of the result (addcmul, addcdiv and derivatives of functions 2, "
        "lerp 3). Complex products count four times. Bytes are the least that must move: each tensor that is read, and each that is written, once. "
        "Device time is that of the work whose launch the operator encloses and no other one here inside it. Peaks are those of the makers' data sheets, without "
        "sparsity, by the device's name and number of multiprocessors; a device that is not known has none. Products of float are held "
        "against TF32's peak where their kernels run on NVIDIA's tensor cores (kernel_groups tells which do). Other work than products is held against the vector units' peak, 64 bits wide or 32. "
        "bound is compute if the flops at that peak take at least as long as the bytes at the memory's. What several streams do at once counts for each. Sorted by device_ns, host_ns, "
        "name; what is not among the first `top` is put into a last row named others. Without device work the rates are those of the host.",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | kRecordedInputArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
