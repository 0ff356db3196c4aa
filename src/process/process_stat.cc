#include "process/process_stat.h"

#include <array>
#include <functional>

#include "base/system/file.h"
#include "base/text/words.h"

namespace spotter::process {
namespace {

// Fields behind the name, from 0.
constexpr size_t kState = 0, kParent = 1, kMinorFaults = 7, kMajorFaults = 9, kUser = 11, kSystem = 12,
                 kThreads = 17, kStart = 19, kSize = 20, kResident = 21;
constexpr size_t kFields = 22;
constexpr size_t kStack = 3;  // of those after them

// What is none counts as 0.
i64 number(std::string_view word) { return to_integer(word).value_or(0); }

}  // namespace

// The name in parentheses may itself contain any character; the fields behind its end may not.
std::optional<ProcessStat> parse_stat(std::string_view text) {
  const size_t name_end = text.rfind(')');
  if (name_end == text.npos) return std::nullopt;
  const std::string_view name = text.substr(0, name_end);
  text = trimmed(text.substr(name_end + 1));
  std::array<std::string_view, kFields> fields;
  for (std::string_view& field : fields) {
    field = next_word(text);
    if (field.empty()) return std::nullopt;
  }
  ProcessStat stat;
  stat.state = fields[kState].front();
  stat.parent = number(fields[kParent]);
  stat.minor_faults = number(fields[kMinorFaults]);
  stat.major_faults = number(fields[kMajorFaults]);
  stat.user_ticks = number(fields[kUser]);
  stat.system_ticks = number(fields[kSystem]);
  stat.threads = number(fields[kThreads]);
  // A first thread that has ended is a zombie while others of its process run.
  stat.has_ended = (fields[kState] == "Z" && stat.threads <= 1) || fields[kState] == "X";
  stat.start_ticks = number(fields[kStart]);
  stat.resident_pages = number(fields[kResident]);
  for (size_t i = 0; i < kStack; ++i) next_word(text);
  const i64 stack = number(next_word(text));
  const bool has_memory = number(fields[kSize]) != 0;
  stat.program = stack != 0 ? static_cast<u64>(stack) : has_memory ? std::hash<std::string_view>()(name) : 0;
  return stat;
}

std::optional<ProcessStat> read_stat(const Host& host, i64 pid) {
  constexpr size_t kMostText = size_t{64} << 10;
  const auto text = read_small_file(fmt::format("{}/{}/stat", host.proc, pid), kMostText);
  return text ? parse_stat(*text) : std::nullopt;
}

}  // namespace spotter::process
