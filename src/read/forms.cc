#include "read/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "read/json.h"

namespace spotter {
namespace {

constexpr size_t kMaxEdges = 16'384;  // beyond it, forms are parsed plainly each time
constexpr u16 kSaturated = 24;        // edges at one place
constexpr u32 kCut = 96;              // a literal this long is cut at the next member
constexpr size_t kMaxConstantText = 64;
constexpr u16 kMaxItems = 250;  // arguments of one event (Trace addresses them in 8 bits)
constexpr size_t kMaxShapes = 65'000, kMaxPaths = 1'000'000;
constexpr size_t kMaxKinds = 255;

ArgType integer_type(i64 value) { return value == static_cast<i32>(value) ? ArgType::int32 : ArgType::int64; }

}  // namespace

const std::array<u8, 256> kStarts = [] {
  std::array<u8, 256> t{};
  t.fill(kAny);
  for (int c = '0'; c <= '9'; c++) t[static_cast<size_t>(c)] |= kDigit;
  t['-'] |= kDigit;
  for (size_t c = 0; c < 128; c++) {
    const bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
    if (letter || (t[c] & kDigit) || c == '+' || c == '-' || c == '.') t[c] |= kWord;
  }
  t['"'] |= kQuote;
  t['['] |= kBracket;
  t['{'] |= kBracket;
  return t;
}();

size_t Forms::TrackHash::operator()(const Track& t) const {
  u64 h = static_cast<u64>(t.pid) * 0x9E3779B97F4A7C15u ^ static_cast<u64>(t.tid);
  h = (h ^ h >> 29) * 0xBF58476D1CE4E5B9u ^ (u64{t.pid_text} << 32 | t.tid_text);
  return static_cast<size_t>((h ^ h >> 32) * 0x94D049BB133111EBu);
}

bool Forms::TrackEqual::operator()(const Track& a, const Track& b) const {
  return a.pid == b.pid && a.tid == b.tid && a.pid_text == b.pid_text && a.tid_text == b.tid_text;
}

Forms::Forms(const ArgSet& keep) : keep_(keep) {
  for (const ArgSpelling& s : arg_spellings()) spellings_.emplace(s.key, &s);
  paths_.push_back({kNone, {}, 0, 0, kNone});
  nodes_.emplace_back();
}

const ArgSpelling* Forms::spelling(std::string_view key) const {
  const auto it = spellings_.find(key);
  return it == spellings_.end() ? nullptr : it->second;
}

ArgId Forms::other_arg(const std::string& key) {
  const auto [it, is_new] = other_ids_.try_emplace(key, static_cast<ArgId>(kKnownArgs + others_.size()));
  if (is_new) others_.push_back(key);
  return it->second;
}

u32 Forms::extend_path(u32 path, ArgId arg, ArgType type) {
  const u64 key = u64{path} << 32 | u64{arg} << 8 | static_cast<u64>(type);
  const auto it = path_children_.find(key);
  if (it != path_children_.end()) return it->second;
  const PathStep from = paths_[path];
  const u32 id = static_cast<u32>(paths_.size());
  paths_.push_back({path,
                    {arg, type, static_cast<u16>(from.cells)},
                    static_cast<u16>(from.items + 1),
                    from.cells + cells_of(type),
                    kNone});
  path_children_.emplace(key, id);
  return id;
}

u32 Forms::shape_of(u32 path) {
  if (paths_[path].shape != kNone) return paths_[path].shape;
  Shape shape;
  shape.cells = paths_[path].cells;
  for (u32 at = path; paths_[at].parent != kNone; at = paths_[at].parent)
    shape.items.push_back(paths_[at].item);
  std::reverse(shape.items.begin(), shape.items.end());
  shapes_.push_back(std::move(shape));
  return paths_[path].shape = static_cast<u32>(shapes_.size() - 1);
}

u8 Forms::kind_of(Context& c) {
  const char phase = c.phase ? c.phase : 'X';
  const bool span = phase == 'X' && c.has_ts && c.has_dur && c.has_cat;
  for (size_t i = 0; i < kinds_.size(); i++) {
    const Kind& k = kinds_[i];
    if (k.phase == phase && k.category_text == c.cat && k.is_span == span) return static_cast<u8>(i);
  }
  if (kinds_.size() == kMaxKinds) {
    c.kind_left_out = true;
    return kMaxKinds - 1;
  }
  kinds_.push_back({phase, category_of(strings[c.cat]), c.cat, span});
  return static_cast<u8>(kinds_.size() - 1);
}

RowId Forms::row_id(std::string_view text) {
  if (const auto number = json::to_integer(text)) return {RowId::Is::number, *number, 0};
  size_t digits = text.size();
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') digits--;
  return {RowId::Is::text, json::to_integer(text.substr(digits)).value_or(0), strings.intern(text)};
}

u32 Forms::track_of(const RowId& pid, const RowId& tid) {
  const Track t{pid.number, tid.number, pid.text, tid.text};
  const auto [it, is_new] = track_ids_.try_emplace(t, static_cast<u32>(tracks_.size()));
  if (is_new) tracks_.push_back(t);
  return it->second;
}

// Reads one literal: from a place to the next varying value, changing a copy of the place's context.
struct Forms::Reader {
  Forms& forms;
  bool saturated;
  const char* start;
  const char* p;
  const char* end;
  Edge edge;
  Context& c;
  Learned failure = Learned::bad;

