// The scanner's code, compiled once for each instruction set: scanner_avx2.cc and scanner_base.cc.
#pragma once
#include <charconv>
#include <cmath>

#include "read/boundary.h"
#include "read/forms.h"
#include "read/json.h"
#include "read/recent_strings.h"
#include "read/scanner.h"
#include "read/simd.h"

namespace spotter::read::SPOTTER_SIMD {
namespace {

class FastScanner final : public Scanner {
 public:
  explicit FastScanner(const ArgSet& keep) : forms_(keep) {}

  Scanned scan(const char* begin, const char* end, bool final, Block& block) override {
    block.clear();
    out_ = &block;
    end_ = end;
    guess_ = nullptr;
    last_end_ = nullptr;
    const char* p = begin;
    Scanned result;
    while (true) {
      block.make_room(1, kMaxCells);
      const char* next = event(p);
      if (next) {
        p = next;
        continue;
      }
      forms_.drop_scratch();
      if (fault_ == Learned::text_end) break;
      if (fault_ == Learned::incomplete && !final) {
        result = {ScanEnd::incomplete, p};
        break;
      }
      const char* brace = first_brace(p);
      const bool between = brace >= fault_at_;  // the fault is not in an event, but before one
      if (const char* rest = between ? events_end(fault_at_, end, final) : nullptr) {
        if (fault_ != Learned::array_end) block.repaired.add(fault_at_);  // without a ']'
        result = {ScanEnd::array_end, rest};
        break;
      }
      const char* from = between ? fault_at_ : brace + 1;
      p = next_event(from, end);
      // Stray characters between two events cost nothing; text with members was an event.
      const bool stray = between && !std::memchr(from, '"', static_cast<size_t>(p - from));
      (stray ? block.repaired : block.damaged).add(between ? fault_at_ : brace);
      if (const char* rest = find_events_end(from, p, end, final)) {
        result = {ScanEnd::array_end, rest};
        break;
      }
    }
    forms_.hand_over(block);
    return result;
  }

 private:
  static constexpr size_t kMaxCells =
      640;  // of one event: at most 250 arguments of 2 cells, and slack for wide copies

  // Reads one event from p, appends its row and returns where it ended; nullptr with fault_ set if there is
  // none.
  const char* event(const char* p) {
    Block& b = *out_;
    const char* const start = p;
    const size_t row = b.events;
    u32* const cells = b.cells.data() + b.cell_count;
    u32* cell = cells;
    Ns ts = 0, dur = 0;
    StringId name = 0;
    RowId pid, tid;
    Node* node = forms_.root();
    Edge* e = guess_ && matches(*guess_, p) ? guess_ : find(*node, p);
    if (e && last_end_) last_end_->follow = e;
    while (true) {
      if (!e) {
        const char* stop = p;
        if (const Learned l = forms_.learn(node, p, end_, &e, &stop); l != Learned::edge)
          return fault(l, stop);
      }
      p += e->length;
      if (e->constants) {
        std::memcpy(cell, e->constant, sizeof e->constant);
        cell += e->constants;
      }
      ArgType type = ArgType::int32;
      switch (e->take) {
        case Take::more:
          break;
        case Take::end: {
          b.ts[row] = ts;
          b.dur[row] = dur;
          b.name[row] = e->name ? e->name : name;  // both only where an event says it twice
          b.track[row] = e->track != kNone ? e->track : varying_track(*e, pid, tid);
          b.first_cell[row] = static_cast<u32>(b.cell_count);
          b.shape[row] = e->shape;
          b.kind[row] = e->kind;
          if (b.wants_texts) {
            const char* const brace = first_brace(start);
            b.texts.emplace_back(brace, static_cast<size_t>(p - brace));
          }
          b.events++;
          b.cell_count += static_cast<size_t>(cell - cells);
          if (e->remarkable) forms_.tally(*e, first_brace(start), b);
          guess_ = e->follow;
          last_end_ = e;
          if (!e->stored) {
            guess_ = last_end_ = nullptr;
            forms_.drop_scratch();
          }
          return p;
        }
        case Take::ts:
          if (p = time(p, ts); !p) return nullptr;
          break;
        case Take::dur:
          if (p = time(p, dur); !p) return nullptr;
          if (dur < 0) {
            b.negative_dur.add(first_brace(start));
            dur = 0;
          }
          break;
        case Take::name:
          if (p = text(p, name); !p) return nullptr;
          break;
        case Take::number:
          if (p = number(p, cell, type); !p) return nullptr;
          break;
        case Take::text:
          if (p = text(p, *cell); !p) return nullptr;
          type = ArgType::text;
          cell++;
          break;
        case Take::raw: {
          const char* from = p;
          if (p = raw_end(p); !p) return nullptr;
          *cell++ = recent_.intern(from, static_cast<size_t>(p - from));
          type = ArgType::json;
          break;
        }
        case Take::skip_number:
          p = skip_number(p);
          break;
        case Take::skip_text:
          if (p = string_end(p); !p) return nullptr;
          break;
        case Take::skip_raw:
          if (p = raw_end(p); !p) return nullptr;
          break;
        case Take::pid_number:
        case Take::tid_number:
          if (p = row_number(p, e->take == Take::pid_number ? pid : tid); !p) return nullptr;
          break;
        case Take::pid_text:
        case Take::tid_text: {
          const char* stop = string_end(p);
          if (!stop) return nullptr;
          const std::string_view inner(p, static_cast<size_t>(stop - p - 1));
          (e->take == Take::pid_text ? pid : tid) = forms_.row_id(read::json::unescape(inner));
          p = stop;
          break;
        }
      }
      const size_t branch = e->take == Take::number ? static_cast<size_t>(type) : 0;
      Node* next =
          branch < 3 ? e->next[branch] : nullptr;  // int32, int64, real are 0, 1, 2; json is looked up
      node = next ? next : forms_.next(e, type);
      e = find(*node, p);
    }
  }

