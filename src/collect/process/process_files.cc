#include "collect/process/process_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text/words.h"
#include "collect/host/kernel_ticks.h"
#include "collect/values.h"
#include "process/process_stat.h"

namespace spotter::collect {
namespace {

constexpr size_t kMostText = 4096;

Descriptor open_file(const std::string& path) { return Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

std::string_view read_text(const Descriptor& file, std::array<char, kMostText>& text) {
  const ssize_t n = file.fd < 0 ? 0 : pread(file.fd, text.data(), text.size(), 0);
  return {text.data(), static_cast<size_t>(std::max<ssize_t>(n, 0))};
}

}  // namespace

ProcessFiles::ProcessFiles(const Host& host, i64 pid)
    : stat_path_(fmt::format("{}/{}/stat", host.proc, pid)),
      stat_(open_file(stat_path_)),
      io_(open_file(fmt::format("{}/{}/io", host.proc, pid))) {}

Result<ProcessTimes> ProcessFiles::read(const ProcessTimes* last) {
  std::array<char, kMostText> buffer;
  const std::string_view text = read_text(stat_, buffer);
  if (text.empty()) return fail(Code::not_found, "{} cannot be read: the process has ended", stat_path_);
  const auto stat = process::parse_stat(text);
  if (!stat) return fail(Code::corrupt, "{} is not as the kernel writes it", stat_path_);
  const auto user = scaled(stat->user_ticks, ns_per_tick()),
             system = scaled(stat->system_ticks, ns_per_tick()),
             start = scaled(stat->start_ticks, ns_per_tick()),
             resident = scaled(stat->resident_pages, sysconf(_SC_PAGESIZE));
  if (!user || !system || !start || !resident)
    return fail(Code::corrupt, "{} has numbers that cannot be", stat_path_);
  ProcessTimes times;
  times.user_ns = *user;
  times.system_ns = *system;
  times.threads = stat->threads;
  times.resident_bytes = *resident;
  times.minor_faults = stat->minor_faults;
  times.major_faults = stat->major_faults;
  times.start_ticks = stat->start_ticks;
  times.start_ns = *start;
  times.program = stat->program;
  times.has_ended = stat->has_ended;
  if (last && !times.has_ended) {
    times.read_bytes = last->read_bytes;
    times.written_bytes = last->written_bytes;
    return times;
  }
  for (std::string_view io = read_text(io_, buffer); !io.empty();) {
    std::string_view line = next_line(io);
    const std::string_view name = next_word(line);
    if (name == "read_bytes:") times.read_bytes = to_integer(next_word(line));
    if (name == "write_bytes:") times.written_bytes = to_integer(next_word(line));
  }
  return times;
}

}  // namespace spotter::collect
