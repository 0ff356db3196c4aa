// Text: a buffer that grows at its end, for millions of events per second.
#pragma once
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace spotter::simulate {

class Text {
 public:
  std::string_view view() const { return {buffer_.data(), size_}; }
  size_t size() const { return size_; }
  void clear() { size_ = 0; }

  Text& operator<<(std::string_view text) {
    std::memcpy(room(text.size()), text.data(), text.size());
    size_ += text.size();
    return *this;
  }
  Text& operator<<(i64 number) {
    char* begin = room(20);
    size_ += static_cast<size_t>(std::to_chars(begin, begin + 20, number).ptr - begin);
    return *this;
  }
  // Microseconds with three decimals.
  Text& us(Ns ns) {
    *this << ns / 1000;
    char* to = room(4);
    const auto rest = static_cast<int>(ns % 1000);
    to[0] = '.';
    to[1] = static_cast<char>('0' + rest / 100);
    to[2] = static_cast<char>('0' + rest / 10 % 10);
    to[3] = static_cast<char>('0' + rest % 10);
    size_ += 4;
    return *this;
  }

 private:
  char* room(size_t bytes) {
    if (buffer_.size() - size_ < bytes) buffer_.resize(2 * (buffer_.size() + bytes));
    return buffer_.data() + size_;
  }

  std::vector<char> buffer_;
  size_t size_ = 0;
};

}  // namespace spotter::simulate
