#include "read/assemble.h"

#include <algorithm>
#include <tuple>

#include "base/text/utf8.h"
#include "trace/load.h"

namespace spotter::read {
namespace {

// The ids of a map, or of the scanner itself where both are the same numbers.
template <class To, class From>
void translate(To* out, const From* in, size_t n, const std::vector<To>& map) {
  for (size_t i = 0; i < n; i++) out[i] = map[in[i]];
}

template <class T>
void copy(GrowingArray<T>& out, const Scratch<T>& in, size_t n) {
  out.append({in.data(), n});
}

constexpr size_t kMaxShapes = 65'535;

// Durations are counted in units of 2^24 ns, rounded up, so that the count itself cannot overflow.
constexpr int kUnitBits = 24;
constexpr u64 kMaxUnits = u64{1} << (62 - kUnitBits);
u64 units_of(Ns duration) { return (static_cast<u64>(duration) >> kUnitBits) + 1; }

}  // namespace

// Shape 0 is the empty list: it also stands for lists that found no id.
Assembler::Assembler(size_t scanners, size_t most_texts)
    : most_texts_(most_texts),
      texts_left_out_(fmt::format(
          "names or texts are beyond the {} that the memory allows to tell apart, and count as one, "
          "\"{}\"; --memory allows more",
          most_texts, kTextLeftOut)),
      maps_(scanners),
      text_cells_(1) {
  data.shapes.emplace_back();
  shapes_.emplace(std::vector<Shape::Item>{}, u16{0});
}

bool Assembler::ShapeKey::operator()(const std::vector<Shape::Item>& a,
                                     const std::vector<Shape::Item>& b) const {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return std::tie(x.arg, x.type, x.cell) < std::tie(y.arg, y.type, y.cell);
      });
}

StringId Assembler::intern(std::string_view text) {
  if (data.strings.size() >= most_texts_ && data.strings.find(text) == kNone) {
    data.notes.add("texts_left_out", Severity::loss, texts_left_out_);
    return data.strings.intern(kTextLeftOut);
  }
  if (is_valid_utf8(text)) return data.strings.intern(text);
  const auto [it, is_new] = mended_.try_emplace(std::string(text));
  if (!is_new) return it->second;  // of another scanner
  data.notes.add("invalid_utf8", Severity::repair,
                 "distinct texts were no valid UTF-8; the bad bytes are shown as U+FFFD");
  return it->second = data.strings.intern(to_valid_utf8(text));
}

ArgId Assembler::arg_of(const std::string& name) {
  if (const auto it = args_.find(name); it != args_.end()) return it->second;
  const size_t id = kKnownArgs + data.other_args.size();
  if (id >= kNoArg) {
    data.notes.add("arguments_left_out", Severity::loss, "arguments had more names than are told apart");
    return kNoArg;
  }
  data.other_args.push_back(to_valid_utf8(name));
  return args_[name] = static_cast<ArgId>(id);
}

u16 Assembler::shape_of(const Map& map, const Shape& shape) {
  Shape mapped = shape;
  for (Shape::Item& item : mapped.items) {
    if (item.arg >= kKnownArgs) item.arg = map.args[item.arg - kKnownArgs];
  }
  std::erase_if(mapped.items, [](const Shape::Item& item) { return item.arg == kNoArg; });
  const auto [it, is_new] = shapes_.try_emplace(mapped.items, static_cast<u16>(data.shapes.size()));
  if (!is_new) return it->second;
  if (data.shapes.size() == kMaxShapes) {
    it->second = 0;
    data.notes.add("arguments_left_out", Severity::loss, "argument lists had more forms than are told apart");
    return 0;
  }
  std::vector<u16>& cells = text_cells_.emplace_back();
  for (const Shape::Item& item : mapped.items) {
    if (item.type == ArgType::text || item.type == ArgType::json) cells.push_back(item.cell);
  }
  data.shapes.push_back(std::move(mapped));
  return it->second;
}

// Like Forms::kind_of: unknown categories beyond the limit share one kind.
u8 Assembler::kind_of(Kind kind, StringId category) {
  kind.category_text = category;
  const bool full = data.kinds.size() >= (kind.category == Category::other ? kMaxOtherKinds : kMaxKinds - 2);
  if (full && !kinds_.contains({kind.phase, category, kind.is_span}))
    kind = {'X', Category::other, 0, kind.is_span};
  const auto [it, is_new] =
      kinds_.try_emplace({kind.phase, kind.category_text, kind.is_span}, static_cast<u8>(data.kinds.size()));
  if (is_new) data.kinds.push_back(kind);
  return it->second;
}

