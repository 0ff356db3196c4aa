#include "read/boundary.h"

#include <cstring>
#include <string_view>

#include "read/json.h"

namespace spotter {
namespace {

// Keys that writers begin an event with.
constexpr std::string_view kFirstKeys[] = {"ph", "name", "cat", "pid", "tid", "ts", "dur", "id", "args"};

// p behind '{': white space, one of the keys in quotes, and a colon.
bool is_first_key(const char* p, const char* end) {
  p = json::skip_space(p, end);
  if (p == end || *p != '"') return false;
  ++p;
  const void* close = std::memchr(p, '"', static_cast<size_t>(end - p < 8 ? end - p : 8));
  if (!close) return false;
  const char* quote = static_cast<const char*>(close);
  const std::string_view key(p, static_cast<size_t>(quote - p));
  const char* colon = json::skip_space(quote + 1, end);
  if (colon == end || *colon != ':') return false;
  for (std::string_view k : kFirstKeys) {
    if (k == key) return true;
  }
  return false;
}

// The last character before p that is no white space; 0 if there is none.
const char* before(const char* begin, const char* p) {
  while (p > begin && json::is_space(p[-1])) --p;
  return p > begin ? p - 1 : nullptr;
}

}  // namespace

const char* last_boundary(const char* begin, const char* end) {
  for (const char* p = end; p > begin;) {
    p = static_cast<const char*>(memrchr(begin, '{', static_cast<size_t>(p - begin)));
    if (!p) return nullptr;
    if (!is_first_key(p + 1, end)) continue;
    const char* comma = before(begin, p);
    if (!comma || *comma != ',') continue;
    const char* brace = before(begin, comma);
    if (brace && *brace == '}') return brace + 1;
  }
  return nullptr;
}

const char* next_event(const char* p, const char* end) {
  const char* begin = p;
  while (p < end) {
    p = static_cast<const char*>(std::memchr(p, '{', static_cast<size_t>(end - p)));
    if (!p) return end;
    const char* previous = before(begin, p);
    if (is_first_key(p + 1, end) && !(previous && (*previous == ':' || *previous == '['))) return p;
    ++p;
  }
  return end;
}

bool is_array_end(const char* p, const char* end) {
  p = json::skip_space(p + 1, end);
  if (p == end) return true;
  if (*p == '}') return json::skip_space(p + 1, end) == end;
  if (*p != ',') return false;
  p = json::skip_space(p + 1, end);
  if (p == end) return true;
  if (*p == '}') return json::skip_space(p + 1, end) == end;
  return *p == '"' && next_event(p, end) == end;
}

}  // namespace spotter
