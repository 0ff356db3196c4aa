#include "read/envelope.h"

#include <algorithm>

#include "base/text/utf8.h"
#include "read/json.h"
#include "read/source.h"
#include "trace/merged_traces.h"

namespace spotter::read {
namespace {

constexpr std::string_view kEvents = "traceEvents", kEventsKey = "\"traceEvents\"";
constexpr std::string_view kBom = "\xEF\xBB\xBF";

// Where a list begins behind `"traceEvents"` at `at`; npos if the text is something else.
size_t list_behind_key(std::string_view text, size_t at) {
  const char* end = text.data() + text.size();
  const char* p = read::json::skip_space(text.data() + at + kEventsKey.size(), end);
  if (p == end || *p != ':') return text.npos;
  p = read::json::skip_space(p + 1, end);
  return p < end && *p == '[' ? static_cast<size_t>(p + 1 - text.data()) : text.npos;
}

EventsStart started(std::string_view text, size_t brace, size_t key, size_t at) {
  return {true, at, fmt::format("{}}}", text.substr(brace, key - brace)), false};
}

tl::unexpected<Error> no_trace(const std::string& path, std::string_view text) {
  std::vector<std::string> keys;
  for (read::json::Member& m : read::json::members(text)) keys.push_back(std::move(m.key));
  const auto has = [&](std::string_view k) { return std::find(keys.begin(), keys.end(), k) != keys.end(); };
  if (has("nodes") && has("schema")) {
    return fail(Code::unsupported,
                "{}: this is a PyTorch execution trace (a graph of operators without times); give the "
                "Kineto trace that was recorded with it",
                path);
  }
  std::string some;
  for (size_t i = 0; i < std::min<size_t>(keys.size(), 5); i++)
    some += fmt::format("{}\"{}\"", i ? ", " : "", keys[i]);
  return fail(Code::unsupported, "{}: JSON, but no Kineto trace: it has no list \"traceEvents\"{}{}", path,
              some.empty() ? "" : "; its keys are ", to_valid_utf8(some));
}

Result<EventsStart> start_of_list(std::string_view text, size_t bracket, bool complete,
                                  const std::string& path) {
  const char* end = text.data() + text.size();
  const char* p = read::json::skip_space(text.data() + bracket + 1, end);
  if (p == end && !complete) return EventsStart{};
  if (p == end || *p == '{' || *p == ']') return EventsStart{true, bracket + 1, "{}", true};
  return fail(Code::unsupported, "{}: a JSON list, but not of trace events{}", path,
              *p == '[' ? " (a memory timeline looks so)" : "");
}

// Walks the members of the object at `brace`.
Result<EventsStart> start_in_object(std::string_view text, size_t brace, bool complete,
                                    const std::string& path) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin + brace + 1;
  bool derailed = false;
  while (!derailed) {
    p = read::json::skip_space(p, end);
    while (p < end && *p == ',') p = read::json::skip_space(p + 1, end);
    if (p < end && *p == '}') return no_trace(path, text);
    const read::json::StringScan key = read::json::scan_string(p, end);
    if (key.state == read::json::State::incomplete || p == end) break;
    const size_t key_at = static_cast<size_t>(p - begin);
    const char* colon = read::json::skip_space(key.stop, end);
    if (colon == end) break;
    derailed = key.state != read::json::State::ok || *colon != ':';
    if (derailed) break;
    const char* value = read::json::skip_space(colon + 1, end);
    if (value == end) break;
    if (*value == '[' && read::json::text_of({p, static_cast<size_t>(key.stop - p)}) == kEvents) {
      return started(text, brace, key_at, static_cast<size_t>(value + 1 - begin));
    }
    p = value;
    if (*value == ',' || *value == '}') continue;  // "key": with nothing behind it
    const read::json::Scan s = read::json::scan_value(value, end);
    if (s.state == read::json::State::incomplete) break;
    derailed = s.state != read::json::State::ok;
    p = s.stop;
  }
  if (!derailed && !complete) return EventsStart{};
  // A member before the events is damaged, or the text is over: look for the key itself.
  for (size_t at = text.find(kEventsKey); at != text.npos; at = text.find(kEventsKey, at + 1)) {
    if (const size_t list = list_behind_key(text, at); list != text.npos)
      return started(text, brace, at, list);
  }
  if (!complete) return EventsStart{};
  if (text.size() >= kMostHeader)
    return fail(Code::unsupported, "{}: no trace events within the first {} MiB of its text", path,
                kMostHeader >> 20);
  return fail(Code::corrupt, "{}: the file ends before its trace events begin; it was cut off or is no trace",
              path);
}

// The text of a member, with bad UTF-8 mended.
std::string clean(std::string_view raw) { return to_valid_utf8(read::json::text_of(raw)); }

void read_base(std::string_view raw, TraceInfo& info, Notes& notes) {
  const std::optional<i64> base = read::json::to_integer(read::json::text_of(raw));
  if (base && *base >= 0 && *base <= kMaxTime) {
    info.base_ns = *base;
  } else {
    notes.add("bad_base_time", Severity::loss, "baseTimeNanoseconds is no usable number; times count from 0");
  }
}

void read_devices(std::string_view raw, TraceInfo& info) {
  for (const read::json::Member& element : read::json::members(raw)) {
    Device d;
    for (const read::json::Member& m : read::json::members(element.raw)) {
      if (m.key == "id") d.id = read::json::to_integer(m.raw).value_or(0);
      if (m.key == "name") d.name = clean(m.raw);
      if (m.key == "totalGlobalMem") d.memory_bytes = read::json::to_integer(m.raw).value_or(0);
      if (m.key == "numSms" || m.key == "maxComputeUnits")
        d.sm_count = read::json::to_integer(m.raw).value_or(0);
      if (m.key == "computeMajor") d.compute_major = read::json::to_integer(m.raw);
      if (m.key == "computeMinor") d.compute_minor = read::json::to_integer(m.raw);
    }
    info.devices.push_back(std::move(d));
  }
}

void read_distributed(std::string_view raw, TraceInfo& info, Notes& notes) {
  for (const read::json::Member& m : read::json::members(raw)) {
    if (m.key == "rank") {
      info.rank = read::json::to_integer(read::json::text_of(m.raw));
      if (info.rank.value_or(-1) < 0) info.rank.reset();
      if (!info.rank)
        notes.add("no_rank", Severity::repair,
                  "distributedInfo has a rank that is no number from 0 on; it is not used");
    }
    if (m.key == "world_size") {
      info.world_size = read::json::to_integer(read::json::text_of(m.raw));
      if (info.world_size.value_or(0) <= 0) info.world_size.reset();
    }
    if (m.key == "backend") info.backend = clean(m.raw);
    if (m.key == "nccl_version") info.nccl_version = clean(m.raw);
  }
}

void read_member(const std::string& key, std::string_view raw, TraceInfo& info, Notes& notes) {
  if (key == "baseTimeNanoseconds") read_base(raw, info, notes);
  if (key == "deviceProperties") read_devices(raw, info);
  if (key == "distributedInfo") read_distributed(raw, info, notes);
  if (key == "host_name") info.host_name = clean(raw);
  if (key == "traceName") info.trace_name = clean(raw);
  if (key == "trace_id") info.trace_id = clean(raw);
  if (key == trace::kMergedTraces && read::json::to_integer(raw).value_or(0) > 1)
    notes.add(
        trace::kMergedTraces, Severity::loss,
        "this is a timeline of several traces, as `spotter export` merges them for viewers; it is read as "
        "one process, whose calls and device work are mixed: analyse the traces that it was made from");
  if (key == "traceEvents") {
    notes.add("second_events", Severity::loss, "a second traceEvents list was ignored");
  } else {
    info.metadata.emplace_back(to_valid_utf8(key), to_valid_utf8(raw));
  }
}

// Behind damage the members are no longer known, but those that matter can be looked for by name.
void find_lost_members(std::string_view object, const std::vector<read::json::Member>& found, TraceInfo& info,
                       Notes& notes) {
  for (std::string_view key :
       {"baseTimeNanoseconds", "distributedInfo", "deviceProperties", "host_name", "traceName"}) {
    if (std::any_of(found.begin(), found.end(), [&](const read::json::Member& m) { return m.key == key; }))
      continue;
    const size_t at = object.rfind(fmt::format("\"{}\"", key));
    if (at == object.npos) continue;
    const char* end = object.data() + object.size();
    const char* p = read::json::skip_space(object.data() + at + key.size() + 2, end);
    if (p == end || *p != ':') continue;
    p = read::json::skip_space(p + 1, end);
    const read::json::Scan value = read::json::scan_value(p, end);
    if (value.state != read::json::State::ok) continue;
    read_member(std::string(key), {p, static_cast<size_t>(value.stop - p)}, info, notes);
  }
}

void read_members(std::string_view object, TraceInfo& info, Notes& notes) {
  bool damaged = false;
  const std::vector<read::json::Member> found = read::json::members(object, &damaged);
  for (const read::json::Member& m : found) read_member(m.key, m.raw, info, notes);
  if (!damaged) return;
  find_lost_members(object, found, info, notes);
  notes.add("damaged_metadata", Severity::loss,
            "the members around the events are damaged or cut off; some facts of the file (rank, devices, "
            "time base) may be missing");
}

}  // namespace

