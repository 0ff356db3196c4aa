// Block: the events of one stretch of text as a scanner leaves them, in columns with the scanner's own ids.
// The pipeline appends blocks to the trace in file order and translates the ids (assemble.h).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/strings.h"
#include "base/types.h"
#include "trace/trace.h"

namespace spotter::read {

// Kinds have ids of 8 bits: in all, and of unknown categories.
inline constexpr size_t kMaxKinds = 255, kMaxOtherKinds = 200;

// A plain array that is not initialised on growth and is reused from block to block.
template <class T>
class Scratch {
 public:
  T* data() const { return data_.get(); }
  T& operator[](size_t i) const { return data_[i]; }
  size_t capacity() const { return capacity_; }
  void reserve(size_t n, size_t used) {
    if (n <= capacity_) return;
    const size_t grown = n + n / 2;
    std::unique_ptr<T[]> next(new T[grown]);
    for (size_t i = 0; i < used; i++) next[i] = data_[i];
    data_ = std::move(next);
    capacity_ = grown;
  }

 private:
  std::unique_ptr<T[]> data_;
  size_t capacity_ = 0;
};

// What went wrong or was mended, by count, with the text position of the first one.
struct Tally {
  i64 count = 0;
  const char* first = nullptr;
  void add(const char* at, i64 n = 1) {
    if (count == 0) first = at;
    count += n;
  }
};

// In place of an id for an argument, once all of the 16 bits are given out: it is not kept.
inline constexpr ArgId kNoArg = 0xffff;

struct Block {
  size_t events = 0, cell_count = 0;
  Scratch<Ns> ts, dur;
  Scratch<u32> name, track, first_cell, cells;
  Scratch<u16> shape;
  Scratch<u8> kind;

  // Ids that the scanner gave out for the first time in this block, in order.
  std::vector<std::string_view> new_strings;
  std::vector<Kind> new_kinds;
  std::vector<Track> new_tracks;
  std::vector<std::string> new_args;
  std::vector<Shape> new_shapes;

  // The events' own texts, where they are wanted: views of what was scanned.
  bool wants_texts = false;
  std::vector<std::string_view> texts;

  Tally damaged, repaired, negative_dur, sub_ns, bad_time, half_spans, no_category, not_finite, duplicate_key,
      args_left_out, kinds_left_out;

  void clear();
  void make_room(size_t more_events, size_t more_cells);
};

}  // namespace spotter::read
