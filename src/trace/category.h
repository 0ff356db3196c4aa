// What an event is. Its category decides, never a stream number or a name alone: writers number streams as
// they like, and names repeat on both sides.
#pragma once
#include <string_view>

#include "base/types.h"

namespace spotter {

enum class Category : u8 {
  none,  // no "cat": metadata and marks
  cpu_op,
  user_annotation,
  python_function,
  runtime,
  driver,  // host calls of CUDA, HIP, XPU, MTIA, PrivateUse1: anything that ends in "runtime" or "driver",
           // and hpu_op
  kernel,
  gpu_memcpy,
  gpu_memset,
  mtia_device,  // mtia_ccp_events: kernels and copies in one category; names tell them apart
  gpu_user_annotation,
  device_sync,
  device_event,
  overhead,
  cpu_instant,
  trace_span,
  flow_launch,
  flow_fwdbwd,
  collective_host,
  profiler_range,
  counter,
  other,
};

// From the text of "cat", any era, any case.
Category category_of(std::string_view text);

// Kernels, copies and sets of every backend: what keeps a device busy.
inline bool is_device_work(Category c) { return c >= Category::kernel && c <= Category::mtia_device; }
// Calls from the host into a device's runtime or driver: what launches.
inline bool is_host_call(Category c) { return c == Category::runtime || c == Category::driver; }
// Spans that nest on a host thread.
inline bool is_host_span(Category c) { return c >= Category::cpu_op && c <= Category::driver; }

}  // namespace spotter
