#include "analyze/kernels/kernel_stats.h"

#include <fmt/format.h>

#include "analyze/kernels/dense_ids.h"

namespace spotter::analyze {

Kernels compute_kernels(const Trace& trace) {
  const trace::DeviceWork& work = trace.device_work();
  Kernels result;
  result.of_row.reserve(work.event.size());
  DenseIds ids(trace.strings().size() * trace::kWorkKinds);
  for (size_t row = 0; row < work.event.size(); ++row) {
    const StringId name = trace.name[work.event[row]];
    const u32 id = ids.id(name * trace::kWorkKinds + static_cast<size_t>(work.kind[row]));
    if (id == result.kernels.size()) result.kernels.push_back({work.kind[row], name, {}});
    result.kernels[id].durations.add(work.end[row] - work.start[row]);
    result.of_row.push_back(id);
  }
  return result;
}

std::string joined(const Trace& trace, std::span<const StringId> names) {
  const bool is_long = names.size() > kMostJoined;
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += " -> ";
    if (is_long && i == kMostJoined / 2) {
      const size_t left_out = names.size() - kMostJoined;
      text += fmt::format("... {} more ... -> ", left_out);
      i += left_out;
    }
    text += trace.strings()[names[i]];
  }
  return text;
}

bool is_before(const Trace& trace, std::span<const StringId> a, std::span<const StringId> b) {
  const auto text = [&](StringId name) { return trace.strings()[name]; };
  return std::ranges::lexicographical_compare(a, b, {}, text, text);
}

}  // namespace spotter::analyze
