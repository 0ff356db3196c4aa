#include "store/series/series_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

namespace spotter::store {
namespace {

// All arithmetic on values is modulo 2^64, so that no two of them are too far apart.
u64 bits(i64 value) { return static_cast<u64>(value); }
u64 magnitude(u64 difference) { return difference >> 63 ? 0 - difference : difference; }

constexpr u8 kFirstOrder = 1, kSecondOrder = 2;

constexpr double kPowers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};
constexpr size_t kMostPower = std::size(kPowers) - 1;
constexpr double kMostExact = 9007199254740992.0;  // 2^53
constexpr u8 kXor = 255;

// Whether the integer over the power is the value again, to the bit.
bool is_decimal(double value, size_t power, i64& digits) {
  const double scaled = std::nearbyint(value * kPowers[power]);
  if (!(std::abs(scaled) < kMostExact)) return false;
  digits = static_cast<i64>(scaled);
  return std::bit_cast<u64>(static_cast<double>(digits) / kPowers[power]) == std::bit_cast<u64>(value);
}

// The least power of ten that makes integers of all values; kXor if there is none.
u8 decimal_power(std::span<const double> values) {
  size_t power = 0;
  i64 digits = 0;
  for (const double value : values) {
    while (!is_decimal(value, power, digits)) {
      if (++power > kMostPower) return kXor;
    }
  }
  // A value that was exact at a small power may be too large for a greater one.
  const auto fits = [&](double value) { return is_decimal(value, power, digits); };
  return std::ranges::all_of(values, fits) ? static_cast<u8>(power) : kXor;
}

void encode_xor(ByteWriter& out, std::span<const double> values) {
  u64 before = 0;
  for (const double value : values) {
    const u64 now = std::bit_cast<u64>(value), changed = now ^ before;
    before = now;
    const int high = changed == 0 ? 8 : std::countl_zero(changed) / 8;
    const int low = changed == 0 ? 0 : std::countr_zero(changed) / 8;
    const int count = 8 - high - (changed == 0 ? 0 : low);
    out.byte(static_cast<u8>(low << 4 | count));
    for (int i = 0; i < count; ++i) out.byte(static_cast<u8>(changed >> (8 * (low + i))));
  }
}

bool decode_xor(ByteReader& in, std::span<double> values) {
  u64 now = 0;
  for (double& value : values) {
    const u8 control = in.byte();
    const int low = control >> 4, count = control & 15;
    if (low + count > 8) return false;
    for (int i = 0; i < count; ++i) now ^= static_cast<u64>(in.byte()) << (8 * (low + i));
    value = std::bit_cast<double>(now);
  }
  return in.ok();
}

}  // namespace

void encode_integers(ByteWriter& out, std::span<const i64> values) {
  if (values.empty()) return;
  out.varint(zigzag(values[0]));
  if (values.size() == 1) return;
  u64 divisor = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    const u64 step = magnitude(bits(values[i]) - bits(values[i - 1]));
    if (step == 0) continue;
    if (divisor == 0 || step % divisor != 0) divisor = std::gcd(divisor, step);
  }
  out.varint(divisor);
  if (divisor == 0) return;

  const auto quotient = [&](size_t i) {
    const u64 difference = bits(values[i]) - bits(values[i - 1]);
    const u64 times = magnitude(difference) / divisor;
    return difference >> 63 ? 0 - times : times;
  };
  size_t first = 0, second = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    const u64 now = quotient(i), before = i == 1 ? 0 : quotient(i - 1);
    first += varint_bytes(zigzag(static_cast<i64>(now)));
    second += varint_bytes(zigzag(static_cast<i64>(now - before)));
  }
  const u8 order = second < first ? kSecondOrder : kFirstOrder;
  out.byte(order);
  u64 before = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    const u64 now = quotient(i);
    out.varint(zigzag(static_cast<i64>(now - before)));
    if (order == kSecondOrder) before = now;
  }
}

bool decode_integers(ByteReader& in, std::span<i64> values) {
  if (values.empty()) return true;
  values[0] = unzigzag(in.varint());
  if (values.size() == 1) return in.ok();
  const u64 divisor = in.varint();
  if (divisor == 0) {
    std::ranges::fill(values, values[0]);
    return in.ok();
  }
  const u8 order = in.byte();
  if (order != kFirstOrder && order != kSecondOrder) return false;
  u64 quotient = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    const u64 part = bits(unzigzag(in.varint()));
    quotient = order == kSecondOrder ? quotient + part : part;
    values[i] = static_cast<i64>(bits(values[i - 1]) + quotient * divisor);
  }
  return in.ok();
}

void encode_reals(ByteWriter& out, std::span<const double> values) {
  if (values.empty()) return;
  const u8 power = decimal_power(values);
  out.byte(power);
  if (power == kXor) return encode_xor(out, values);
  std::vector<i64> digits(values.size());
  for (size_t i = 0; i < values.size(); ++i) is_decimal(values[i], power, digits[i]);
  encode_integers(out, digits);
}

bool decode_reals(ByteReader& in, std::span<double> values) {
  if (values.empty()) return true;
  const u8 power = in.byte();
  if (power == kXor) return decode_xor(in, values);
  if (power > kMostPower) return false;
  std::vector<i64> digits(values.size());
  if (!decode_integers(in, digits)) return false;
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(digits[i]) / kPowers[power];
  return true;
}

void encode_validity(ByteWriter& out, std::span<const u8> valid) {
  u8 now = 1;
  for (size_t i = 0; i < valid.size(); now ^= 1) {
    const size_t begin = i;
    while (i < valid.size() && valid[i] == now) ++i;
    out.varint(i - begin);
  }
}

bool decode_validity(ByteReader& in, std::span<u8> valid) {
  u8 now = 1;
  for (size_t i = 0; i < valid.size(); now ^= 1) {
    const u64 run = in.varint();
    if (!in.ok() || run > valid.size() - i) return false;
    std::fill_n(valid.begin() + static_cast<std::ptrdiff_t>(i), run, now);
    i += run;
  }
  return true;
}

}  // namespace spotter::store
