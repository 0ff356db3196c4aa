// Trace: the events of one process in columns. One row per element of `traceEvents`, in file order, so that a
// row number (EventId) is the position in the file's array. Filled once by a reader (TraceData), frozen, then
// constant: any number of threads may read it. Things derived from it (tracks, nesting, launch links, device
// work, steps) are computed on first use by the files beside this one, so an analysis that needs none of them
// pays for none.
//
// Here a row is an event, a Track is a line of the timeline (a thread or a stream), a Kind is what events of
// one form share, and an argument is a member of an event's "args".
//
// Units: ts and dur are ns. ts is relative to base_ns (add it for Unix time). A negative dur is stored as 0
// and noted.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/growing_array.h"
#include "base/notes.h"
#include "base/text/strings.h"
#include "base/types.h"
#include "trace/args.h"
#include "trace/category.h"

namespace spotter {

using EventId = u32;
inline constexpr size_t kMaxEvents = size_t{1} << 32;

// Base, start and duration of an event are each at most this, 95 years, so that their sum fits in 64 bits.
inline constexpr Ns kMaxTime = 3'000'000'000'000'000'000;

// What all events of one form have in common. A trace has a few dozen.
struct Kind {
  char phase = 'X';  // the "ph" letter; 'X' where it is absent
  Category category = Category::none;
  StringId category_text = 0;  // as written
  bool is_span = false;        // phase X with numeric ts and dur and a category
};

// A line of the timeline: a host thread, or a stream of a device. Ids that are decimal text are numbers here
// too.
struct Track {
  i64 pid = 0, tid = 0;
  StringId pid_text = 0, tid_text = 0;  // not 0 where the id is text that is no number ("Spans", "stream 7");
                                        // then the number is the one at the end of the text, or 0
};

// What the cells of an argument hold: the number itself in the machine's byte order (int64 and real in two
// cells), or a StringId (text, json).
enum class ArgType : u8 { int32, int64, real, text, json, null, yes, no };
// json: raw JSON text of a list, an object, an integer beyond 64 bits or a token such as NaN.
inline constexpr u32 cells_of(ArgType t) {
  constexpr u32 cells[] = {1, 2, 2, 1, 1, 0, 0, 0};
  return cells[static_cast<size_t>(t)];
}

// The ordered argument list that some events share: which argument, of which type, at which cell.
struct Shape {
  struct Item {
    ArgId arg;
    ArgType type;
    u16 cell;  // offset from the event's first cell
  };
  std::vector<Item> items;
  u32 cells = 0;
};

struct Device {
  i64 id = 0;
  std::string name;
  i64 memory_bytes = 0, sm_count = 0;  // 0: not told
  // CUDA's compute capability, or AMD's gfx version.
  std::optional<i64> compute_major = {}, compute_minor = {};
};

// What a file says about itself outside the events.
struct TraceInfo {
  std::string path;                     // "-" for standard input
  i64 base_ns = 0;                      // baseTimeNanoseconds
  std::optional<i64> rank, world_size;  // distributedInfo
  std::string backend, nccl_version, host_name, trace_name, trace_id;
  std::vector<Device> devices;  // all visible ones, used or not
  std::vector<std::pair<std::string, std::string>>
      metadata;                        // every top-level member but traceEvents: key, raw JSON
  i64 json_bytes = 0, file_bytes = 0;  // uncompressed, as stored
};

// The columns as a reader fills them; see Trace for their meaning.
struct TraceData {
  explicit TraceData(size_t max_events = kMaxEvents);
  GrowingArray<Ns> ts, dur;
  GrowingArray<StringId> name;
  GrowingArray<u32> track, first_cell, cells;
  GrowingArray<u16> shape;
  GrowingArray<u8> kind;
  std::vector<Kind> kinds;
  std::vector<Track> tracks;
  std::vector<Shape> shapes;
  std::vector<std::string> other_args;  // names of ArgIds from kKnownArgs on
  Strings strings;
  ArgSet loaded;  // which arguments were kept
  TraceInfo info;
  Notes notes;
};

// Computed once, on first use, by whichever thread comes first.
template <class T>
class Lazy {
 public:
  template <class F>
  const T& get(F&& compute) const {
    std::call_once(once_, [&] { value_ = std::make_unique<T>(compute()); });
    return *value_;
  }

