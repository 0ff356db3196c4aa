#include "read/boundary.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include "read/json.h"

namespace spotter::read {
namespace {

// Keys that writers begin an event with.
constexpr std::string_view kFirstKeys[] = {"ph", "name", "cat", "pid", "tid", "ts", "dur", "id", "args"};

// Members that writers put beside the events.
constexpr std::string_view kMembers[] = {"traceEvents",
                                         "traceName",
                                         "displayTimeUnit",
                                         "baseTimeNanoseconds",
                                         "distributedInfo",
                                         "schemaVersion",
                                         "deviceProperties",
                                         "trace_id",
                                         "host_name",
                                         "metadata",
                                         "record_shapes",
                                         "profile_memory",
                                         "with_stack",
                                         "with_modules",
                                         "with_flops",
                                         "cupti_version",
                                         "cuda_runtime_version",
                                         "cuda_driver_version",
                                         "INFO",
                                         "WARNING",
                                         "ERROR"};

bool is_member_key(const char* p, const char* end) {
  const read::json::StringScan s = read::json::scan_string(p, end);
  if (s.state != read::json::State::ok) return false;
  const std::string_view key(p + 1, static_cast<size_t>(s.stop - p - 2));
  const char* colon = read::json::skip_space(s.stop, end);
  return colon < end && *colon == ':' &&
         std::find(std::begin(kMembers), std::end(kMembers), key) != std::end(kMembers);
}

bool is_events_key(const char* p, const char* end) {
  constexpr std::string_view kKey = "\"traceEvents\"";
  return std::string_view(p, static_cast<size_t>(end - p)).starts_with(kKey);
}

// What stands ahead of places that are asked for in their order; each stretch is looked at once.
class Ahead {
 public:
  explicit Ahead(const char* end) : end_(end) {}

  bool mentions_events(const char* p) {
    if (!last_key_) {
      const size_t at = std::string_view(p, static_cast<size_t>(end_ - p)).rfind("\"ph\"");
      last_key_ = at == std::string_view::npos ? p - 1 : p + at;
    }
    return *last_key_ >= p;
  }
  bool has_event(const char* p) {
    if (!event_ || p < looked_from_ || p > *event_) {
      looked_from_ = p;
      event_ = next_event(p, end_);
    }
    return *event_ != end_;
  }

 private:
  const char* end_;
  const char* looked_from_ = nullptr;
  std::optional<const char*> last_key_, event_;
};

// p behind '{': white space, one of the keys in quotes, and a colon.
bool is_first_key(const char* p, const char* end) {
  p = read::json::skip_space(p, end);
  if (p == end || *p != '"') return false;
  ++p;
  const void* close = std::memchr(p, '"', static_cast<size_t>(end - p < 8 ? end - p : 8));
  if (!close) return false;
  const char* quote = static_cast<const char*>(close);
  const std::string_view key(p, static_cast<size_t>(quote - p));
  const char* colon = read::json::skip_space(quote + 1, end);
  if (colon == end || *colon != ':') return false;
  for (std::string_view k : kFirstKeys) {
    if (k == key) return true;
  }
  return false;
}

// The last character before p that is no white space; 0 if there is none.
const char* before(const char* begin, const char* p) {
  while (p > begin && read::json::is_space(p[-1])) --p;
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

namespace {

const char* events_end(const char* p, const char* end, bool final, Ahead& ahead) {
  const char* rest = p;
  bool bracket = false;
  for (; rest < end && (*rest == ']' || read::json::is_space(*rest)); ++rest) bracket |= *rest == ']';
  if (!bracket && !final) return nullptr;
  // Walk the members behind. What is not final ends where an event seems to follow, so that the object cannot
  // be over there; and where the walk fails, no event may follow.
  for (const char* q = rest;;) {
    while (q < end && (*q == ',' || read::json::is_space(*q))) ++q;
    if (q == end) return bracket ? rest : nullptr;
    const bool member = *q == '"';
    const bool quiet = final && bracket && !ahead.mentions_events(q) && (member || !ahead.has_event(q));
    if (*q == '}') {
      const char* behind = read::json::skip_space(q + 1, end);
      if (behind == end) return final ? rest : nullptr;
      const bool document = *behind == '{' && is_member_key(read::json::skip_space(behind + 1, end), end);
      return document || (final && quiet) ? rest : nullptr;
    }
    if (!bracket) return is_member_key(q, end) ? rest : nullptr;
    if (is_events_key(q, end)) return rest;
    const read::json::StringScan key = read::json::scan_string(q, end);
    if (key.state == read::json::State::ok &&
        std::string_view(q, static_cast<size_t>(key.stop - q)) == "\"ph\"") {
      return nullptr;  // the members of an event
    }
    const char* colon = key.state == read::json::State::ok ? read::json::skip_space(key.stop, end) : end;
    if (colon == end || *colon != ':') return final && quiet ? rest : nullptr;
    const read::json::Scan value = read::json::scan_value(read::json::skip_space(colon + 1, end), end);
    if (value.state == read::json::State::incomplete) return bracket ? rest : nullptr;
    if (value.state == read::json::State::bad) return final && quiet ? rest : nullptr;
    q = value.stop;
  }
}

}  // namespace

const char* events_end(const char* p, const char* end, bool final) {
  Ahead ahead(end);
  return events_end(p, end, final, ahead);
}

const char* find_events_end(const char* from, const char* to, const char* end, bool final) {
  Ahead ahead(end);
  for (const char* p = from; p < to; ++p) {
    p = static_cast<const char*>(std::memchr(p, ']', static_cast<size_t>(to - p)));
    if (!p) return nullptr;
    const char* previous = before(from, p);
    if (!previous || (*previous != '}' && *previous != ',')) continue;
    if (const char* rest = events_end(p, end, final, ahead)) return rest;
  }
  return nullptr;
}

}  // namespace spotter::read
