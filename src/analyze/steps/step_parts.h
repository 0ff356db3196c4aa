// What step_breakdown and step_budget divide the time of steps into: the parts, their columns, and which part
// device work and spans of the host are.
#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "table/table.h"
#include "trace/device_work.h"
#include "trace/steps.h"
#include "trace/trace.h"

namespace spotter::analyze {

// In the order in which they count, where several are so at once.
enum class StepPart : u8 { kernel, copy, set, communication, runtime, data_loader, host, other, count_ };
inline constexpr auto kStepParts = static_cast<size_t>(StepPart::count_);
using PartTimes = std::array<Ns, kStepParts>;

inline constexpr Field kStepPartFields[] = {
    {"kernel_ns", Type::integer, Unit::ns, Role::value,
     "Kernels, other than those of communication; null in a trace without device work."},
    {"copy_ns", Type::integer, Unit::ns, Role::value, "The device copies; null as kernel_ns."},
    {"set_ns", Type::integer, Unit::ns, Role::value, "The device sets memory; null as kernel_ns."},
    {"communication_ns", Type::integer, Unit::ns, Role::value,
     "Kernels of communication, or the host is inside an operation of it."},
    {"runtime_ns", Type::integer, Unit::ns, Role::value,
     "The host is in a call of the device's runtime or driver."},
    {"data_loader_ns", Type::integer, Unit::ns, Role::value, "The host waits for a batch."},
    {"host_ns", Type::integer, Unit::ns, Role::value, "The host is inside an operator or an annotation."},
    {"other_ns", Type::integer, Unit::ns, Role::value, "Nothing of these."},
};
static_assert(std::size(kStepPartFields) == kStepParts);
// "kernel", of the column "kernel_ns".
std::string_view part_name(StepPart part);

StepPart part_of_device_work(Category category, trace::WorkKind kind);

// The part that each span of the host is by itself: other is one of none. Marks of steps are of none.
class HostParts {
 public:
  // `trace` outlives it.
  explicit HostParts(const Trace& trace) : trace_(trace), by_name_(trace.strings().size()) {}
  StepPart of(EventId e);

 private:
  StepPart of_name(std::string_view name) const;

  const Trace& trace_;
  std::vector<std::optional<StepPart>> by_name_;  // of operators and annotations
};

inline const ArgSet kStepPartArgs = trace::kDeviceWorkArgs | trace::kStepArgs;

// The cells of the columns. What the device does is not known in a trace without device work, and null.
std::array<Value, kStepParts> part_values(const PartTimes& times, bool has_device_work);

}  // namespace spotter::analyze
