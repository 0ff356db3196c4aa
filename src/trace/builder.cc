#include "trace/builder.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/result.h"

namespace spotter::trace {
namespace {

// The index of the element for which `same` holds; one that is made now if there is none.
template <class T, class Same>
size_t index_in(std::vector<T>& all, const T& wanted, Same same) {
  const auto it = std::find_if(all.begin(), all.end(), same);
  const size_t index = static_cast<size_t>(it - all.begin());
  if (it == all.end()) all.push_back(wanted);
  return index;
}

template <class T>
void append_cells(GrowingArray<u32>& cells, T value) {
  std::memcpy(cells.extend(sizeof value / sizeof(u32)), &value, sizeof value);
}

ArgType append_value(TraceData& data, const ArgValue& arg) {
  if (const auto* real = std::get_if<double>(&arg.value)) {
    append_cells(data.cells, *real);
    return ArgType::real;
  }
  if (const auto* text = std::get_if<std::string>(&arg.value)) {
    append_cells(data.cells, data.strings.intern(*text));
    return ArgType::text;
  }
  const i64 value = std::get<i64>(arg.value);
  if (value >= std::numeric_limits<i32>::min() && value <= std::numeric_limits<i32>::max()) {
    append_cells(data.cells, static_cast<i32>(value));
    return ArgType::int32;
  }
  append_cells(data.cells, value);
  return ArgType::int64;
}

// Appends the arguments' cells; gives the index of their shape.
size_t append_args(TraceData& data, std::initializer_list<ArgValue> args) {
  Shape shape;
  for (const ArgValue& arg : args) {
    const ArgType type = append_value(data, arg);
    shape.items.push_back({static_cast<ArgId>(arg.arg), type, static_cast<u16>(shape.cells)});
    shape.cells += cells_of(type);
  }
  const auto same_item = [](const Shape::Item& a, const Shape::Item& b) {
    return a.arg == b.arg && a.type == b.type;
  };
  return index_in(data.shapes, shape, [&](const Shape& other) {
    return std::equal(other.items.begin(), other.items.end(), shape.items.begin(), shape.items.end(),
                      same_item);
  });
}

}  // namespace

EventId TraceBuilder::add(char phase, bool is_span, std::string_view category, std::string_view name, i64 pid,
                          i64 tid, Ns ts, Ns dur, std::initializer_list<ArgValue> args) {
  const Kind kind{phase, category_of(category), data_.strings.intern(category), is_span};
  const Track track{pid, tid, 0, 0};
  const size_t kind_id = index_in(data_.kinds, kind, [&](const Kind& k) {
    return k.phase == phase && k.category_text == kind.category_text && k.is_span == is_span;
  });
  const size_t track_id =
      index_in(data_.tracks, track, [&](const Track& t) { return t.pid == pid && t.tid == tid; });
  CHECK(kind_id <= std::numeric_limits<u8>::max());

  const auto event = static_cast<EventId>(data_.ts.size());
  data_.ts.push_back(ts);
  data_.dur.push_back(dur);
  data_.name.push_back(data_.strings.intern(name));
  data_.track.push_back(static_cast<u32>(track_id));
  data_.kind.push_back(static_cast<u8>(kind_id));
  data_.first_cell.push_back(static_cast<u32>(data_.cells.size()));
  data_.shape.push_back(static_cast<u16>(append_args(data_, args)));
  return event;
}

EventId TraceBuilder::span(std::string_view category, std::string_view name, i64 pid, i64 tid, Ns ts, Ns dur,
                           std::initializer_list<ArgValue> args) {
  return add('X', true, category, name, pid, tid, ts, dur, args);
}

EventId TraceBuilder::mark(char phase, std::string_view category, std::string_view name, i64 pid, i64 tid,
                           Ns ts, std::initializer_list<ArgValue> args) {
  return add(phase, false, category, name, pid, tid, ts, 0, args);
}

TracePtr TraceBuilder::build() {
  data_.loaded = ArgSet::everything();
  return std::make_unique<Trace>(std::exchange(data_, TraceData()));
}

}  // namespace spotter::trace
