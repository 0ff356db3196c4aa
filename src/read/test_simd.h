// For tests: the functions of simd.h as the including file's flags make them.
#pragma once
#include "read/simd.h"

namespace spotter::read {

struct SimdTable {
  u32 (*equal_char)(const char* p, char c);
  u32 (*equal_bytes)(const char* p, const char* q);
  u32 (*digits)(const char* p);
  u64 (*digits8)(const char* end, u32 n);
  u64 (*digits16)(const char* p, u32 n);
};

namespace SPOTTER_SIMD {

inline constexpr SimdTable kTable = {
    [](const char* p, char c) { return Bytes(p).equal(c); },
    [](const char* p, const char* q) { return Bytes(p).equal(Bytes(q)); },
    [](const char* p) { return Bytes(p).digits(); },
    [](const char* end, u32 n) { return digits8(end, n); },
    [](const char* p, u32 n) { return digits16(p, n); },
};

}  // namespace SPOTTER_SIMD
}  // namespace spotter::read
