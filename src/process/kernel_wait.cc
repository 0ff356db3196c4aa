#include "process/kernel_wait.h"

#include "base/system/file.h"
#include "base/text/words.h"
#include "process/process_stat.h"

namespace spotter::process {
namespace {

constexpr size_t kMostText = size_t{64} << 10;
constexpr size_t kMostFrames = 16;

std::string text_of(const Host& host, i64 pid, const char* name) {
  return read_small_file(fmt::format("{}/{}/{}", host.proc, pid, name), kMostText).value_or("");
}

// "[<0>] futex_wait_queue+0x6f/0xb0"
std::vector<std::string> frames_in(std::string_view text) {
  std::vector<std::string> frames;
  while (!text.empty() && frames.size() < kMostFrames) {
    std::string_view line = next_line(text);
    next_word(line);
    const std::string_view place = next_word(line);
    if (const std::string_view name = place.substr(0, place.find('+')); !name.empty())
      frames.emplace_back(name);
  }
  return frames;
}

}  // namespace

KernelWait read_kernel_wait(const Host& host, i64 pid) {
  KernelWait wait;
  const auto stat = read_stat(host, pid);
  if (!stat) return wait;
  wait.state = stat->state;
  wait.function = trimmed(text_of(host, pid, "wchan"));
  if (wait.function == "0") wait.function.clear();
  wait.stack = frames_in(text_of(host, pid, "stack"));
  return wait;
}

}  // namespace spotter::process
