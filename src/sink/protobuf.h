// ProtobufWriter: messages of Protocol Buffers, field by field, as protobuf.dev/programming-guides/encoding
// says. A number that is 0 and a text that is empty are written, too: whoever leaves out a default does so
// himself.
#pragma once
#include <bit>
#include <string>
#include <string_view>

#include "base/types.h"

namespace spotter::sink {

class ProtobufWriter {
 public:
  void integer(u32 field, u64 value) {
    tag(field, kVarint);
    varint(out_.size(), value);
  }
  void flag(u32 field, bool value) { integer(field, value); }
  void fixed(u32 field, u64 value) {
    tag(field, kFixed64);
    for (int shift = 0; shift < 64; shift += 8) out_ += static_cast<char>(value >> shift);
  }
  void real(u32 field, double value) { fixed(field, std::bit_cast<u64>(value)); }
  void text(u32 field, std::string_view value) {
    tag(field, kLength);
    varint(out_.size(), value.size());
    out_ += value;
  }
  // `write` writes the fields of the message, with this writer.
  template <class F>
  void message(u32 field, F&& write) {
    tag(field, kLength);
    const size_t begin = out_.size();
    write();
    varint(begin, out_.size() - begin);
  }
  void append(std::string_view fields) { out_ += fields; }  // that another writer has written

  const std::string& bytes() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  enum Wire : u32 { kVarint = 0, kFixed64 = 1, kLength = 2 };

  void tag(u32 field, Wire wire) { varint(out_.size(), field << 3 | wire); }
  void varint(size_t at, u64 value) {
    char digits[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7) digits[count++] = static_cast<char>(value | 0x80);
    digits[count++] = static_cast<char>(value);
    out_.insert(at, digits, count);
  }

  std::string out_;
};

// Reads the fields of a message, one after the other. Bytes that are no message end it early, with is_broken.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view bytes) : rest_(bytes) {}

  // False: there is none left. A number is in `integer`, a text or message in `text`.
  bool next();
  u32 field = 0;
  u64 integer = 0;
  std::string_view text;
  bool is_broken = false;

 private:
  bool varint(u64& value);
  bool broken() { return !(is_broken = true); }
  std::string_view rest_;
};

}  // namespace spotter::sink
