#include "sink/protobuf.h"

namespace spotter::sink {

bool ProtobufReader::varint(u64& value) {
  value = 0;
  for (u32 shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const u8 digit = static_cast<u8>(rest_.front());
    rest_.remove_prefix(1);
    value |= u64{digit & 0x7fu} << shift;
    if (digit < 0x80) return true;
  }
  return false;
}

bool ProtobufReader::next() {
  if (rest_.empty() || is_broken) return false;
  u64 tag = 0;
  if (!varint(tag) || tag >> 3 == 0 || tag >> 32 != 0) return broken();
  field = static_cast<u32>(tag >> 3);
  integer = 0;
  text = {};
  u64 length = 0;
  switch (tag & 7) {
    case 0:
      return varint(integer) || broken();
    case 1:
    case 5:
      length = (tag & 7) == 1 ? 8 : 4;
      if (rest_.size() < length) return broken();
      for (size_t i = 0; i < length; ++i) integer |= u64{static_cast<u8>(rest_[i])} << (8 * i);
      break;
    case 2:
      if (!varint(length) || rest_.size() < length) return broken();
      text = rest_.substr(0, length);
      break;
    default:
      return broken();  // groups, which nobody writes any more
  }
  rest_.remove_prefix(length);
  return true;
}

}  // namespace spotter::sink
