#include "trace/category.h"

#include <algorithm>

#include "base/text/utf8.h"

namespace spotter {
namespace {

struct Spelling {
  std::string_view text;  // lower case
  Category category;
};

// Old and new spellings side by side, as real files carry both.
constexpr Spelling kSpellings[] = {
    {"", Category::none},
    {"cpu_op", Category::cpu_op},
    {"operator", Category::cpu_op},  // to 2021
    {"user_annotation", Category::user_annotation},
    {"python_function", Category::python_function},
    {"python", Category::python_function},
    {"hpu_op", Category::runtime},  // in spite of its name: the calls into Habana's runtime
    {"kernel", Category::kernel},
    {"gpu_memcpy", Category::gpu_memcpy},
    {"memcpy", Category::gpu_memcpy},  // to 2021
    {"gpu_memset", Category::gpu_memset},
    {"memset", Category::gpu_memset},  // to 2021
    {"mtia_ccp_events", Category::mtia_device},
    {"gpu_user_annotation", Category::gpu_user_annotation},
    {"cuda_sync", Category::device_sync},
    {"xpu_sync", Category::device_sync},
    {"cuda_event", Category::device_event},
    {"overhead", Category::overhead},
    {"cpu_instant_event", Category::cpu_instant},
    {"trace", Category::trace_span},
    {"ac2g", Category::flow_launch},
    {"async_cpu_to_gpu", Category::flow_launch},  // 1.11 to 1.13
    {"async_gpu", Category::flow_launch},         // 1.11 to 1.13
    {"async", Category::flow_launch},             // to 2021
    {"fwdbwd", Category::flow_fwdbwd},
    {"forward_backward", Category::flow_fwdbwd},  // 1.11 to 1.13
    {"collective_comm", Category::collective_host},
    {"cuda_profiler_range", Category::profiler_range},
    {"hardware_counters", Category::counter},
    {"mtia_counters", Category::counter},
    {"xpu_scope_profiler", Category::counter},
};

}  // namespace

Category category_of(std::string_view text) {
  const std::string lower = ascii_lower(text);
  const auto* known = std::find_if(std::begin(kSpellings), std::end(kSpellings),
                                   [&](const Spelling& s) { return s.text == lower; });
  if (known != std::end(kSpellings)) return known->category;
  if (lower.ends_with("runtime")) return Category::runtime;
  if (lower.ends_with("driver")) return Category::driver;
  return Category::other;
}

}  // namespace spotter
