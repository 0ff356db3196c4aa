// Plain data: what a Python pickle or a JSON text holds, as a tree that can only be looked at: nothing of it
// is ever an object, and nothing is run. Parts that several places share are there once, so that a walk over
// all paths may be far longer than the file: who converts it goes by its schema, and counts.
//
// Built once by a reader (pickle.h, json_data.h), then constant. Texts lie in the input, which PlainData
// owns.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace spotter::read {

enum class DataKind : u8 { none, boolean, integer, real, text, bytes, list, tuple, dict, set };

struct DataItems;

// A value, or a reference to what has elements. Valid as long as its PlainData lives.
class Datum {
 public:
  Datum() = default;  // none
  static Datum of_boolean(bool value);
  static Datum of_integer(i64 value);
  // An integer of more than 64 bits: little-endian, two's complement.
  static Datum of_wide_integer(std::string_view digits);
  static Datum of_real(double value);
  static Datum of_text(DataKind kind, std::string_view text);  // text or bytes

  DataKind kind() const { return kind_; }
  bool is_none() const { return kind_ == DataKind::none; }
  std::optional<bool> boolean() const;
  std::optional<i64> integer() const;            // nullopt also where 64 bits are too few
  std::optional<double> real() const;            // of an integer, too
  std::optional<std::string_view> text() const;  // as written: it need not be valid UTF-8
  std::optional<std::string_view> bytes() const;
  // Of a list, tuple or set; of a dict its keys and values in turn. Else empty.
  std::span<const Datum> elements() const;

 private:
  friend class DataBuilder;
  bool has_elements() const { return kind_ >= DataKind::list; }

  DataKind kind_ = DataKind::none;
  u32 size_ = 0;  // of a text, bytes and a wide integer
  union {
    i64 number_ = 0;
    double real_;
    const char* start_;
    DataItems* items_;
  };
};

struct DataItems {
  std::vector<Datum> elements;
  u32 height = 1;  // of the tree below it
  bool is_element = false;
};

class PlainData {
 public:
  const Datum& root() const { return root_; }
  size_t bytes_used() const { return bytes_used_; }  // of the input: what follows is not part of it
  size_t size() const { return input_->size(); }

 private:
  friend class DataBuilder;
  std::unique_ptr<const std::string> input_;
  std::deque<std::string> texts_;  // that do not stand in the input as they are
  std::deque<DataItems> items_;
  Datum root_;
  size_t bytes_used_ = 0;
};

struct DataLimits {
  size_t values = 16'000'000;
  size_t containers = 4'000'000;
  u32 height = 64;
};

// Makes PlainData, and sees to it that it is a tree but for shared parts. What has become an element may not
// grow any more: so nothing can come to contain itself, and each height is known at once.
class DataBuilder {
 public:
  DataBuilder(std::string input, const DataLimits& limits);

  std::string_view input() const { return *data_.input_; }
  std::string_view keep(std::string text);  // a text of its own
  // The errors say what is wrong, not where.
  Result<Datum> container(DataKind kind);
  Result<void> append(const Datum& container, std::span<const Datum> elements);
  Result<void> count();  // one more value
  PlainData finish(const Datum& root, size_t bytes_used);

 private:
  PlainData data_;
  DataLimits limits_;
  size_t values_ = 0;
};

}  // namespace spotter::read