 private:
  mutable std::once_flag once_;
  mutable std::unique_ptr<T> value_;
};

namespace trace {  // what is derived
struct TrackNames;
struct LaunchLinks;
struct DeviceWork;
struct Nesting;
struct Steps;
}  // namespace trace

class Trace {
 public:
  explicit Trace(TraceData data);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Columns, one element per event.
  std::span<const Ns> ts, dur;     // 0 where the event has none
  std::span<const StringId> name;  // 0 where it has none
  std::span<const u32> track;      // index into tracks()
  std::span<const u8> kind;        // index into kinds()

  u32 size() const { return static_cast<u32>(ts.size()); }
  Ns end(EventId e) const { return ts[e] + dur[e]; }
  const Kind& kind_of(EventId e) const { return data_.kinds[kind[e]]; }
  Category category(EventId e) const { return kind_of(e).category; }
  bool is_span(EventId e) const { return kind_of(e).is_span; }
  std::string_view name_of(EventId e) const { return data_.strings[name[e]]; }

  const std::vector<Kind>& kinds() const { return data_.kinds; }
  const std::vector<Track>& tracks() const { return data_.tracks; }
  const Strings& strings() const { return data_.strings; }
  const TraceInfo& info() const { return data_.info; }
  const Notes& notes() const { return data_.notes; }
  const ArgSet& loaded() const { return data_.loaded; }

  // Arguments. The argument must have been loaded (CHECK). integer() and real() also read decimal text ("7"),
  // as some writers quote numbers; true and false are 1 and 0. nullopt where the event has no such argument
  // or it is not a number of that kind: for integer() a whole one of 64 bits, for real() a finite one.
  std::optional<i64> integer(EventId e, Arg arg) const;
  std::optional<double> real(EventId e, Arg arg) const;
  std::optional<std::string_view> text(EventId e, Arg arg) const;  // text and json as stored
  std::optional<StringId> text_id(EventId e, Arg arg) const;       // the same, in strings()
  bool has(EventId e, Arg arg) const { return find(e, arg) != nullptr; }
  const Shape& shape_of(EventId e) const { return data_.shapes[data_.shape[e]]; }
  std::string_view arg_name(ArgId id) const;  // the spelling that is written today
  // Any argument of shape_of(e).items as text: numbers in decimal.
  std::string arg_text(EventId e, const Shape::Item& item) const;

  // Derived, each defined in the header of its name in this folder.
  const trace::TrackNames& track_names() const;
  const trace::LaunchLinks& links() const;
  const trace::DeviceWork& device_work() const;
  const trace::Nesting& nesting() const;
  const trace::Steps& steps() const;

  // The data of some of the rows (ascending), with everything else as it is here. Row numbers change.
  TraceData copy(std::span<const EventId> keep) const;
  // A trace of them, with these steps.
  std::unique_ptr<Trace> rows(std::span<const EventId> keep, trace::Steps steps) const;

  size_t memory_bytes() const;  // columns and strings

 private:
  static constexpr u16 kNoSlot = 0xffff;
  u16 slot(EventId e, Arg arg) const {
    return slots_[data_.shape[e] * kKnownArgs + static_cast<size_t>(arg)];
  }
  const Shape::Item* find(EventId e, Arg arg) const;
  const u32* cell_of(EventId e, const Shape::Item& item) const {
    return data_.cells.data() + data_.first_cell[e] + item.cell;
  }

  TraceData data_;
  std::vector<u16> slots_;  // [shape][Arg] -> index into Shape::items, or kNoSlot
  Lazy<trace::TrackNames> track_names_;
  Lazy<trace::LaunchLinks> links_;
  Lazy<trace::DeviceWork> device_work_;
  Lazy<trace::Nesting> nesting_;
  Lazy<trace::Steps> steps_;
};

using TracePtr = std::unique_ptr<Trace>;

}  // namespace spotter
