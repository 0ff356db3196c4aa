#include "read/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/text/utf8.h"
#include "base/types.h"
#include "read/json.h"

namespace spotter::read::json {
namespace {

constexpr int kMostDepth = 1000;
constexpr int kMostMendedDepth = 64;  // each level is looked through once more

// What may stand in a string as it is.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 256; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }

// A recursive descent; each function returns what is behind its part of the text, or nullptr.
class Checker {
 public:
  explicit Checker(std::string_view text) : end_(text.data() + text.size()) {}

  const char* value(const char* p, int depth) {
    if (p == end_) return nullptr;
    switch (*p) {
      case '"':
        return string(p);
      case '{':
        return object(p, depth, nullptr);
      case '[':
        return list(p, depth);
      case 't':
        return word(p, "true");
      case 'f':
        return word(p, "false");
      case 'n':
        return word(p, "null");
      default:
        return number(p);
    }
  }

  const char* object(const char* p, int depth, EventMembers* found) {
    if (depth == kMostDepth) return nullptr;
    p = skip_space(p + 1, end_);
    if (p < end_ && *p == '}') return p + 1;
    while (p) {
      const char* const key = p;
      p = p < end_ && *p == '"' ? string(p) : nullptr;
      if (!p || (found && escaped_)) return nullptr;
      const char* const key_end = p;
      p = skip_space(p, end_);
      if (p == end_ || *p != ':') return nullptr;
      const char* const start = skip_space(p + 1, end_);
      p = value(start, depth + 1);
      if (!p) return nullptr;
      if (found) keep({key + 1, key_end - 1}, {start, p}, *found);
      p = skip_space(p, end_);
      if (p < end_ && *p == '}') return p + 1;
      if (p == end_ || *p != ',') return nullptr;
      p = skip_space(p + 1, end_);
    }
    return nullptr;
  }

 private:
  const char* list(const char* p, int depth) {
    if (depth == kMostDepth) return nullptr;
    p = skip_space(p + 1, end_);
    if (p < end_ && *p == ']') return p + 1;
    while (true) {
      p = value(p, depth + 1);
      if (!p) return nullptr;
      p = skip_space(p, end_);
      if (p < end_ && *p == ']') return p + 1;
      if (p == end_ || *p != ',') return nullptr;
      p = skip_space(p + 1, end_);
    }
  }

  const char* string(const char* p) {
    escaped_ = false;
    for (++p; p < end_; ++p) {
      while (p < end_ && kPlain[static_cast<u8>(*p)]) ++p;
      if (p == end_) return nullptr;
      if (*p == '"') return p + 1;
      if (*p != '\\' || ++p == end_) return nullptr;
      escaped_ = true;
      if (*p == 'u') {
        if (end_ - p < 5 || !is_hex(p[1]) || !is_hex(p[2]) || !is_hex(p[3]) || !is_hex(p[4])) return nullptr;
        p += 4;
      } else if (!std::strchr("\"\\/bfnrt", *p) || *p == '\0') {
        return nullptr;
      }
    }
    return nullptr;
  }

  const char* word(const char* p, std::string_view wanted) const {
    const size_t left = static_cast<size_t>(end_ - p);
    return std::string_view(p, left).starts_with(wanted) ? p + wanted.size() : nullptr;
  }

  const char* digits(const char* p) const {
    if (p == end_ || !is_digit(*p)) return nullptr;
    while (p < end_ && is_digit(*p)) ++p;
    return p;
  }

  const char* number(const char* p) const {
    if (p < end_ && *p == '-') ++p;
    if (p < end_ && *p == '0')
      ++p;
    else if (p = digits(p); !p)
      return nullptr;
    if (p < end_ && *p == '.' && !(p = digits(p + 1))) return nullptr;
    if (p < end_ && (*p | 32) == 'e') {
      ++p;
      if (p < end_ && (*p == '+' || *p == '-')) ++p;
      p = digits(p);
    }
    return p;
  }

  static void keep(std::string_view key, std::string_view value, EventMembers& found) {
    if (key == "pid") found.pid = value;
    if (key == "tid") found.tid = value;
    if (key == "ts") found.ts = value;
    if (key == "id") found.id = value;
  }

  const char* const end_;
  bool escaped_ = false;  // the string read last
};

void append_strict(std::string& out, std::string_view raw, int depth) {
  raw = raw.substr(std::min(raw.size(), raw.find_first_not_of(" \t\r\n")));
  if (raw.empty()) {
    out += "null";
  } else if (raw.front() == '"') {
    out += quoted(to_valid_utf8(text_of(raw)));
  } else if (raw.front() != '{' && raw.front() != '[') {
    const std::string word = to_valid_utf8(raw);
    out += is_strict(word) ? word : quoted(word);
  } else {
    bool damaged = depth == kMostMendedDepth;
    const std::vector<Member> parts = damaged ? std::vector<Member>{} : members(raw, &damaged);
    if (damaged) {  // as text nothing of it is lost
      out += quoted(to_valid_utf8(raw));
      return;
    }
    const bool object = raw.front() == '{';
    out += raw.front();
    bool first = true;
    for (const Member& part : parts) {
      if (!std::exchange(first, false)) out += ", ";
      if (object) out += quoted(to_valid_utf8(part.key)) + ": ";
      append_strict(out, part.raw, depth + 1);
    }
    out += object ? '}' : ']';
  }
}

}  // namespace

bool find_members(std::string_view text, EventMembers& members) {
  members = {};
  if (text.empty() || text.front() != '{') return false;
  return Checker(text).object(text.data(), 0, &members) == text.data() + text.size() && is_valid_utf8(text);
}

bool is_strict(std::string_view value) {
  return Checker(value).value(value.data(), 0) == value.data() + value.size() && is_valid_utf8(value);
}

std::string to_strict(std::string_view value) {
  const char* const end = value.data() + value.size();
  const char* const begin = skip_space(value.data(), end);
  const Scan whole = scan_value(begin, end);
  if (whole.state != State::ok || skip_space(whole.stop, end) != end) return {};
  std::string out;
  append_strict(out, {begin, static_cast<size_t>(whole.stop - begin)}, 0);
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (kPlain[static_cast<u8>(c)])
      out += c;
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else
      out += fmt::format("\\u{:04x}", static_cast<u8>(c));
  }
  return out += '"';
}

}  // namespace spotter::read::json
