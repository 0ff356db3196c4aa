// How a literal is learned: plain, tolerant reading from one place of the trie to the next varying value.
#include <algorithm>

#include "base/result.h"
#include "read/forms.h"
#include "read/json.h"

namespace spotter::read {
namespace {

constexpr u32 kCut = 96;  // a literal this long is cut at the next member
constexpr size_t kMaxConstantText = 64;
constexpr u16 kMaxItems = 250;  // arguments of one event (Trace addresses them in 8 bits)
constexpr size_t kMaxPaths = 1'000'000;

ArgType integer_type(i64 value) { return value == static_cast<i32>(value) ? ArgType::int32 : ArgType::int64; }

}  // namespace

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
      p = read::json::skip_space(p, end);
      const Go go = c.in_event ? in_event() : between_events();
      if (go == Go::fail) return false;
      if (go == Go::stop) break;
      // Behind a comma or bracket, never behind a number: "tid": 2 is also how "tid": 27 begins.
      const bool full = p - start > kCut || edge.constants + 2u > Edge::kMaxConstants;
      if (c.in_event && !c.member_done && full) {
        edge.take = Take::more;
        break;
      }
    }
    edge.length = static_cast<u32>(p - start);
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
      c.after_comma = true;
      ++p;
      return Go::on;
    }
    if (c.member_done || *p != '"') return fail(Learned::bad);
    return member();
  }

  Go close() {
    ++p;
    c.repairs += c.after_comma;
    c.after_comma = false;
    c.member_done = true;
    if (c.in_args) {
      c.in_args = false;
      return Go::on;
    }
    return take(Take::end, p);
  }

  Go member() {
    const read::json::StringScan s = read::json::scan_string(p, end);
    if (s.state != read::json::State::ok) return fail(Learned::incomplete);
    std::string_view inner(p + 1, static_cast<size_t>(s.stop - p - 2));
    const std::string key = s.escaped ? read::json::unescape(inner) : std::string(inner);
    const char* at = read::json::skip_space(s.stop, end);
    if (at == end) return fail(Learned::incomplete);
    if (*at != ':') return fail(Learned::bad);
    p = read::json::skip_space(at + 1, end);
    if (p == end) return fail(Learned::incomplete);
    c.after_comma = false;
    c.member_done = true;  // so it will be, behind the value
    return c.in_args ? argument(key) : top_level(key);
  }

  // Of the members that may be told twice the last one counts; of two argument lists both do.
  void note_seen(const std::string& key) {
    static constexpr std::string_view kMembers[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"};
    const auto* at = std::find(std::begin(kMembers), std::end(kMembers), key);
    if (at == std::end(kMembers)) return;
    const u8 bit = static_cast<u8>(1u << (at - std::begin(kMembers)));
    c.duplicates += (c.seen & bit) != 0;
    c.seen |= bit;
  }

  Go top_level(const std::string& key) {
    note_seen(key);
    if (key == "name" && *p == '"') {
      const bool few = (c.phase == 's' || c.phase == 'f' || c.phase == 'M') && !saturated;
      return few ? word(c.name) : take(Take::name, p + 1);
    }
    if (key == "ts" || key == "dur") return time(key == "ts");
    if (key == "args" && *p == '{') {
      ++p;
      c.in_args = true;
      c.member_done = false;
      return Go::on;
    }
    if (*p == '"' && key == "ph") return phase();
    if (*p == '"' && key == "cat") {
      c.has_cat = true;
      return word(c.cat);
    }
    if ((key == "pid" || key == "tid") && *p != '[' && *p != '{')
      return row(key == "pid" ? c.pid : c.tid, key == "pid");
    if (key == "id") return value(static_cast<ArgId>(Arg::flow_id), forms.keep_.has(Arg::flow_id), false);
    return value(forms.keep_.all ? forms.other_arg(fmt::format(".{}", key)) : ArgId{0}, forms.keep_.all,
                 key == "s" || key == "bp");
  }

  Go time(bool is_ts) {
    if (*p == '[' || *p == '{') return fail(Learned::bad);
    if (*p == ',' || *p == '}') {
      c.bad_time = true;
      return Go::on;
    }
    if (!(start_of(*p) & (kDigit | kQuote))) {
      c.bad_time = true;
      return bare_word(false, 0);
    }
    (is_ts ? c.has_ts : c.has_dur) = true;
    return take(is_ts ? Take::ts : Take::dur, p, kDigit | kQuote);
  }

  Go phase() {
    const read::json::StringScan s = read::json::scan_string(p, end);
    if (s.state != read::json::State::ok) return fail(Learned::incomplete);
    const std::string text = read::json::text_of({p, static_cast<size_t>(s.stop - p)});
    c.phase = text.size() == 1 ? text[0] : '?';
    p = s.stop;
    return Go::on;
  }

  // A string that is part of the literal.
  Go word(StringId& id) {
    const read::json::StringScan s = read::json::scan_string(p, end);
    if (s.state != read::json::State::ok) return fail(Learned::incomplete);
    const std::string_view inner(p + 1, static_cast<size_t>(s.stop - p - 2));
    id = s.escaped ? forms.strings.intern(read::json::unescape(inner)) : forms.strings.intern(inner);
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
    const read::json::Scan s = read::json::scan_value(p, end);
    if (s.state == read::json::State::bad) return fail(Learned::bad);
    if (s.state != read::json::State::ok || s.stop == end) return fail(Learned::incomplete);
    id = forms.row_id(read::json::text_of({p, static_cast<size_t>(s.stop - p)}));
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
    const bool room =
        arg != kNoArg && forms.paths_[c.path].items < kMaxItems && forms.paths_.size() < kMaxPaths;
    if (keep && !room) c.args_left_out = true;
    keep = keep && room;
    if (keep) note_duplicate(arg);
    if (missing()) return constant(keep, arg, ArgType::null, 0);
    const bool inside = repeats && !saturated;
    if (*p == '"')
      return inside ? constant_text(keep, arg) : take(keep ? Take::text : Take::skip_text, p + 1);
    if (*p == '[' || *p == '{') {
      return take(keep ? Take::raw : Take::skip_raw, p, *p == '[' ? kBracket : kBrace);
    }
    if (!(start_of(*p) & kDigit)) return bare_word(keep, arg);
    const std::string_view word = read::json::scan_word(p, end);
    if (p + word.size() == end) return fail(Learned::incomplete);
    if (const auto number = read::json::to_integer(word); inside && number) {
      p += word.size();
      return constant(keep, arg, integer_type(*number), *number);
    }
    return take(keep ? Take::number : Take::skip_number, p, kDigit);
  }

  // true, false, null, NaN, Infinity: part of the literal.
  Go bare_word(bool keep, ArgId arg) {
    const std::string_view word = read::json::scan_word(p, end);
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
    const read::json::StringScan s = read::json::scan_string(p, end);
    if (s.state != read::json::State::ok) return fail(Learned::incomplete);
    std::string_view inner(p + 1, static_cast<size_t>(s.stop - p - 2));
    if (inner.size() > kMaxConstantText) return take(keep ? Take::text : Take::skip_text, p + 1);
    p = s.stop;
    if (!keep) return Go::on;
    const StringId id =
        s.escaped ? forms.strings.intern(read::json::unescape(inner)) : forms.strings.intern(inner);
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

Learned Forms::learn(Node* node, const char* p, const char* end, Edge** edge, const char** stop) {
  Reader reader(*this, *node, p, end);
  if (!reader.read()) {
    *stop = reader.p;
    return reader.failure;
  }
  const bool scratch_place = !scratch_nodes_.empty() && node == &scratch_nodes_.back();
  reader.edge.stored = !scratch_place;
  *edge = store(node, reader.edge, p);
  return Learned::edge;
}

}  // namespace spotter::read
