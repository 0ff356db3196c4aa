#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/system/file.h"
#include "base/text/number.h"
#include "read/endings.h"
#include "read/flight_recorder/flight_recorder.h"
#include "read/json.h"
#include "read/plain_data/json_data.h"
#include "read/plain_data/pickle.h"
#include "read/source.h"
#include "trace/job.h"

namespace spotter::read {
namespace {

constexpr size_t kMostBytes = size_t{256} << 20;  // 2,000 calls, the recorder's usual number, are 0.5 MB
constexpr size_t kHeadBytes = 4096;

// Some key that no other pickle has.
bool names_a_key(std::string_view head) {
  constexpr std::array<std::string_view, 4> kKeys = {"pg_config", "pg_status", "collective_seq_id",
                                                     "profiling_name"};
  return std::ranges::any_of(kKeys, [&](std::string_view key) { return head.find(key) != head.npos; });
}

// What stands behind the brace of an object; nullptr where the text is none.
const char* inside_object(std::string_view text) {
  const char* end = text.data() + text.size();
  const char* p = json::skip_space(text.data(), end);
  return p < end && *p == '{' ? p + 1 : nullptr;
}

// Traces have some of the keys too, but further inside: "distributedInfo" has a "pg_config".
bool has_a_key_first(std::string_view head) {
  constexpr std::array<std::string_view, 7> kKeys = {
      "version", "comm_lib_version", "nccl_version", "nccl_comm_state", "pg_config", "pg_status", "entries"};
  const char* end = head.data() + head.size();
  const char* p = inside_object(head);
  if (!p) return false;
  p = json::skip_space(p, end);
  const json::StringScan key = json::scan_string(p, end);
  if (key.state != json::State::ok) return false;
  const std::string_view name(p + 1, static_cast<size_t>(key.stop - p - 2));
  return std::ranges::find(kKeys, name) != kKeys.end();
}

std::string_view stem_of(std::string_view path) {
  std::string_view name = base_name(path);
  if (ending_of(name)) return without_ending(name);
  for (const std::string_view ending : {".pickle", ".pkl"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return name;
}

std::optional<i64> last_number(std::string_view name) {
  const size_t before = name.find_last_not_of("0123456789");
  return number_in<u32>(name.substr(before == name.npos ? 0 : before + 1));
}

Result<FlightRecord> parse(std::string bytes) {
  const bool is_pickle = begins_like_pickle(bytes);
  if (!is_pickle && !inside_object(bytes))
    return fail(Code::invalid, "it is no flight recorder dump: neither a pickle nor a JSON object");
  TRY_ASSIGN(const PlainData data,
             is_pickle ? parse_pickle(std::move(bytes)) : parse_json_data(std::move(bytes)));
  return to_flight_record(data);
}

}  // namespace

std::optional<i64> rank_of_flight_record(std::string_view path) {
  const std::string_view stem = stem_of(path);
  const std::optional<i64> rank = rank_in_name(stem);
  return rank ? rank : last_number(stem);
}

bool begins_like_flight_record(const std::string& path) {
  const std::string_view stem = stem_of(path);
  struct stat info;
  if (!last_number(stem) || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  Notes unused;
  const std::string head = read_bytes(path, kHeadBytes, unused).value_or("");
  return (begins_like_pickle(head) || has_a_key_first(head)) && names_a_key(head);
}

namespace {

Result<FlightRecord> load_one(const std::string& path) {
  Notes damage;
  TRY_ASSIGN(std::string bytes, read_bytes(path, kMostBytes + 1, damage));
  if (bytes.size() > kMostBytes)
    return fail(Code::unsupported, "{}: is longer than {} MiB", path, kMostBytes >> 20);
  Result<FlightRecord> record = parse(std::move(bytes));
  if (!record) return within(std::move(record).error(), path);
  record->notes.merge(damage);
  return record;
}

}  // namespace

Result<FlightRecord> load_flight_record(const FlightRecordFile& file) {
  Result<FlightRecord> record = load_one(file.path);
  if (!record && !file.beside.empty()) {
    if (Result<FlightRecord> other = load_one(file.beside)) {
      other->notes.add("flight_record_damaged", Severity::repair,
                       fmt::format("a dump was read from the JSON beside it, which tells less: {}",
                                   record.error().message));
      record = std::move(other);
    }
  }
  if (record) record->file = file;
  return record;
}

}  // namespace spotter::read