  Reader(Forms& f, const Node& node, const char* at, const char* stop)
      : forms(f), saturated(node.saturated), start(at), p(at), end(stop), c(edge.after) {
    edge.after = node.context;
  }

  enum class Go : u8 { on, stop, fail };

  Go fail(Learned why) {
    failure = why;
    return Go::fail;
  }
  Go take(Take what, const char* at, u8 starts = kAny) {
    edge.take = what;
    edge.starts = starts;
    p = at;
    return Go::stop;
  }

  bool read() {
    while (true) {
      p = json::skip_space(p, end);
      const Go go = c.in_event ? in_event() : between_events();
      if (go == Go::fail) return false;
      if (go == Go::stop) break;
      if (c.member_done && p - start > kCut) {
        edge.take = Take::more;
        break;
      }
    }
    edge.length = static_cast<u16>(std::min<size_t>(static_cast<size_t>(p - start), 0xffff));
    if (edge.take == Take::end) forms.finish(edge);
    return true;
  }

  Go between_events() {
    if (p == end) return fail(Learned::text_end);
    if (*p == ']') return fail(Learned::array_end);
    if (*p == ',') {
      ++p;
      return Go::on;
    }
    if (*p != '{') return fail(Learned::bad);
    ++p;
    c.in_event = true;
    return Go::on;
  }

  Go in_event() {
    if (p == end) return fail(Learned::incomplete);
    if (*p == '}') return close();
    if (*p == ',') {
      if (!c.member_done) c.repairs++;  // a comma too many
      c.member_done = false;
      ++p;
      return Go::on;
    }
    if (c.member_done || *p != '"') return fail(Learned::bad);
    return member();
  }

  Go close() {
    ++p;
    c.member_done = true;
    if (c.in_args) {
      c.in_args = false;
      return Go::on;
    }
    return take(Take::end, p);
  }

  Go member() {
    const json::StringScan s = json::scan_string(p, end);
    if (s.state != json::State::ok) return fail(Learned::incomplete);
    std::string_view inner(p + 1, static_cast<size_t>(s.stop - p - 2));
    const std::string key = s.escaped ? json::unescape(inner) : std::string(inner);
    const char* at = json::skip_space(s.stop, end);
    if (at == end) return fail(Learned::incomplete);
    if (*at != ':') return fail(Learned::bad);
    p = json::skip_space(at + 1, end);
    if (p == end) return fail(Learned::incomplete);
    c.member_done = true;  // so it will be, behind the value
    return c.in_args ? argument(key) : top_level(key);
  }

  Go top_level(const std::string& key) {
    if (key == "name" && *p == '"') return take(Take::name, p + 1);
    if (key == "ts" || key == "dur") return time(key == "ts");
    if (key == "args" && *p == '{') {
      ++p;
      c.in_args = true;
      c.member_done = false;
      return Go::on;
    }
    if (*p == '"' && (key == "ph" || key == "cat")) return word(key == "ph");
    if ((key == "pid" || key == "tid") && *p != '[' && *p != '{')
      return row(key == "pid" ? c.pid : c.tid, key == "pid");
    if (key == "id") return value(static_cast<ArgId>(Arg::flow_id), forms.keep_.has(Arg::flow_id), false);
    return value(forms.keep_.all ? forms.other_arg(fmt::format(".{}", key)) : ArgId{0}, forms.keep_.all,
                 key == "s" || key == "bp");
  }

  Go time(bool is_ts) {
    if (missing()) return Go::on;
    if (*p == '[' || *p == '{') return fail(Learned::bad);
    if (!(start_of(*p) & (kDigit | kQuote))) return bare_word(false, 0);
    (is_ts ? c.has_ts : c.has_dur) = true;
    return take(is_ts ? Take::ts : Take::dur, p, kDigit | kQuote);
  }