void Assembler::learn(Map& map, const Block& block) {
  for (std::string_view text : block.new_strings) map.strings.push_back(intern(text));
  for (const Kind& k : block.new_kinds) map.kinds.push_back(kind_of(k, map.strings[k.category_text]));
  for (const Track& t : block.new_tracks) {
    const Track mapped{t.pid, t.tid, map.strings[t.pid_text], map.strings[t.tid_text]};
    const auto [it, is_new] = tracks_.try_emplace({mapped.pid, mapped.tid, mapped.pid_text, mapped.tid_text},
                                                  static_cast<u32>(data.tracks.size()));
    if (is_new) data.tracks.push_back(mapped);
    map.tracks.push_back(it->second);
  }
  for (const std::string& name : block.new_args) map.args.push_back(arg_of(name));
  for (const Shape& shape : block.new_shapes) map.shapes.push_back(shape_of(map, shape));
}

Result<void> Assembler::append(size_t scanner, const Block& block, const char* text, i64 offset) {
  Map& map = maps_[scanner];
  learn(map, block);
  note(block, text, offset);
  const size_t n = block.events;
  if (n == 0) return {};
  if (data.ts.size() + n >= kNone || data.cells.size() + block.cell_count >= kNone) {
    return fail(Code::invalid,
                "the trace has more than 4 billion events or arguments; record a shorter window");
  }
  const u32 first_row = static_cast<u32>(data.ts.size());
  const u32 first_cell = static_cast<u32>(data.cells.size());
  copy(data.ts, block.ts, n);
  copy(data.dur, block.dur, n);
  limit_durations({data.dur.data() + first_row, n});
  copy(data.cells, block.cells, block.cell_count);
  translate(data.name.extend(n), block.name.data(), n, map.strings);
  translate(data.track.extend(n), block.track.data(), n, map.tracks);
  translate(data.kind.extend(n), block.kind.data(), n, map.kinds);
  translate(data.shape.extend(n), block.shape.data(), n, map.shapes);
  u32* const first = data.first_cell.extend(n);
  for (size_t i = 0; i < n; i++) first[i] = first_cell + block.first_cell[i];
  for (size_t i = 0; i < n; i++) {
    for (const u16 cell : text_cells_[data.shape[first_row + i]]) {
      u32& id = data.cells[first[i] + cell];
      id = map.strings[id];
    }
  }
  return {};
}

// All durations of a trace together stay below 2^62 ns, 146 years, so that whoever adds them up need not look
// for an overflow.
void Assembler::limit_durations(std::span<Ns> durations) {
  u64 units = 0;
  for (const Ns d : durations) units += units_of(d);
  if (duration_units_ + units <= kMaxUnits) {
    duration_units_ += units;
    return;
  }
  i64 dropped = 0;
  for (Ns& d : durations) {
    if (duration_units_ + units_of(d) > kMaxUnits) {
      d = 0;
      ++dropped;
    } else {
      duration_units_ += units_of(d);
    }
  }
  data.notes.add("overlong_durations", Severity::loss,
                 "durations were taken as 0, since those of the trace add up to more than 146 years", -1,
                 dropped);
}

void Assembler::note(const Block& block, const char* text, i64 offset) {
  const auto add = [&](const Tally& tally, const char* kind, Severity severity, const char* sentence) {
    if (tally.count) data.notes.add(kind, severity, sentence, offset + (tally.first - text), tally.count);
  };
  add(block.damaged, "damaged_event", Severity::loss, "events were damaged and left out");
  add(block.bad_time, "bad_time", Severity::loss,
      "events have no start or no duration, or one that is no number; they count in no time");
  add(block.half_spans, "half_spans", Severity::loss,
      "events are the begin or the end of a span (phases B and E), which are not put together; they count in "
      "no time");
  add(block.no_category, "no_category", Severity::loss,
      "spans have no category, so that it is not known what they are; they count in no time");
  add(block.args_left_out, "arguments_left_out", Severity::loss,
      "events have more arguments, or more forms of argument lists, than are kept");
  add(block.kinds_left_out, "kinds_left_out", Severity::loss,
      "events are of more categories than are told apart");
  add(block.repaired, "repaired_member", Severity::repair,
      "places were mended (a missing value, a comma too many, a stray character, a time in quotes)");
  add(block.negative_dur, "negative_duration", Severity::repair, "negative durations were taken as 0");
  add(block.duplicate_key, "duplicate_key", Severity::repair,
      "members occur twice in one event; the last one counts");
  add(block.sub_ns, "sub_ns", Severity::info, "times have digits below one nanosecond and were rounded");
  add(block.not_finite, "not_finite", Severity::info, "arguments are NaN or infinite and kept as text");
}

}  // namespace spotter::read
