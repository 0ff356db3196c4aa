#include "net/spawn.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/system/descriptor.h"

namespace spotter::net {
namespace {

constexpr u32 kNobodysGroup = 65534;
constexpr int kThisProcess = 1, kIdleDisk = 3 << 13;  // ioprio_set(2); its header is for C alone
constexpr rlim_t kAddressShare = 16;  // of address space to memory: large arrays reserve what they may need

// What the new process needs, made before there is one: in between only what is safe after a fork may run.
struct Prepared {
  std::vector<Descriptor> descriptors;  // in the child's order, each numbered above its place there
  std::vector<char*> command;
  pid_t parent = getpid();
  u32 uid = 0;
  bool becomes = false;
  rlim_t output = 0, memory = 0, descriptors_more = 0;
};

[[noreturn]] void give_up(const char* step) {
#if __GLIBC_PREREQ(2, 32)
  const char* why = strerrordesc_np(errno);
#else
  const char* why = std::strerror(errno);  // may look for a translation; nobody has chosen a language
#endif
  for (const char* text : {"cannot ", step, ": ", why ? why : "?"})
    (void)!write(STDERR_FILENO, text, std::strlen(text));
  _exit(EXIT_FAILURE);
}

// By its number: glibc has close_range(2) from 2.34 on. Linux before 5.9 and some containers do not know it.
void close_from(int first) {
  if (syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0) == 0) return;
  rlimit now{};
  if (getrlimit(RLIMIT_NOFILE, &now) != 0) give_up("close what it does not need");
  for (rlim_t fd = static_cast<rlim_t>(first); fd < now.rlim_cur; ++fd) close(static_cast<int>(fd));
}

void limit(decltype(RLIMIT_AS) resource, rlim_t most) {
  rlimit now{};
  if (getrlimit(resource, &now) != 0) give_up("look at its limits");
  const rlim_t least = std::min(most, now.rlim_max);  // what is lower already cannot be raised
  const rlimit both{least, least};
  if (setrlimit(resource, &both) != 0) give_up("limit itself");
}

// Whoever runs out of memory on this host, it goes first.
void go_first() {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) (void)!write(fd, "1000", 4);
}

[[noreturn]] void become(const Prepared& p) {
  const int count = static_cast<int>(p.descriptors.size());
  for (int place = 0; place < count; ++place)
    if (dup2(p.descriptors[static_cast<size_t>(place)].fd, place) < 0) give_up("take its descriptors");
  close_from(count);
  // What this process ignores the program would ignore, too.
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();
  if (chdir("/") != 0) give_up("go to /");
  setpriority(PRIO_PROCESS, 0, 19);
  syscall(SYS_ioprio_set, kThisProcess, 0, kIdleDisk);
  go_first();
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, p.output);
  limit(RLIMIT_NOFILE, static_cast<rlim_t>(count) + p.descriptors_more);
  if (p.memory > 0) {
    limit(RLIMIT_DATA, p.memory);
    limit(RLIMIT_AS, kAddressShare * p.memory);
  }
  if (p.becomes &&
      (syscall(SYS_setgroups, 0, nullptr) != 0 ||
       setresgid(kNobodysGroup, kNobodysGroup, kNobodysGroup) != 0 || setresuid(p.uid, p.uid, p.uid) != 0))
    give_up("become the user it should run as");
  // A service that is not root may have some that are handed on, and a change of the user leaves what may be.
  __user_cap_header_struct version{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct no_capabilities[_LINUX_CAPABILITY_U32S_3]{};
  if (syscall(SYS_capset, &version, no_capabilities) != 0) give_up("give up its capabilities");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("give up new privileges");
  // A change of the user clears it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up("end with its parent");
  if (getppid() != p.parent) _exit(EXIT_FAILURE);
  char* const no_environment[] = {nullptr};
  execve(p.command[0], p.command.data(), no_environment);
  give_up("run the program");
}

}  // namespace

Result<pid_t> spawn(const Spawn& wanted) {
  Prepared p;
  for (const int fd : wanted.descriptors) {
    p.descriptors.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(wanted.descriptors.size())));
    if (p.descriptors.back().fd < 0) return fail(Code::io, "no descriptor is left: {}", errno_text(errno));
  }
  std::vector<std::string> words = wanted.command;
  for (std::string& word : words) p.command.push_back(word.data());
  p.command.push_back(nullptr);
  p.becomes = wanted.uid.has_value();
  p.uid = wanted.uid.value_or(0);
  p.output = wanted.output_bytes;
  p.memory = wanted.memory_bytes;
  p.descriptors_more = wanted.descriptors_more;
  const pid_t pid = fork();
  if (pid < 0) return fail(Code::io, "no process can be started: {}", errno_text(errno));
  if (pid == 0) become(p);
  return pid;
}

}  // namespace spotter::net
