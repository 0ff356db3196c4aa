#include "trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/result.h"
#include "base/text/number.h"
#include "trace/device_work.h"
#include "trace/links.h"
#include "trace/nesting.h"
#include "trace/steps.h"
#include "trace/track_names.h"

namespace spotter {
namespace {

template <class T>
T load(const u32* cell) {
  T value;
  std::memcpy(&value, cell, sizeof value);
  return value;
}

std::optional<double> finite(std::optional<double> value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// A real that is a whole number of 64 bits.
std::optional<i64> whole(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (!(value >= -kLimit && value < kLimit) || value != std::trunc(value)) return std::nullopt;
  return static_cast<i64>(value);
}

std::vector<u16> slots_of(const std::vector<Shape>& shapes, u16 none) {
  std::vector<u16> slots(shapes.size() * kKnownArgs, none);
  for (size_t s = 0; s < shapes.size(); ++s) {
    const auto& items = shapes[s].items;
    for (size_t i = 0; i < items.size() && i < none; ++i)  // of an argument given twice the last one counts
      if (items[i].arg < kKnownArgs) slots[s * kKnownArgs + items[i].arg] = static_cast<u16>(i);
  }
  return slots;
}

}  // namespace

TraceData::TraceData(size_t max_events)
    : ts(max_events),
      dur(max_events),
      name(max_events),
      track(max_events),
      first_cell(max_events),
      cells(kMaxEvents),  // first_cell is 32 bits wide, too
      shape(max_events),
      kind(max_events) {}

Trace::Trace(TraceData data) : data_(std::move(data)), slots_(slots_of(data_.shapes, kNoSlot)) {
  ts = data_.ts.span();
  dur = data_.dur.span();
  name = data_.name.span();
  track = data_.track.span();
  kind = data_.kind.span();
}

Trace::~Trace() = default;

const Shape::Item* Trace::find(EventId e, Arg arg) const {
  CHECK(data_.loaded.has(arg));
  const u16 i = slot(e, arg);
  return i == kNoSlot ? nullptr : &shape_of(e).items[i];
}

std::optional<i64> Trace::integer(EventId e, Arg arg) const {
  const Shape::Item* item = find(e, arg);
  if (!item) return std::nullopt;
  const u32* cell = cell_of(e, *item);
  switch (item->type) {
    case ArgType::int32:
      return load<i32>(cell);
    case ArgType::int64:
      return load<i64>(cell);
    case ArgType::real:
      return whole(load<double>(cell));
    case ArgType::text:
      return number_in<i64>(data_.strings[*cell]);
    case ArgType::json:
    case ArgType::null:
      return std::nullopt;
    case ArgType::yes:
      return 1;
    case ArgType::no:
      return 0;
  }
  return std::nullopt;
}

std::optional<double> Trace::real(EventId e, Arg arg) const {
  const Shape::Item* item = find(e, arg);
  if (!item) return std::nullopt;
  const u32* cell = cell_of(e, *item);
  switch (item->type) {
    case ArgType::real:
      return finite(load<double>(cell));
    case ArgType::text:
    case ArgType::json:
      return finite(number_in<double>(data_.strings[*cell]));
    default:
      break;
  }
  const std::optional<i64> value = integer(e, arg);
  return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

std::optional<StringId> Trace::text_id(EventId e, Arg arg) const {
  const Shape::Item* item = find(e, arg);
  if (!item || (item->type != ArgType::text && item->type != ArgType::json)) return std::nullopt;
  return *cell_of(e, *item);
}

std::optional<std::string_view> Trace::text(EventId e, Arg arg) const {
  const std::optional<StringId> id = text_id(e, arg);
  return id ? std::optional(data_.strings[*id]) : std::nullopt;
}

std::string_view Trace::arg_name(ArgId id) const {
  if (id >= kKnownArgs) return data_.other_args[id - kKnownArgs];
  const auto spellings = arg_spellings();  // today's spelling comes first
  const auto it = std::find_if(spellings.begin(), spellings.end(),
                               [&](const ArgSpelling& s) { return s.arg == static_cast<Arg>(id); });
  CHECK(it != spellings.end());
  return it->key;
}

std::string Trace::arg_text(EventId e, const Shape::Item& item) const {
  const u32* cell = cell_of(e, item);
  switch (item.type) {
    case ArgType::int32:
      return fmt::format("{}", load<i32>(cell));
    case ArgType::int64:
      return fmt::format("{}", load<i64>(cell));
    case ArgType::real:
      return fmt::format("{}", load<double>(cell));
    case ArgType::text:
    case ArgType::json:
      return std::string(data_.strings[*cell]);
    case ArgType::null:
      return "null";
    case ArgType::yes:
      return "true";
    case ArgType::no:
      return "false";
  }
  return {};
}

TraceData Trace::copy(std::span<const EventId> keep) const {
  TraceData out(keep.size());
  out.kinds = data_.kinds;
  out.tracks = data_.tracks;
  out.shapes = data_.shapes;
  out.other_args = data_.other_args;
  for (StringId id = 0; id < data_.strings.size(); ++id) out.strings.intern(data_.strings[id]);  // same ids
  out.loaded = data_.loaded;
  out.info = data_.info;
  out.notes = data_.notes;

  const auto take = [&]<class T>(GrowingArray<T>& to, const GrowingArray<T>& from) {
    T* cell = to.extend(keep.size());
    for (const EventId e : keep) *cell++ = from[e];
  };
  take(out.ts, data_.ts);
  take(out.dur, data_.dur);
  take(out.name, data_.name);
  take(out.track, data_.track);
  take(out.shape, data_.shape);
  take(out.kind, data_.kind);
  for (const EventId e : keep) {
    out.first_cell.push_back(static_cast<u32>(out.cells.size()));
    out.cells.append({data_.cells.data() + data_.first_cell[e], shape_of(e).cells});
  }
  return out;
}

std::unique_ptr<Trace> Trace::rows(std::span<const EventId> keep, trace::Steps steps) const {
  auto trace = std::make_unique<Trace>(copy(keep));
  trace->steps_.get([&] { return std::move(steps); });
  return trace;
}

size_t Trace::memory_bytes() const {
  const auto bytes = [](const auto&... columns) { return (columns.span().size_bytes() + ...); };
  return data_.strings.memory_bytes() + bytes(data_.ts, data_.dur, data_.name, data_.track, data_.first_cell,
                                              data_.cells, data_.shape, data_.kind);
}

}  // namespace spotter
