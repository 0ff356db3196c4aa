// Costs: how long things take on the simulated hosts, which have devices like an H100 in NVLink domains,
// joined by one 400 Gb/s network card for each device. Rounded to what such devices reach in practice.
#pragma once
#include "simulate/layout.h"

namespace spotter::simulate {

inline constexpr i64 kTokens = 2048;        // of a sequence
inline constexpr i64 kPromptTokens = 2048;  // of a request (--inference)
inline constexpr i64 kVocabulary = 32'000;
inline constexpr i64 kHeadWidth = 128;
inline constexpr i64 kElementBytes = 2;  // bfloat16
inline constexpr i64 kProcessors = 132;  // streaming multiprocessors

// Host.
inline constexpr Ns kOperator = 1'400;  // the dispatcher's part of an operator
inline constexpr Ns kSpan = 300;        // of a span that is no operator; so no two begin at once
inline constexpr Ns kAutogradNode = 2'200;
inline constexpr Ns kPieceHost = 5'000;  // on the host, for each further one of small kernels (launch-bound)
inline constexpr Ns kLaunchCall = 3'600, kEventCall = 900, kCopyCall = 5'200, kGraphCall = 9'500;
inline constexpr Ns kLaunchLatency = 5'800;  // from a launch's start to its kernel's earliest one
inline constexpr Ns kKernelGap = 850;        // between kernels that follow each other on a stream
inline constexpr i64 kLaunchQueue = 1024;    // launches that may wait for a device

// Memory, before the job's first step.
inline constexpr i64 kStaticBytes = i64{12} << 30;
inline constexpr i64 kDeviceBytes = 85'029'158'912;

// Device.
Ns matrix_product_ns(i64 m, i64 n, i64 k);
Ns memory_bound_ns(i64 bytes);
Ns host_copy_ns(i64 bytes);
Ns pageable_copy_ns(i64 bytes);

// What joins a group of ranks.
struct Link {
  double bytes_per_ns = 1;
  Ns floor = 0;  // of one round
};
Link link_of(const Layout& layout, GroupKind kind, i64 group);
Ns transfer_ns(const Link& link, i64 bytes, i64 rounds);

}  // namespace spotter::simulate
