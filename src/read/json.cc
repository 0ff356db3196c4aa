#include "read/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text/number.h"

namespace spotter::read::json {
namespace {

// The brackets that are open. Of the 64 innermost their kind is known, and of each further one from when it
// is closed and another opened in its place.
class Nest {
 public:
  void open(bool brace) {
    braces_ = braces_ << 1 | u64{brace};
    unknown_ = std::max(std::min(unknown_, depth_), depth_ - 63);
    ++depth_;
  }
  bool close(bool brace) {
    const bool fits = depth_ <= unknown_ || (braces_ & 1) == u64{brace};
    braces_ >>= 1;
    --depth_;
    return fits;
  }
  bool closed() const { return depth_ == 0; }

 private:
  u64 braces_ = 0;
  i64 depth_ = 0, unknown_ = 0;  // the kinds of the outermost `unknown_` are not known
};

void append_utf8(std::string& out, u32 c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
  } else if (c < 0x10000) {
    out += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)),
            static_cast<char>(0x80 | (c & 63))};
  } else {
    out += {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 63)),
            static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
  }
}

std::optional<u32> hex4(std::string_view s, size_t at) {
  if (at + 4 > s.size()) return std::nullopt;
  u32 value = 0;
  const auto r = std::from_chars(s.data() + at, s.data() + at + 4, value, 16);
  if (r.ptr != s.data() + at + 4) return std::nullopt;
  return value;
}

}  // namespace

StringScan scan_string(const char* p, const char* end) {
  if (p >= end || *p != '"') return {{State::bad, p}, false};
  bool escaped = false;
  for (++p; p < end; ++p) {
    if (*p == '"') return {{State::ok, p + 1}, escaped};
    if (*p == '\\') {
      escaped = true;
      ++p;
    }
  }
  return {{State::incomplete, end}, escaped};
}

std::string_view scan_word(const char* p, const char* end) {
  const char* start = p;
  while (p < end && ((*p >= '0' && *p <= '9') || ((*p | 32) >= 'a' && (*p | 32) <= 'z') || *p == '+' ||
                     *p == '-' || *p == '.')) {
    ++p;
  }
  return {start, static_cast<size_t>(p - start)};
}

Scan scan_value(const char* p, const char* end) {
  if (p >= end) return {State::incomplete, end};
  if (*p == '"') return scan_string(p, end);
  if (*p != '[' && *p != '{') {
    const std::string_view word = scan_word(p, end);
    if (word.empty()) return {State::bad, p};
    return {State::ok, p + word.size()};
  }
  Nest nest;
  while (p < end) {
    const char c = *p;
    if (c == '"') {
      const StringScan s = scan_string(p, end);
      if (s.state != State::ok) return s;
      p = s.stop;
      continue;
    }
    ++p;
    if (c == '[' || c == '{') nest.open(c == '{');
    if (c == ']' || c == '}') {
      if (!nest.close(c == '}')) return {State::bad, p - 1};
      if (nest.closed()) return {State::ok, p};
    }
  }
  return {State::incomplete, end};
}

std::string unescape(std::string_view inner) {
  std::string out;
  out.reserve(inner.size());
  for (size_t i = 0; i < inner.size(); i++) {
    if (inner[i] != '\\' || i + 1 == inner.size()) {
      out += inner[i];
      continue;
    }
    const char c = inner[++i];
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out += c;
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u': {
        std::optional<u32> unit = hex4(inner, i + 1);
        if (!unit) {
          out += "\\u";
          break;
        }
        i += 4;
        if (*unit >= 0xD800 && *unit < 0xDC00 && inner.substr(i + 1, 2) == "\\u") {
          const std::optional<u32> low = hex4(inner, i + 3);
          if (low && *low >= 0xDC00 && *low < 0xE000) {
            unit = 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00);
            i += 6;
          }
        }
        append_utf8(out, *unit >= 0xD800 && *unit < 0xE000 ? 0xFFFD : *unit);
        break;
      }
      default:  // a lone backslash, as writers of Windows paths and C++ names leave it
        out += '\\';
        out += c;
    }
  }
  return out;
}

