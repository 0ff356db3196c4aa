#include "collect/steps/step_probe.h"

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/system/file.h"
#include "base/text/number.h"
#include "base/text/words.h"

namespace spotter::collect {
namespace {

constexpr size_t kDataPages = 4;  // a power of two
constexpr u64 kRoom = 64;         // bytes: with less no record fits

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
size_t ring_bytes() { return (1 + kDataPages) * page_bytes(); }

Result<u32> uprobe_type(const Host& host) {
  const auto text = read_small_file(host.sys + "/bus/event_source/devices/uprobe/type", 64);
  const auto type = text ? number_in<u32>(trimmed(*text)) : std::nullopt;
  if (!type) return fail(Code::not_found, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
  return *type;
}

Error refusal(int error) {
  switch (error) {
    case EACCES:
      return {Code::denied, "the kernel wants CAP_SYS_ADMIN of who probes another process"};
    case EPERM:  // a container's filter, mostly
      return {
          Code::denied,
          "the kernel wants CAP_SYS_ADMIN of who probes another process, and that no seccomp filter forbids perf_event_open"};
    case ESRCH:
      return {Code::not_found, "the thread has ended"};
    case EMFILE:
      return {Code::io, "this process may open no more files (LimitNOFILE)"};
    default:
      return {Code::io, errno_text(error)};
  }
}

}  // namespace

Result<void> has_uprobes(const Host& host) {
  TRY(uprobe_type(host));
  return {};
}

Result<Descriptor> open_step_probe(const Host& host, i64 thread, const TorchStep& step) {
  TRY_ASSIGN(const u32 type, uprobe_type(host));
  // The kernel looks the name up as this process does: it gets the very file that was read.
  const std::string path = fmt::format("/proc/self/fd/{}", step.library.fd);
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.uprobe_path = reinterpret_cast<u64>(path.c_str());
  attributes.probe_offset = step.offset;
  attributes.sample_period = 1;
  attributes.sample_type = PERF_SAMPLE_TIME;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  attributes.watermark = 1;
  attributes.wakeup_watermark = UINT32_MAX / 2;  // nobody is woken: who reads comes by himself
  const long fd =
      syscall(SYS_perf_event_open, &attributes, static_cast<pid_t>(thread), -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) {
    const Error why = refusal(errno);
    return within(why, fmt::format("thread {} cannot be probed", thread));
  }
  return Descriptor(static_cast<int>(fd));
}

Result<StepMarks> StepMarks::of(Descriptor probe) {
  void* const ring = mmap(nullptr, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, probe.fd, 0);
  if (ring == MAP_FAILED)
    return fail(Code::io, "the marks of a probe cannot be read: {}{}", errno_text(errno),
                errno == EPERM ? " (kernel.perf_event_mlock_kb is used up)" : "");
  return StepMarks(std::move(probe), ring);
}

StepMarks::StepMarks(StepMarks&& other) noexcept
    : probe_(std::move(other.probe_)),
      ring_(std::exchange(other.ring_, nullptr)),
      lost_(other.lost_),
      calls_(other.calls_),
      was_full_(other.was_full_) {}

StepMarks::~StepMarks() {
  if (ring_) munmap(ring_, ring_bytes());
}

std::vector<Ns> StepMarks::read() {
  auto* const head = static_cast<perf_event_mmap_page*>(ring_);
  const auto* const data = static_cast<const std::byte*>(ring_) + page_bytes();
  const u64 bytes = kDataPages * page_bytes();
  const u64 end = std::atomic_ref(head->data_head).load(std::memory_order_acquire);
  const auto copy = [&](u64 at, void* into, size_t count) {
    for (size_t i = 0; i < count; ++i) static_cast<std::byte*>(into)[i] = data[(at + i) % bytes];
  };
  std::vector<Ns> times;
  u64 at = head->data_tail;
  was_full_ |= bytes - (end - at) < kRoom;
  while (end - at >= sizeof(perf_event_header) && end - at <= bytes) {
    perf_event_header record{};
    copy(at, &record, sizeof record);
    if (record.size < sizeof record || record.size > end - at) break;
    if (record.type == PERF_RECORD_SAMPLE && record.size >= sizeof record + sizeof(u64)) {
      u64 time = 0;
      copy(at + sizeof record, &time, sizeof time);
      times.push_back(static_cast<Ns>(time));
    } else if (record.type == PERF_RECORD_LOST && record.size >= sizeof record + 2 * sizeof(u64)) {
      u64 lost[2] = {};  // id, how many
      copy(at + sizeof record, lost, sizeof lost);
      lost_ += static_cast<i64>(lost[1]);
    }
    at += record.size;
  }
  std::atomic_ref(head->data_tail).store(end, std::memory_order_release);
  was_full_ |= lost_ > 0;
  calls_ += std::ssize(times);
  return times;
}

bool StepMarks::has_ended() const {
  pollfd probe{probe_.fd, 0, 0};
  return poll(&probe, 1, 0) > 0 && (probe.revents & POLLHUP) != 0;
}

i64 StepMarks::calls() {
  if (!was_full_) return calls_;
  u64 count = 0;
  if (::read(probe_.fd, &count, sizeof count) == sizeof count) calls_ = static_cast<i64>(count);
  return calls_;
}

}  // namespace spotter::collect