  const char* fault(Learned why, const char* at) {
    fault_ = why;
    fault_at_ = at;
    return nullptr;
  }

  const char* first_brace(const char* p) const {
    while (p < end_ && *p != '{') ++p;
    return p;
  }

  static bool matches(const Edge& e, const char* p) {
    for (u32 w = 0; w < e.words; w++) {
      if (Bytes(p + 32 * w).equal(Bytes(e.text + 32 * w)) != ~0u) return false;
    }
    const u32 equal = Bytes(p + 32 * e.words).equal(Bytes(e.text + 32 * e.words));
    return (equal & e.last_mask) == e.last_mask && (start_of(p[e.length]) & e.starts);
  }

  // The edge taken last, then the others, most recently used first.
  static Edge* find(Node& node, const char* p) {
    if (node.recent && matches(*node.recent, p)) return node.recent;
    Edge* before = nullptr;
    for (Edge* e = node.first; e; before = e, e = e->sibling) {
      if (e == node.recent || !matches(*e, p)) continue;
      if (before) {
        before->sibling = e->sibling;
        e->sibling = node.first;
        node.first = e;
      }
      return node.recent = e;
    }
    return nullptr;
  }

  const char* row_number(const char* p, RowId& id) {
    const u32 n = leading_run(Bytes(p).digits());
    if (n > 0 && n <= 16 && !(start_of(p[n]) & kWord)) {
      id = {RowId::Is::number, static_cast<i64>(digits16(p, n)), 0};
      return p + n;
    }
    const std::string_view word = read::json::scan_word(p, end_);
    if (word.end() == end_) return fault(Learned::incomplete, p);
    id = forms_.row_id(word);
    return word.end();
  }

  u32 varying_track(const Edge& e, const RowId& pid, const RowId& tid) {
    return forms_.track_of(e.after.pid.is == RowId::Is::varies ? pid : e.after.pid,
                           e.after.tid.is == RowId::Is::varies ? tid : e.after.tid);
  }

  // Decimal microseconds to ns: up to 16 digits and 3 decimals at once; anything else by the plain reader.
  [[gnu::always_inline]] const char* time(const char* p, Ns& out) {
    const u32 digits = Bytes(p).digits();
    const u32 n = leading_run(digits);
    if (n == 0 || n > 15) return n == 16 && *p < '3' ? time16(p, out) : slow_time(p, out);
    return time_tail(p + n, digits16(p, n), leading_run(n < 31 ? digits >> (n + 1) : 0), out, p);
  }

  const char* time16(const char* p, Ns& out) {
    return time_tail(p + 16, digits16(p, 16), leading_run(Bytes(p + 17).digits()), out, p);
  }

  const char* time_tail(const char* q, u64 us, u32 decimals, Ns& out, const char* start) {
    if (*q == '.') {
      if (decimals == 0 || decimals > 3) return slow_time(start, out);
      constexpr u64 to_ns[] = {1000, 100, 10, 1};
      u64 fraction = 0;
      for (u32 i = 1; i <= decimals; i++) fraction = fraction * 10 + static_cast<u64>(q[i] - '0');
      out = static_cast<Ns>(us * 1000 + fraction * to_ns[decimals]);
      q += 1 + decimals;
    } else {
      out = static_cast<Ns>(us * 1000);
    }
    return (*q | 32) == 'e' ? slow_time(start, out) : q;
  }

  const char* slow_time(const char* p, Ns& out) {
    const bool quoted = p < end_ && *p == '"';
    const char* from = p + (quoted ? 1 : 0);
    const std::string_view word = read::json::scan_word(from, end_);
    const char* stop = from + word.size();
    if (stop == end_) return fault(Learned::incomplete, p);
    if (quoted && *stop++ != '"') return fault(Learned::bad, p);
    bool inexact = false;
    const std::optional<i64> ns = read::json::microseconds_to_ns(word, inexact);
    if (!ns || *ns > kMaxTime || *ns < -kMaxTime) return fault(Learned::bad, p);
    if (inexact) out_->sub_ns.add(p);
    if (quoted) out_->repaired.add(p);
    out = *ns;
    return stop;
  }

