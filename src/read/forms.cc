#include "read/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "read/json.h"

namespace spotter::read {
namespace {

constexpr size_t kMaxEdges = 16'384;  // beyond it, forms are parsed plainly each time
constexpr u16 kSaturated = 24;        // edges at one place
constexpr size_t kMaxShapes = 65'000;

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
  t['{'] |= kBrace;
  return t;
}();

namespace {

// Also "9.0", and ids of 64 bits without a sign, which keep their bits.
std::optional<i64> whole_number(std::string_view text) {
  if (const auto number = read::json::to_integer(text)) return number;
  const char* end = text.data() + text.size();
  u64 bits = 0;
  if (const auto r = std::from_chars(text.data(), end, bits); r.ec == std::errc() && r.ptr == end)
    return static_cast<i64>(bits);
  double real = 0;
  const bool is_number = !text.empty() && start_of(text[0]) & kDigit;
  const auto r = std::from_chars(text.data(), end, real);
  if (is_number && r.ec == std::errc() && r.ptr == end && std::abs(real) < 9e15 && real == std::trunc(real))
    return static_cast<i64>(real);
  return std::nullopt;
}

}  // namespace

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
  if (const auto it = other_ids_.find(key); it != other_ids_.end()) return it->second;
  const size_t id = kKnownArgs + others_.size();
  if (id >= kNoArg) return kNoArg;
  others_.push_back(key);
  return other_ids_[key] = static_cast<ArgId>(id);
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
  Kind kind{c.phase ? c.phase : 'X', category_of(strings[c.cat]), c.cat, false};
  kind.is_span = kind.phase == 'X' && c.has_ts && c.has_dur && c.has_cat;
  const auto find = [&] {
    return std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& k) {
      return k.phase == kind.phase && k.category_text == kind.category_text && k.is_span == kind.is_span;
    });
  };
  auto it = find();
  if (it == kinds_.end() &&
      kinds_.size() >= (kind.category == Category::other ? kMaxOtherKinds : kMaxKinds - 2)) {
    // The last ids are for those that find none of their own, so that a flood of unknown categories hides no
    // known one.
    c.kind_left_out = true;
    kind = {'X', Category::other, 0, kind.is_span};
    it = find();
  }
  if (it != kinds_.end()) return static_cast<u8>(it - kinds_.begin());
  kinds_.push_back(kind);
  return static_cast<u8>(kinds_.size() - 1);
}

RowId Forms::row_id(std::string_view text) {
  if (const auto number = whole_number(text)) return {RowId::Is::number, *number, 0};
  size_t digits = text.size();
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') digits--;
  return {RowId::Is::text, read::json::to_integer(text.substr(digits)).value_or(0), strings.intern(text)};
}

u32 Forms::track_of(const RowId& pid, const RowId& tid) {
  const Track t{pid.number, tid.number, pid.text, tid.text};
  const auto [it, is_new] = track_ids_.try_emplace(t, static_cast<u32>(tracks_.size()));
  if (is_new) tracks_.push_back(t);
  return it->second;
}

void Forms::finish(Edge& edge) {
  Context& c = edge.after;
  edge.kind = kind_of(c);
  const bool should_be_span = (c.phase == 'X' || c.phase == 0) && c.has_cat;
  c.bad_time |= should_be_span && !(c.has_ts && c.has_dur);
  c.half_span = c.phase == 'B' || c.phase == 'E';
  c.no_category = c.phase == 'X' && c.has_ts && c.has_dur && (!c.has_cat || strings[c.cat].empty());
  if (c.pid.is != RowId::Is::varies && c.tid.is != RowId::Is::varies) edge.track = track_of(c.pid, c.tid);
  if (shapes_.size() >= kMaxShapes && paths_[c.path].shape == kNone) {
    c.path = 0;  // no id left for this list: the event keeps none of its arguments
    c.args_left_out = true;
  }
  edge.shape = static_cast<u16>(shape_of(c.path));
  edge.name = c.name;
  edge.remarkable = c.remarkable();
}

void Forms::tally(const Edge& end, const char* at, Block& block) const {
  const Context& c = end.after;
  if (c.repairs) block.repaired.add(at, c.repairs);
  if (c.duplicates) block.duplicate_key.add(at, c.duplicates);
  if (c.bad_time) block.bad_time.add(at);
  if (c.half_span) block.half_spans.add(at);
  if (c.no_category) block.no_category.add(at);
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

}  // namespace spotter::read