  // A string inside the literal: phase and category.
  Go word(bool phase) {
    const json::StringScan s = json::scan_string(p, end);
    if (s.state != json::State::ok) return fail(Learned::incomplete);
    std::string_view inner(p + 1, static_cast<size_t>(s.stop - p - 2));
    if (phase) {
      c.phase = inner.size() == 1 ? inner[0] : '?';
    } else {
      c.has_cat = true;
      c.cat = s.escaped ? forms.strings.intern(json::unescape(inner)) : forms.strings.intern(inner);
    }
    p = s.stop;
    return Go::on;
  }

  Go row(RowId& id, bool is_pid) {
    if (missing()) return Go::on;
    const bool quoted = *p == '"';
    if (saturated && start_of(*p) & (kDigit | kQuote)) {
      id = {RowId::Is::varies, 0, 0};
      if (quoted) return take(is_pid ? Take::pid_text : Take::tid_text, p + 1);
      if (start_of(*p) & kDigit) return take(is_pid ? Take::pid_number : Take::tid_number, p, kDigit);
    }
    const json::Scan s = json::scan_value(p, end);
    if (s.state == json::State::bad) return fail(Learned::bad);
    if (s.state != json::State::ok || s.stop == end) return fail(Learned::incomplete);
    id = forms.row_id(json::text_of({p, static_cast<size_t>(s.stop - p)}));
    p = s.stop;
    return Go::on;
  }

  // "key": , or "key": } as some writers leave it. Counted as a repair.
  bool missing() {
    if (*p != ',' && *p != '}') return false;
    c.repairs++;
    return true;
  }

  Go argument(const std::string& key) {
    const ArgSpelling* known = forms.spelling(key);
    if (known) return value(static_cast<ArgId>(known->arg), forms.keep_.has(known->arg), known->repeats);
    return value(forms.keep_.all ? forms.other_arg(key) : ArgId{0}, forms.keep_.all, false);
  }

  Go value(ArgId arg, bool keep, bool repeats) {
    edge.arg = arg;
    const bool room = forms.paths_[c.path].items < kMaxItems && forms.paths_.size() < kMaxPaths;
    if (keep && !room) c.args_left_out = true;
    keep = keep && room;
    if (keep) note_duplicate(arg);
    if (missing()) return constant(keep, arg, ArgType::null, 0);
    const bool inside = repeats && !saturated && edge.constants + 2u <= Edge::kMaxConstants;
    if (*p == '"')
      return inside ? constant_text(keep, arg) : take(keep ? Take::text : Take::skip_text, p + 1);
    if (*p == '[' || *p == '{') return take(keep ? Take::raw : Take::skip_raw, p, kBracket);
    if (!(start_of(*p) & kDigit)) return bare_word(keep, arg);
    const std::string_view word = json::scan_word(p, end);
    if (p + word.size() == end) return fail(Learned::incomplete);
    if (const auto number = json::to_integer(word); inside && number) {
      p += word.size();
      return constant(keep, arg, integer_type(*number), *number);
    }
    return take(keep ? Take::number : Take::skip_number, p, kDigit);
  }

  // true, false, null, NaN, Infinity: part of the literal.
  Go bare_word(bool keep, ArgId arg) {
    const std::string_view word = json::scan_word(p, end);
    if (word.empty()) return fail(Learned::bad);
    if (p + word.size() == end) return fail(Learned::incomplete);
    p += word.size();
    if (word == "null") return constant(keep, arg, ArgType::null, 0);
    if (word == "true") return constant(keep, arg, ArgType::yes, 0);
    if (word == "false") return constant(keep, arg, ArgType::no, 0);
    c.not_finite += keep;
    return constant(keep, arg, ArgType::json, keep ? forms.strings.intern(word) : 0);
  }

  Go constant_text(bool keep, ArgId arg) {
    const json::StringScan s = json::scan_string(p, end);
    if (s.state != json::State::ok) return fail(Learned::incomplete);
    std::string_view inner(p + 1, static_cast<size_t>(s.stop - p - 2));
    if (inner.size() > kMaxConstantText) return take(keep ? Take::text : Take::skip_text, p + 1);
    p = s.stop;
    if (!keep) return Go::on;
    const StringId id = s.escaped ? forms.strings.intern(json::unescape(inner)) : forms.strings.intern(inner);
    return constant(true, arg, ArgType::text, id);
  }

  Go constant(bool keep, ArgId arg, ArgType type, i64 value) {
    if (!keep) return Go::on;
    c.path = forms.extend_path(c.path, arg, type);
    const u64 bits = static_cast<u64>(value);
    for (u32 i = 0; i < cells_of(type); i++)
      edge.constant[edge.constants++] = static_cast<u32>(bits >> (32 * i));
    return Go::on;
  }

