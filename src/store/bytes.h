// Bytes written one after the other, and read back. The reader trusts nothing: what is not there reads as 0
// and makes ok() false for good, so that a caller may check once after a few reads, but before any loop or
// memory whose size it read.
#pragma once
#include <string>
#include <string_view>

#include "base/types.h"

namespace spotter::store {

// Small numbers of either sign as small numbers: 0, -1, 1, -2 are 0, 1, 2, 3.
inline u64 zigzag(i64 value) { return static_cast<u64>(value) << 1 ^ static_cast<u64>(value >> 63); }
inline i64 unzigzag(u64 code) { return static_cast<i64>(code >> 1 ^ (~(code & 1) + 1)); }

// Seven bits a byte, low ones first; all but the last have the highest bit set. At most 10 bytes.
inline size_t varint_bytes(u64 value) {
  return (static_cast<size_t>(64 - __builtin_clzll(value | 1)) + 6) / 7;
}

class ByteWriter {
 public:
  void byte(u8 value) { out_.push_back(static_cast<char>(value)); }
  void varint(u64 value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<u8>(value | 0x80));
    byte(static_cast<u8>(value));
  }
  void bytes(std::string_view bytes) { out_.append(bytes); }
  void text(std::string_view text) {
    varint(text.size());
    bytes(text);
  }
  const std::string& out() const { return out_; }
  void clear() { out_.clear(); }

 private:
  std::string out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view in) : in_(in) {}

  bool ok() const { return ok_; }
  bool at_end() const { return in_.empty(); }

  u8 byte() {
    if (in_.empty()) {
      ok_ = false;
      return 0;
    }
    const auto value = static_cast<u8>(in_.front());
    in_.remove_prefix(1);
    return value;
  }
  u64 varint() {
    u64 value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const u8 part = byte();
      value |= static_cast<u64>(part & 0x7F) << shift;
      if (part < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  std::string_view bytes(u64 count) {
    if (count > in_.size()) {
      ok_ = false;
      in_ = {};
      return {};
    }
    const std::string_view taken = in_.substr(0, count);
    in_.remove_prefix(count);
    return taken;
  }
  std::string_view text() { return bytes(varint()); }

 private:
  std::string_view in_;
  bool ok_ = true;
};

}  // namespace spotter::store