std::optional<i64> to_integer(std::string_view word) { return number_in<i64>(word); }

std::optional<i64> microseconds_to_ns(std::string_view word, bool& inexact) {
  size_t i = 0;
  const bool negative = !word.empty() && word[0] == '-';
  if (negative || (!word.empty() && word[0] == '+')) i++;
  // The digits as one integer, with the place of the point counted from its right end.
  u64 digits = 0;
  i64 point = 0, seen = 0;
  bool fraction = false, lost = false, full = false, round_up = false;
  for (; i < word.size(); i++) {
    const char c = word[i];
    if (c == '.' && !fraction) {
      fraction = true;
    } else if (c >= '0' && c <= '9') {
      seen++;
      if (digits > (u64{1} << 60)) {  // 18 digits and more: keep the place, forget the digit
        if (!full) round_up = c >= '5';
        full = true;
        lost |= c != '0';
        point += !fraction;
      } else {
        digits = digits * 10 + static_cast<u64>(c - '0');
        point -= fraction;
      }
    } else {
      break;
    }
  }
  if (seen == 0) return std::nullopt;
  if (i < word.size()) {
    if ((word[i] | 32) != 'e') return std::nullopt;
    std::string_view tail = word.substr(i + 1);
    if (tail.starts_with('+')) tail.remove_prefix(1);
    const std::optional<i64> exponent = to_integer(tail);
    if (!exponent || *exponent > 100 || *exponent < -100) return std::nullopt;
    point += *exponent;
  }
  i64 shift = point + 3;  // microseconds to nanoseconds
  if (shift == 0 && round_up) digits++;
  for (; shift > 0 && digits != 0; shift--) {
    if (digits > u64{INT64_MAX} / 10) return std::nullopt;
    digits *= 10;
  }
  if (shift < 0) {
    u64 scale = 1;
    for (; shift < 0 && scale < u64{10'000'000'000'000'000'000u}; shift++) scale *= 10;
    if (shift < 0) {
      lost |= digits != 0;
      digits = 0;
    } else {
      const u64 rest = digits % scale;
      lost |= rest != 0;
      digits = digits / scale + (rest >= scale / 2 && scale > 1 ? 1 : 0);
    }
  }
  if (digits > u64{INT64_MAX}) return std::nullopt;
  inexact |= lost;
  return negative ? -static_cast<i64>(digits) : static_cast<i64>(digits);
}

std::vector<Member> members(std::string_view raw, bool* damaged, size_t most) {
  std::vector<Member> out;
  const char* p = raw.data();
  const char* end = p + raw.size();
  p = skip_space(p, end);
  if (p == end || (*p != '{' && *p != '[')) return out;
  const bool object = *p++ == '{';
  auto stop = [&] {
    if (damaged) *damaged = true;
    return out;
  };
  while (out.size() < most) {
    p = skip_space(p, end);
    while (p < end && *p == ',') p = skip_space(p + 1, end);
    if (p == end) return stop();
    if (*p == (object ? '}' : ']')) return out;
    if (*p == '}' || *p == ']') return stop();  // of the wrong kind
    Member m;
    if (object) {
      const StringScan key = scan_string(p, end);
      if (key.state != State::ok) return stop();
      m.key = unescape({p + 1, static_cast<size_t>(key.stop - p - 2)});
      p = skip_space(key.stop, end);
      if (p == end || *p != ':') return stop();
      p = skip_space(p + 1, end);
    }
    if (p < end && *p != ',' && *p != '}' &&
        *p != ']') {  // else: a key with nothing behind it; its value is empty
      const Scan value = scan_value(p, end);
      if (value.state != State::ok) return stop();
      m.raw = {p, static_cast<size_t>(value.stop - p)};
      p = value.stop;
    }
    out.push_back(std::move(m));
  }
  return out;
}

std::string text_of(std::string_view raw) {
  if (raw.size() >= 2 && raw.front() == '"') return unescape(raw.substr(1, raw.size() - 2));
  return std::string(raw);
}

}  // namespace spotter::read::json
