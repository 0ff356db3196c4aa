#include "read/plain_data/plain_data.h"

#include <algorithm>

namespace spotter::read {

Datum Datum::of_boolean(bool value) {
  Datum d = of_integer(value);
  d.kind_ = DataKind::boolean;
  return d;
}

Datum Datum::of_integer(i64 value) {
  Datum d;
  d.kind_ = DataKind::integer;
  d.number_ = value;
  return d;
}

Datum Datum::of_wide_integer(std::string_view digits) { return of_text(DataKind::integer, digits); }

Datum Datum::of_real(double value) {
  Datum d;
  d.kind_ = DataKind::real;
  d.real_ = value;
  return d;
}

Datum Datum::of_text(DataKind kind, std::string_view text) {
  Datum d;
  d.kind_ = kind;
  d.size_ = static_cast<u32>(text.size());
  d.start_ = text.data();
  return d;
}

std::optional<bool> Datum::boolean() const {
  return kind_ == DataKind::boolean ? std::optional(number_ != 0) : std::nullopt;
}

std::optional<i64> Datum::integer() const {
  return kind_ == DataKind::integer && size_ == 0 ? std::optional(number_) : std::nullopt;
}

std::optional<double> Datum::real() const {
  if (kind_ == DataKind::real) return real_;
  const std::optional<i64> whole = integer();
  return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

std::optional<std::string_view> Datum::text() const {
  return kind_ == DataKind::text ? std::optional(std::string_view(start_, size_)) : std::nullopt;
}

std::optional<std::string_view> Datum::bytes() const {
  return kind_ == DataKind::bytes ? std::optional(std::string_view(start_, size_)) : std::nullopt;
}

std::span<const Datum> Datum::elements() const {
  return has_elements() ? std::span<const Datum>(items_->elements) : std::span<const Datum>();
}

DataBuilder::DataBuilder(std::string input, const DataLimits& limits) : limits_(limits) {
  data_.input_ = std::make_unique<const std::string>(std::move(input));
}

std::string_view DataBuilder::keep(std::string text) { return data_.texts_.emplace_back(std::move(text)); }

Result<Datum> DataBuilder::container(DataKind kind) {
  if (data_.items_.size() >= limits_.containers)
    return fail(Code::unsupported, "it has more than {} lists, tuples and dictionaries", limits_.containers);
  Datum d;
  d.kind_ = kind;
  d.items_ = &data_.items_.emplace_back();
  return d;
}

Result<void> DataBuilder::append(const Datum& container, std::span<const Datum> elements) {
  DataItems& items = *container.items_;
  for (const Datum& element : elements) {
    if (!element.has_elements()) continue;
    element.items_->is_element = true;
    items.height = std::max(items.height, element.items_->height + 1);
  }
  if (items.is_element)
    return fail(Code::unsupported, "something grows that is part of something else already, or of itself");
  if (items.height > limits_.height)
    return fail(Code::unsupported, "it is nested deeper than {} levels", limits_.height);
  items.elements.insert(items.elements.end(), elements.begin(), elements.end());
  return {};
}

Result<void> DataBuilder::count() {
  if (++values_ > limits_.values)
    return fail(Code::unsupported, "it has more than {} values", limits_.values);
  return {};
}

PlainData DataBuilder::finish(const Datum& root, size_t bytes_used) {
  data_.root_ = root;
  data_.bytes_used_ = bytes_used;
  return std::move(data_);
}

}  // namespace spotter::read
