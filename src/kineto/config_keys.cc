#include "kineto/config_keys.h"

#include <algorithm>
#include <iterator>

namespace spotter::kineto {
namespace {

constexpr const char* kBaseFile = "has an effect in the base config file alone (KINETO_CONFIG)";
constexpr const char* kCounters = "belongs to the counter profiler, which PyTorch no longer has";
constexpr const char* kRanges = "belongs to the CUPTI range profiler, which newer releases no longer have";

constexpr Key kKeys[] = {
    {"ACTIVITIES_ENABLED", KeyType::boolean},
    {"ACTIVITY_TYPES", KeyType::activities},
    {"ACTIVITIES_LOG_FILE", KeyType::text},
    {"ACTIVITIES_DURATION_SECS", KeyType::int32},
    {"ACTIVITIES_DURATION_MSECS", KeyType::int32},
    {"ACTIVITIES_ITERATIONS", KeyType::int32},
    {"ACTIVITIES_WARMUP_PERIOD_SECS", KeyType::int32},
    {"ACTIVITIES_WARMUP_ITERATIONS", KeyType::int32},
    {"PROFILE_START_TIME", KeyType::int64},
    {"PROFILE_START_ITERATION", KeyType::int32},
    {"PROFILE_START_ITERATION_ROUNDUP", KeyType::int32},
    {"PROFILE_REPORT_INPUT_SHAPES", KeyType::boolean},
    {"PROFILE_PROFILE_MEMORY", KeyType::boolean},
    {"PROFILE_WITH_STACK", KeyType::boolean},
    {"PROFILE_WITH_FLOPS", KeyType::boolean},
    {"PROFILE_WITH_MODULES", KeyType::boolean},
    {"CLIENT_INTERFACE_ENABLE_OP_INPUTS_COLLECTION", KeyType::boolean},
    {"PYTHON_STACK_TRACE", KeyType::boolean},
    {"ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB", KeyType::int32},
    {"ACTIVITIES_DISPLAY_CUDA_SYNC_WAIT_EVENTS", KeyType::boolean},
    {"CUPTI_PER_THREAD_BUFFER_ENABLED", KeyType::boolean},
    {"CUPTI_PM_SAMPLING_METRICS", KeyType::text},
    {"CUPTI_PM_SAMPLING_DEVICE_ID", KeyType::int32},
    {"ROCTRACER_MAX_EVENTS", KeyType::int32},
    {"PROFILE_MEMORY", KeyType::boolean},
    {"PROFILE_MEMORY_DURATION_MSECS", KeyType::int32},
    {"REQUEST_TRACE_ID", KeyType::text},
    {"REQUEST_GROUP_TRACE_ID", KeyType::text},
    {"CUSTOM_CONFIG", KeyType::text},
    {"VERBOSE_LOG_LEVEL", KeyType::int32},
    {"VERBOSE_LOG_MODULES", KeyType::text},
    {"XPUPTI_PROFILER_METRICS", KeyType::text},
    {"XPUPTI_PROFILER_ENABLE_PER_KERNEL", KeyType::boolean},
    {"XPUPTI_PROFILER_MAX_SCOPES", KeyType::int32},
    {"ENABLE_IPC_FABRIC", KeyType::boolean, kBaseFile},
    {"ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS", KeyType::int32, kBaseFile},
    {"ENABLE_SIGUSR2", KeyType::boolean, kBaseFile},
    {"REQUEST_TIMESTAMP", KeyType::int64, "is the old name of PROFILE_START_TIME; newer releases ignore it"},
    {"EVENTS", KeyType::text, kCounters},
    {"METRICS", KeyType::text, kCounters},
    {"SAMPLE_PERIOD_MSECS", KeyType::int32, kCounters},
    {"MULTIPLEX_PERIOD_MSECS", KeyType::int32, kCounters},
    {"REPORT_PERIOD_SECS", KeyType::int32, kCounters},
    {"SAMPLES_PER_REPORT", KeyType::int32, kCounters},
    {"EVENTS_LOG_FILE", KeyType::text, kCounters},
    {"EVENTS_ENABLED_DEVICES", KeyType::text, kCounters},
    {"EVENTS_DURATION_SECS", KeyType::int32, kCounters},
    {"MAX_EVENT_PROFILERS_PER_GPU", KeyType::int32, kCounters},
    {"EVENTS_HEARTBEAT_MONITOR_PERIOD_SECS", KeyType::int32, kCounters},
    {"CUPTI_PROFILER_METRICS", KeyType::text, kRanges},
    {"CUPTI_PROFILER_ENABLE_PER_KERNEL", KeyType::boolean, kRanges},
    {"CUPTI_PROFILER_MAX_RANGES", KeyType::int32, kRanges},
};

constexpr std::string_view kActivityTypes[] = {"cpu_op",
                                               "user_annotation",
                                               "gpu_user_annotation",
                                               "gpu_memcpy",
                                               "gpu_memset",
                                               "kernel",
                                               "external_correlation",
                                               "cuda_runtime",
                                               "cuda_driver",
                                               "cpu_instant_event",
                                               "python_function",
                                               "overhead",
                                               "mtia_runtime",
                                               "mtia_ccp_events",
                                               "mtia_insight",
                                               "cuda_sync",
                                               "cuda_event",
                                               "mtia_counters",
                                               "glow_runtime",
                                               "cuda_profiler_range",
                                               "hpu_op",
                                               "xpu_runtime",
                                               "xpu_driver",
                                               "collective_comm",
                                               "privateuse1_runtime",
                                               "privateuse1_driver",
                                               "xpu_scope_profiler",
                                               "xpu_sync",
                                               "hardware_counters"};

}  // namespace

const Key* find_key(std::string_view name) {
  const auto* key =
      std::find_if(std::begin(kKeys), std::end(kKeys), [&](const Key& k) { return k.name == name; });
  return key == std::end(kKeys) ? nullptr : key;
}

bool is_activity_type(std::string_view name) {
  return std::find(std::begin(kActivityTypes), std::end(kActivityTypes), name) != std::end(kActivityTypes);
}

}  // namespace spotter::kineto
