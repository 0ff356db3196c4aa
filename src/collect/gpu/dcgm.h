// The part of NVIDIA's Data Center GPU Manager (DCGM 3 and 4) that is used here: our own declarations of its
// ABI. Numbers, names and layouts are those of its public headers and of its Python binding.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace spotter::collect::dcgm {

using Return = int;  // dcgmReturn_t
inline constexpr Return kOk = 0, kNotSupported = -6, kNoData = -14, kStaleData = -15, kNotWatched = -16,
                        kNoPermission = -17, kGpuIsLost = -18, kFunctionNotFound = -20,
                        kConnectionNotValid = -21, kRequiresRoot = -29, kProfilingNotSupported = -36,
                        kProfilingMultiPass = -38;

using Handle = std::uintptr_t;
using Group = std::uintptr_t;
using FieldGroup = std::uintptr_t;

inline constexpr int kMostDevices = 32;                         // of dcgmGetAllSupportedDevices
inline constexpr int kGroupEmpty = 1;                           // DCGM_GROUP_EMPTY
inline constexpr u32 kEntityGpu = 1;                            // DCGM_FE_GPU
inline constexpr int kModeAuto = 1;                             // DCGM_OPERATION_MODE_AUTO
inline constexpr u32 kLiveData = 1;                             // DCGM_FV_FLAG_LIVE_DATA
inline constexpr i64 kBlank = 0x7ffffffffffffff0;               // and the 15 behind it: + 1 not found,
inline constexpr double kBlankReal = 140737488355328.0;         // + 2 not supported, + 3 not permitted
inline constexpr u16 kReal = 'd', kInteger = 'i', kText = 's';  // types of fields

constexpr u32 version_word(size_t bytes, u32 version) { return static_cast<u32>(bytes) | version << 24; }

struct ConnectParams {
  u32 version = version_word(16, 2);
  u32 persist_after_disconnect = 0;
  u32 timeout_ms = 3000;
  u32 is_unix_socket = 0;
};
struct Entity {
  u32 group, id;
};
struct FieldValue {  // v2
  u32 version, entity_group, entity;
  u16 field, type;
  i32 status;
  u32 unused;
  i64 unix_us;
  union {
    i64 integer;
    double real;
    char text[256];
    char blob[4096];
  };
};
struct MetricGroup {
  u16 major_id, minor_id;
  u32 count;
  u16 fields[64];
};
struct MetricGroups {  // v3
  u32 version, unused, gpu, count;
  MetricGroup groups[10];
};

static_assert(sizeof(ConnectParams) == 16);
static_assert(sizeof(FieldValue) == 32 + 4096 && offsetof(FieldValue, unix_us) == 24);
static_assert(sizeof(MetricGroup) == 136 && sizeof(MetricGroups) == 1376);

#define SPOTTER_DCGM_FUNCTIONS(X)                                                     \
  X(dcgmInit, ())                                                                     \
  X(dcgmShutdown, ())                                                                 \
  X(dcgmConnect_v2, (const char*, ConnectParams*, Handle*))                           \
  X(dcgmDisconnect, (Handle))                                                         \
  X(dcgmStartEmbedded, (int, Handle*))                                                \
  X(dcgmStopEmbedded, (Handle))                                                       \
  X(dcgmGetAllSupportedDevices, (Handle, u32*, int*))                                 \
  X(dcgmGroupCreate, (Handle, int, const char*, Group*))                              \
  X(dcgmGroupAddEntity, (Handle, Group, u32, u32))                                    \
  X(dcgmGroupDestroy, (Handle, Group))                                                \
  X(dcgmFieldGroupCreate, (Handle, int, u16*, const char*, FieldGroup*))              \
  X(dcgmFieldGroupDestroy, (Handle, FieldGroup))                                      \
  X(dcgmWatchFields, (Handle, Group, FieldGroup, long long, double, int))             \
  X(dcgmUnwatchFields, (Handle, Group, FieldGroup))                                   \
  X(dcgmEntitiesGetLatestValues, (Handle, Entity*, u32, u16*, u32, u32, FieldValue*)) \
  X(dcgmProfGetSupportedMetricGroups, (Handle, MetricGroups*))                        \
  X(dcgmProfPause, (Handle))                                                          \
  X(dcgmProfResume, (Handle))

struct Functions {
#define SPOTTER_DCGM_MEMBER(name, arguments) Return(*name) arguments = nullptr;
  SPOTTER_DCGM_FUNCTIONS(SPOTTER_DCGM_MEMBER)
#undef SPOTTER_DCGM_MEMBER
};

template <class... P, class... A>
Return call(Return (*function)(P...), A... arguments) {
  return function ? function(arguments...) : kFunctionNotFound;
}

}  // namespace spotter::collect::dcgm
