// The integer names used everywhere. Time is Ns: signed 64-bit nanoseconds, never a floating-point number.
#pragma once
#include <cstddef>
#include <cstdint>

namespace spotter {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
__extension__ using i128 = __int128;  // for sums of which 64 bits are too few

using Ns = i64;

inline constexpr u32 kNone = ~u32{0};  // "no row", "no id", "no parent"

}  // namespace spotter