  void note_duplicate(ArgId arg) {
    for (u32 at = c.path; forms.paths_[at].parent != kNone; at = forms.paths_[at].parent) {
      if (forms.paths_[at].item.arg == arg) {
        c.duplicates++;
        return;
      }
    }
  }
};

void Forms::finish(Edge& edge) {
  Context& c = edge.after;
  edge.kind = kind_of(c);
  if (c.pid.is != RowId::Is::varies && c.tid.is != RowId::Is::varies) edge.track = track_of(c.pid, c.tid);
  if (shapes_.size() >= kMaxShapes && paths_[c.path].shape == kNone) {
    c.path = 0;  // no id left for this list: the event keeps none of its arguments
    c.args_left_out = true;
  }
  edge.shape = static_cast<u16>(shape_of(c.path));
  edge.remarkable = c.remarkable();
}

void Forms::tally(const Edge& end, const char* at, Block& block) const {
  const Context& c = end.after;
  if (c.repairs) block.repaired.add(at, c.repairs);
  if (c.duplicates) block.duplicate_key.add(at, c.duplicates);
  if (c.not_finite) block.not_finite.add(at, c.not_finite);
  if (c.args_left_out) block.args_left_out.add(at);
  if (c.kind_left_out) block.kinds_left_out.add(at);
}

Edge* Forms::store(Node* node, const Edge& edge, const char* literal) {
  const bool keep = edge.length > 0 && edge.length <= Edge::kMaxLiteral && edges_.size() < kMaxEdges &&
                    node->edges < 4 * kSaturated && edge.stored;
  Edge& e = keep ? edges_.emplace_back(edge) : scratch_edges_.emplace_back(edge);
  e.stored = keep;
  if (!keep) return &e;
  std::memcpy(e.text, literal, e.length);
  e.words = static_cast<u8>((e.length - 1) / 32);
  const u32 rest = static_cast<u32>(e.length) - 32u * e.words;
  e.last_mask = rest == 32 ? ~0u : (1u << rest) - 1;
  e.sibling = node->first;
  node->first = &e;
  if (++node->edges >= kSaturated) node->saturated = true;
  return &e;
}

Learned Forms::learn(Node* node, const char* p, const char* end, Edge** edge, const char** stop) {
  Reader reader(*this, *node, p, end);
  if (!reader.read()) {
    *stop = reader.p;
    return reader.failure;
  }
  const bool scratch_place = !scratch_nodes_.empty() && node == &scratch_nodes_.back();
  reader.edge.stored = !scratch_place;
  // A literal too long to store has its length cut in 16 bits: give it back in full by stopping short of it.
  if (static_cast<size_t>(reader.p - p) > 0xffff) {
    *stop = p;
    return Learned::bad;
  }
  *edge = store(node, reader.edge, p);
  return Learned::edge;
}

Node* Forms::next(Edge* edge, ArgType type) {
  size_t branch = 0;
  const bool item = edge->take == Take::number || edge->take == Take::text || edge->take == Take::raw;
  if (edge->take == Take::number) {
    branch = type == ArgType::int32 ? 0 : type == ArgType::int64 ? 1 : type == ArgType::real ? 2 : 3;
  }
  if (edge->next[branch]) return edge->next[branch];
  const bool keep = edge->stored && edges_.size() < kMaxEdges;
  Node& node = keep ? nodes_.emplace_back() : scratch_nodes_.emplace_back();
  node.context = edge->after;
  if (item) node.context.path = extend_path(node.context.path, edge->arg, type);
  if (keep) edge->next[branch] = &node;
  return &node;
}

void Forms::drop_scratch() {
  scratch_nodes_.clear();
  scratch_edges_.clear();
}

void Forms::hand_over(Block& block) {
  for (; handed_strings_ < strings.size(); handed_strings_++) {
    block.new_strings.push_back(strings[static_cast<StringId>(handed_strings_)]);
  }
  for (; handed_kinds_ < kinds_.size(); handed_kinds_++) block.new_kinds.push_back(kinds_[handed_kinds_]);
  for (; handed_tracks_ < tracks_.size(); handed_tracks_++)
    block.new_tracks.push_back(tracks_[handed_tracks_]);
  for (; handed_others_ < others_.size(); handed_others_++) block.new_args.push_back(others_[handed_others_]);
  for (; handed_shapes_ < shapes_.size(); handed_shapes_++)
    block.new_shapes.push_back(shapes_[handed_shapes_]);
}

}  // namespace spotter
