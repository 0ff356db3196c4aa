#include "collect/process_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "collect/values.h"
#include "collect/words.h"

namespace spotter::collect {
namespace {

// Fields of stat behind the name, from 0.
constexpr int kMinorFaults = 7, kMajorFaults = 9, kUser = 11, kSystem = 12, kThreads = 17, kStart = 19,
              kResident = 21;
constexpr int kFields = 22;
constexpr size_t kMostText = 4096;

Descriptor open_file(const std::string& path) { return Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

std::string_view read_text(const Descriptor& file, std::array<char, kMostText>& text) {
  const ssize_t n = file.fd < 0 ? 0 : pread(file.fd, text.data(), text.size(), 0);
  return {text.data(), static_cast<size_t>(std::max<ssize_t>(n, 0))};
}

}  // namespace

Ns ns_per_tick() {
  static const Ns ns = 1'000'000'000 / std::max<i64>(sysconf(_SC_CLK_TCK), 1);
  return ns;
}

ProcessFiles::ProcessFiles(const Host& host, i64 pid)
    : stat_path_(fmt::format("{}/{}/stat", host.proc, pid)),
      stat_(open_file(stat_path_)),
      io_(open_file(fmt::format("{}/{}/io", host.proc, pid))) {}

Result<ProcessTimes> ProcessFiles::read() {
  std::array<char, kMostText> buffer;
  std::string_view text = read_text(stat_, buffer);
  if (text.empty()) return fail(Code::not_found, "{} cannot be read: the process has ended", stat_path_);
  const size_t end = text.rfind(')');
  if (end == text.npos) return fail(Code::corrupt, "{} is not as the kernel writes it", stat_path_);
  text.remove_prefix(end + 1);
  std::array<i64, kFields> fields{};
  for (i64& field : fields) {
    const std::string_view word = next_word(text);
    if (word.empty()) return fail(Code::corrupt, "{} is not as the kernel writes it", stat_path_);
    field = to_integer(trimmed(word)).value_or(0);
  }
  const auto user = scaled(fields[kUser], ns_per_tick()), system = scaled(fields[kSystem], ns_per_tick()),
             start = scaled(fields[kStart], ns_per_tick()),
             resident = scaled(fields[kResident], sysconf(_SC_PAGESIZE));
  if (!user || !system || !start || !resident)
    return fail(Code::corrupt, "{} has numbers that cannot be", stat_path_);
  ProcessTimes times;
  times.user_ns = *user;
  times.system_ns = *system;
  times.threads = fields[kThreads];
  times.resident_bytes = *resident;
  times.minor_faults = fields[kMinorFaults];
  times.major_faults = fields[kMajorFaults];
  times.start_ns = *start;
  for (std::string_view io = read_text(io_, buffer); !io.empty();) {
    std::string_view line = next_line(io);
    const std::string_view name = next_word(line);
    if (name == "read_bytes:") times.read_bytes = to_integer(next_word(line));
    if (name == "write_bytes:") times.written_bytes = to_integer(next_word(line));
  }
  return times;
}

}  // namespace spotter::collect
