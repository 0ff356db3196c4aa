// The values of one column of one entity over the times of a block, as bytes. Exact for all values: extremes
// of i64, both zeros, infinities, every not-a-number.
//
// Integers are differences of the first or second order, whichever is shorter, divided by their greatest
// common divisor (a kernel that counts ticks or pages makes multiples), as zigzag varints; a constant is its
// value and a 0. Reals that are short decimals are integers times a power of ten; others are the bytes in
// which they differ from the one before.
#pragma once
#include <span>

#include "store/bytes.h"

namespace spotter::store {

void encode_integers(ByteWriter& out, std::span<const i64> values);
// As many as `values` has room for. False: the bytes are damaged.
bool decode_integers(ByteReader& in, std::span<i64> values);

void encode_reals(ByteWriter& out, std::span<const double> values);
bool decode_reals(ByteReader& in, std::span<double> values);

// Which cells have a value (1) and which are null (0): lengths of runs, the first of values.
void encode_validity(ByteWriter& out, std::span<const u8> valid);
bool decode_validity(ByteReader& in, std::span<u8> valid);

}  // namespace spotter::store