Result<EventsStart> find_events(std::string_view text, bool complete, const std::string& path) {
  size_t at = text.starts_with(kBom) ? kBom.size() : 0;
  while (at < text.size() && read::json::is_space(text[at])) at++;
  if (at == text.size()) {
    if (!complete) return EventsStart{};
    return fail(Code::corrupt,
                "{}: the file is empty (white space only); its writer may have ended too early", path);
  }
  if (text[at] == '[') return start_of_list(text, at, complete, path);
  if (text[at] == '{') return start_in_object(text, at, complete, path);
  if (text[at] == '<')
    return fail(Code::unsupported, "{}: an HTML or XML page, not a trace; was the download refused?", path);
  if (text.starts_with("\x1F\x8B") || text.starts_with("\x28\xB5\x2F\xFD"))
    return fail(Code::invalid, "{}: this was compressed twice: unpack it once (gunzip, unzstd)", path);
  TRY(check_format(text, path));
  // A field of bytes, number 1, and more that is no text.
  constexpr size_t kLooked = 64;
  const auto is_control = [](char c) { return c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t'; };
  if (text.front() == '\n' && std::ranges::any_of(text.substr(0, kLooked), is_control))
    return fail(Code::unsupported,
                "{}: a protocol buffer (Perfetto's traces and XPlanes look so), not a Kineto JSON trace",
                path);
  return fail(Code::unsupported, "{}: neither JSON nor a compressed trace (it begins with byte 0x{:02x})",
              path, static_cast<unsigned char>(text[at]));
}

void read_info(std::string_view before, std::string_view after, bool closed, TraceInfo& info, Notes& notes) {
  read_members(before, info, notes);
  while (!after.empty() && (read::json::is_space(after.front()) || after.front() == ','))
    after.remove_prefix(1);
  if (after.empty() && !closed) return;
  const std::string object = fmt::format("{{{}", after);
  const read::json::Scan whole = read::json::scan_value(object.data(), object.data() + object.size());
  const size_t size =
      whole.state == read::json::State::ok ? static_cast<size_t>(whole.stop - object.data()) : object.size();
  read_members(std::string_view(object).substr(0, size), info, notes);
  const size_t rest = object.find_first_not_of(" \t\r\n", size);
  if (rest != object.npos)
    notes.add("text_behind_the_end", Severity::loss,
              "there is text behind the end of the trace (another one, appended to it?); it was not read");
}

}  // namespace spotter::read
