#include <cerrno>

#include "base/system/file.h"
#include "base/text/words.h"
#include "collect/pmu/pmu.h"

namespace spotter::collect {
namespace {

constexpr size_t kMostText = size_t{16} << 10;

// Whether this process may do it whatever perf_event_paranoid says; capabilities(7).
bool has_capability(const Host& host) {
  constexpr int kSysAdmin = 21, kPerfmon = 38;
  const std::string status = read_small_file(host.proc + "/self/status", kMostText).value_or("");
  std::string_view text = status;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (next_word(line) != "CapEff:") continue;
    const std::string_view word = next_word(line);
    u64 bits = 0;
    std::from_chars(word.data(), word.data() + word.size(), bits, 16);
    return ((bits >> kSysAdmin) & 1) != 0 || ((bits >> kPerfmon) & 1) != 0;
  }
  return false;
}

}  // namespace

// What perf_event_open(2) says of each.
Error pmu_refusal(const Host& host, int error) {
  const std::string path = host.proc + "/sys/kernel/perf_event_paranoid";
  const auto paranoid = to_integer(trimmed(read_small_file(path, kMostText).value_or("")));
  if (error == EACCES || error == EPERM) {
    if (paranoid && *paranoid > 0 && !has_capability(host))
      return {
          Code::denied,
          fmt::format("the kernel does not let this process count events (kernel.perf_event_paranoid is {}): "
                      "give it the capability CAP_PERFMON, or set that to 0",
                      *paranoid)};
    return {
        Code::denied,
        "perf_event_open is forbidden to this process though the kernel would allow it, as seccomp filters "
        "of containers do: allow that call in the container's profile"};
  }
  if (error == ENOSYS)
    return {Code::not_found, paranoid
                                 ? "a seccomp filter hides perf_event_open from this process: allow that "
                                   "call in the container's profile"
                                 : "this kernel was built without performance counters (CONFIG_PERF_EVENTS)"};
  if (error == EMFILE || error == ENFILE)
    return {
        Code::not_found,
        "there are too few file descriptors to count events on all processors: raise the limit of open files "
        "(LimitNOFILE)"};
  if (error == EBUSY)
    return {Code::not_found, "another program has all performance counters of the processors"};
  return {
      Code::not_found,
      "the processors show no performance counters, as in most virtual machines, whose host would have to pass "
      "them on"};
}

}  // namespace spotter::collect
