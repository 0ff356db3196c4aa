// GrowingArray<T>: an append-only array of trivial values that never moves. It reserves address space for
// `limit` elements and makes pages usable as it grows, so that there is no copy on growth and pointers stay
// valid; memory is taken only for what is used, and goes to the next array where one ends. One writer;
// readers of finished elements need no lock.
#pragma once
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "base/types.h"

namespace spotter {

// The untyped part: a reserved address range of which the first `usable` bytes may be touched. They hold what
// an array before left there, unless all are `zeroed`.
class Reservation {
 public:
  Reservation() = default;
  explicit Reservation(
      size_t limit_bytes);  // where the system refuses that much address space: what it grants
  ~Reservation();
  Reservation(Reservation&& other) noexcept { *this = std::move(other); }
  Reservation& operator=(Reservation&& other) noexcept;

  char* data() const { return data_; }
  size_t usable() const { return usable_; }
  bool zeroed() const { return zeroed_; }
  void make_usable(size_t bytes);  // at least; ends the process beyond the limit or where memory is refused

 private:
  char* data_ = nullptr;
  size_t limit_ = 0, usable_ = 0;
  bool zeroed_ = true;
};

// Gives back what arrays that ended left for the next ones. Any thread.
void free_spare_arrays();

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowingArray() = default;
  explicit GrowingArray(size_t limit) : memory_(limit * sizeof(T)) {}
  GrowingArray(GrowingArray&& other) noexcept { *this = std::move(other); }
  GrowingArray& operator=(GrowingArray&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  size_t size() const { return size_; }
  T* data() const { return reinterpret_cast<T*>(memory_.data()); }
  T& operator[](size_t i) const { return data()[i]; }
  std::span<const T> span() const { return {data(), size_}; }

  // Appends n elements and returns the first of them; what they hold is not defined.
  T* extend(size_t n) {
    const size_t bytes = (size_ + n) * sizeof(T);
    if (bytes > memory_.usable()) memory_.make_usable(bytes);
    T* first = data() + size_;
    size_ += n;
    return first;
  }
  T* extend_zeroed(size_t n) {
    T* first = extend(n);
    if (!memory_.zeroed()) std::memset(first, 0, n * sizeof(T));
    return first;
  }
  void push_back(T value) { *extend(1) = value; }
  void append(std::span<const T> values) {
    if (!values.empty()) std::memcpy(extend(values.size()), values.data(), values.size_bytes());
  }

 private:
  Reservation memory_;
  size_t size_ = 0;
};

}  // namespace spotter
