#include "analyze/steps/step_parts.h"

#include "trace/facts/collective_marks.h"
#include "trace/facts/data_loading.h"

namespace spotter::analyze {

std::string_view part_name(StepPart part) {
  std::string_view name = kStepPartFields[static_cast<size_t>(part)].name;
  name.remove_suffix(std::string_view("_ns").size());
  return name;
}

StepPart part_of_device_work(Category category, trace::WorkKind kind) {
  if (category == Category::gpu_memset) return StepPart::set;
  switch (kind) {
    case trace::WorkKind::communication:
      return StepPart::communication;
    case trace::WorkKind::memory:
      return StepPart::copy;
    case trace::WorkKind::compute:
      break;
  }
  return StepPart::kernel;
}

StepPart HostParts::of(EventId e) {
  const Category category = trace_.category(e);
  if (is_host_call(category)) return StepPart::runtime;
  if (category != Category::cpu_op && category != Category::user_annotation) return StepPart::other;
  std::optional<StepPart>& known = by_name_[trace_.name[e]];
  if (!known) known = of_name(trace_.name_of(e));
  return *known;
}

StepPart HostParts::of_name(std::string_view name) const {
  if (is_step_mark(trace_.steps(), name)) return StepPart::other;
  if (trace::is_collective_mark(name)) return StepPart::communication;
  return trace::is_data_loading(name) ? StepPart::data_loader : StepPart::host;
}

std::array<Value, kStepParts> part_values(const PartTimes& times, bool has_device_work) {
  std::array<Value, kStepParts> values;
  for (size_t part = 0; part < kStepParts; ++part) {
    const bool is_of_device = part <= static_cast<size_t>(StepPart::set);
    if (has_device_work || !is_of_device) values[part] = times[part];
  }
  return values;
}

}  // namespace spotter::analyze