  const char* number(const char* p, u32*& cell, ArgType& type) {
    const bool negative = *p == '-';
    const char* q = p + negative;
    const u32 n = leading_run(Bytes(q).digits());
    if (n == 0 || n > 16 || q[n] == '.' || (q[n] | 32) == 'e') return slow_number(p, cell, type);
    const i64 magnitude = static_cast<i64>(digits16(q, n));
    put_integer(negative ? -magnitude : magnitude, cell, type);
    return q + n;
  }

  const char* skip_number(const char* p) const {
    const u32 n = leading_run(Bytes(p).digits());
    return start_of(p[n]) & kWord ? read::json::scan_word(p, end_).end() : p + n;
  }

  static void put_integer(i64 value, u32*& cell, ArgType& type) {
    const bool fits = value == static_cast<i32>(value);
    const u64 bits = static_cast<u64>(value);
    std::memcpy(cell, &bits, 8);
    type = fits ? ArgType::int32 : ArgType::int64;
    cell += fits ? 1 : 2;
  }

  const char* slow_number(const char* p, u32*& cell, ArgType& type) {
    const std::string_view word = read::json::scan_word(p, end_);
    if (word.end() == end_) return fault(Learned::incomplete, p);
    if (word.empty()) return fault(Learned::bad, p);
    if (const auto integer = read::json::to_integer(word)) {
      put_integer(*integer, cell, type);
      return word.end();
    }
    double real = 0;
    const auto r = std::from_chars(word.begin(), word.end(), real);
    const bool is_decimal = word.find_first_of(".eE") != word.npos;
    if (is_decimal && r.ec == std::errc() && r.ptr == word.end() && std::isfinite(real)) {
      std::memcpy(cell, &real, 8);
      cell += 2;
      type = ArgType::real;
      return word.end();
    }
    const bool digits = word.back() >= '0' && word.back() <= '9';
    if (!digits || is_decimal) out_->not_finite.add(p);  // else an integer beyond 64 bits
    *cell++ = forms_.strings.intern(word);
    type = ArgType::json;
    return word.end();
  }

  // p behind the opening quote: the text up to the closing one, interned; returns what is behind it.
  const char* text(const char* p, StringId& out) {
    const char* from = p;
    const char* stop = string_end(p);
    if (!stop) return nullptr;
    const std::string_view inner(from, static_cast<size_t>(stop - from - 1));
    out = escaped_ ? forms_.strings.intern(read::json::unescape(inner))
                   : recent_.intern(inner.data(), inner.size());
    return stop;
  }

  // Behind the quote that closes the string p is in. Sets escaped_.
  const char* string_end(const char* p) {
    escaped_ = false;
    for (const char* q = p; q < end_; q += 32) {
      const Bytes b(q);
      const u32 quotes = b.equal('"'), escapes = b.equal('\\');
      if (const u32 any = quotes | escapes) {
        const u32 i = first_bit(any);
        if (quotes >> i & 1) return q + i + 1;
        const read::json::StringScan s = read::json::scan_string(p - 1, end_);
        if (s.state != read::json::State::ok) break;
        escaped_ = true;
        return s.stop;
      }
    }
    return fault(Learned::incomplete, p);
  }

  // Behind the bracket that closes the list or object at p.
  const char* raw_end(const char* p) {
    i64 depth = 0;
    u32 inside = 0;  // all ones where the 32 bytes begin in a string
    for (const char* q = p; q < end_; q += 32) {
      const Bytes b(q);
      if (b.equal('\\')) break;
      const u32 in_string = ones_between(b.equal('"')) ^ inside;
      const u32 opens = (b.equal('[') | b.equal('{')) & ~in_string,
                closes = (b.equal(']') | b.equal('}')) & ~in_string;
      i64 closed = 0;
      for (u32 m = closes; m; m &= m - 1) {
        const u32 i = first_bit(m);
        if (depth + std::popcount(opens & ((1u << i) - 1)) == ++closed) return q + i + 1;
      }
      depth += std::popcount(opens) - closed;
      inside = 0u - (in_string >> 31);
    }
    const read::json::Scan s = read::json::scan_value(p, end_);
    if (s.state == read::json::State::ok) return s.stop;
    return fault(s.state == read::json::State::bad ? Learned::bad : Learned::incomplete, p);
  }

  Forms forms_;
  RecentStrings recent_{forms_.strings};
  Block* out_ = nullptr;
  const char* end_ = nullptr;
  Edge* guess_ = nullptr;     // the root edge expected next
  Edge* last_end_ = nullptr;  // how the last event ended
  Learned fault_ = Learned::bad;
  const char* fault_at_ = nullptr;
  bool escaped_ = false;
};

}  // namespace
}  // namespace spotter::read::SPOTTER_SIMD
