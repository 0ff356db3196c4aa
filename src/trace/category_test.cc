#include "trace/category.h"

#include <gtest/gtest.h>

#include <string>

namespace spotter::trace {
namespace {

TEST(Category, OfEveryEra) {
  const struct {
    const char* text;
    Category category;
  } cases[] = {
      {"", Category::none},
      {"cpu_op", Category::cpu_op},
      {"Operator", Category::cpu_op},
      {"user_annotation", Category::user_annotation},
      {"python_function", Category::python_function},
      {"cuda_runtime", Category::runtime},
      {"Runtime", Category::runtime},
      {"mtia_runtime", Category::runtime},
      {"glow_runtime", Category::runtime},
      {"xpu_runtime", Category::runtime},
      {"privateuse1_runtime", Category::runtime},
      {"hpu_op", Category::runtime},
      {"cuda_driver", Category::driver},
      {"xpu_driver", Category::driver},
      {"privateuse1_driver", Category::driver},
      {"kernel", Category::kernel},
      {"Kernel", Category::kernel},
      {"gpu_memcpy", Category::gpu_memcpy},
      {"Memcpy", Category::gpu_memcpy},
      {"gpu_memset", Category::gpu_memset},
      {"Memset", Category::gpu_memset},
      {"mtia_ccp_events", Category::mtia_device},
      {"gpu_user_annotation", Category::gpu_user_annotation},
      {"cuda_sync", Category::device_sync},
      {"xpu_sync", Category::device_sync},
      {"cuda_event", Category::device_event},
      {"overhead", Category::overhead},
      {"cpu_instant_event", Category::cpu_instant},
      {"Trace", Category::trace_span},
      {"ac2g", Category::flow_launch},
      {"async_cpu_to_gpu", Category::flow_launch},
      {"async", Category::flow_launch},
      {"fwdbwd", Category::flow_fwdbwd},
      {"forward_backward", Category::flow_fwdbwd},
      {"collective_comm", Category::collective_host},
      {"cuda_profiler_range", Category::profiler_range},
      {"mtia_counters", Category::counter},
      {"hardware_counters", Category::counter},
      {"mtia_insight", Category::other},
      {"critical_path", Category::other},
      {"kernels", Category::other},
  };
  for (const auto& c : cases) EXPECT_EQ(category_of(c.text), c.category) << c.text;
}

TEST(Category, GroupsDoNotOverlap) {
  for (int i = 0; i <= static_cast<int>(Category::other); ++i) {
    const auto c = static_cast<Category>(i);
    EXPECT_FALSE(is_device_work(c) && is_host_span(c)) << i;
    EXPECT_TRUE(!is_host_call(c) || is_host_span(c)) << i;
  }
  for (const Category c :
       {Category::kernel, Category::gpu_memcpy, Category::gpu_memset, Category::mtia_device})
    EXPECT_TRUE(is_device_work(c));
  for (const Category c : {Category::gpu_user_annotation, Category::device_sync, Category::device_event,
                           Category::overhead, Category::collective_host})
    EXPECT_FALSE(is_device_work(c) || is_host_span(c));
}

}  // namespace
}  // namespace spotter::trace
