#include "net/child.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/time.h"

namespace spotter::net {
namespace {

constexpr u32 kNobodysGroup = 65534;
constexpr int kSpareDescriptors = 16;                 // of the program's own
constexpr int kThisProcess = 1, kIdleDisk = 3 << 13;  // ioprio_set(2); its header is for C alone
constexpr rlim_t kAddressShare = 16;  // of address space to memory: large arrays reserve what they may need
constexpr size_t kShownErrors = 400;  // bytes of what it said last

Result<Descriptor> memory_file(const char* name) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  if (file.fd < 0) return fail(Code::io, "no file in memory can be made: {}", errno_text(errno));
  return file;
}

Result<Descriptor> memory_file_of(const std::string& text) {
  TRY_ASSIGN(Descriptor file, memory_file("input"));
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(file.fd, text.data() + done, text.size() - done);
    if (n <= 0) return fail(Code::io, "a file in memory cannot be written: {}", errno_text(errno));
    done += static_cast<size_t>(n);
  }
  if (lseek(file.fd, 0, SEEK_SET) != 0) return fail(Code::io, "a file in memory: {}", errno_text(errno));
  return file;
}

// `most` bytes from `start`, or what there is.
std::string contents(int fd, off_t start, size_t most) {
  struct stat file;
  if (fstat(fd, &file) != 0 || file.st_size <= start) return {};
  std::string text(std::min(most, static_cast<size_t>(file.st_size - start)), '\0');
  size_t done = 0;
  for (ssize_t n = 1; n > 0 && done < text.size(); done += static_cast<size_t>(std::max<ssize_t>(n, 0)))
    n = pread(fd, text.data() + done, text.size() - done, start + static_cast<off_t>(done));
  text.resize(done);
  return text;
}

std::string last_words(int fd) {
  struct stat file;
  if (fstat(fd, &file) != 0) return {};
  const auto shown = static_cast<off_t>(kShownErrors);
  std::string text = contents(fd, std::max<off_t>(0, file.st_size - shown), kShownErrors);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// What the new process needs, made before there is one: in between only what is safe after a fork may run.
struct Prepared {
  std::vector<Descriptor> descriptors;  // in the child's order, each numbered above its place there
  std::vector<char*> command;
  pid_t parent = getpid();
  u32 uid = 0;
  bool becomes = false;
  rlim_t output = 0, memory = 0;
};

[[noreturn]] void give_up(const char* step) {
  const char* why = strerrordesc_np(errno);
  for (const char* text : {"cannot ", step, ": ", why ? why : "?"})
    (void)!write(STDERR_FILENO, text, std::strlen(text));
  _exit(EXIT_FAILURE);
}

void limit(decltype(RLIMIT_AS) resource, rlim_t most) {
  const rlimit both{most, most};
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
  if (close_range(static_cast<unsigned>(count), ~0U, 0) != 0) give_up("close what it does not need");
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
  limit(RLIMIT_NOFILE, static_cast<rlim_t>(count + kSpareDescriptors));
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

struct Child::Body {
  explicit Body(Loop& loop) : patience(loop) {}

  // Once the process is a zombie.
  Result<std::string> outcome() {
    int status = 0;
    while (waitpid(static_cast<pid_t>(pid), &status, 0) < 0 && errno == EINTR) continue;
    if (late) return fail(Code::io, "it took more than {} s and was ended", order_time / kSecond);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
      return fail(Code::io, "its output is larger than {} bytes", output_bytes);
    const std::string words = last_words(errors.fd);
    const std::string told = words.empty() ? "" : ": " + words;
    if (WIFSIGNALED(status)) return fail(Code::io, "it was ended by signal {}{}", WTERMSIG(status), told);
    if (WEXITSTATUS(status) != 0)
      return fail(Code::io, "it ended with status {}{}", WEXITSTATUS(status), told);
    return contents(output.fd, 0, output_bytes);
  }

  i64 pid = 0;
  bool running = true, late = false;
  Ns order_time = 0;
  size_t output_bytes = 0;
  Descriptor output, errors;
  Timer patience;
  std::unique_ptr<ProcessWatch> watch;
  std::function<void(Result<std::string>)> ended;
};

Child::Child(std::shared_ptr<Body> body) : body_(std::move(body)) {}

Child::~Child() {
  body_->ended = nullptr;
  if (!body_->running) return;
  const auto pid = static_cast<pid_t>(body_->pid);
  kill(pid, SIGKILL);
  if (!body_->watch) waitpid(pid, nullptr, 0);  // else the watch sees to it
}

i64 Child::pid() const { return body_->pid; }

Result<std::unique_ptr<Child>> Child::start(Loop& loop, const ChildOrder& order,
                                            std::function<void(Result<std::string>)> ended) {
  auto body = std::make_shared<Body>(loop);
  body->order_time = order.time;
  body->output_bytes = order.output_bytes;
  TRY_ASSIGN(const Descriptor input, memory_file_of(order.input));
  TRY_ASSIGN(body->output, memory_file("output"));
  TRY_ASSIGN(body->errors, memory_file("errors"));

  Prepared p;
  std::vector<int> wanted = {input.fd, body->output.fd, body->errors.fd};
  for (const Descriptor& file : order.files) wanted.push_back(file.fd);
  for (const int fd : wanted) {
    p.descriptors.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(wanted.size())));
    if (p.descriptors.back().fd < 0) return fail(Code::io, "no descriptor is left: {}", errno_text(errno));
  }
  std::vector<std::string> words = order.command;
  for (std::string& word : words) p.command.push_back(word.data());
  p.command.push_back(nullptr);
  p.becomes = order.uid.has_value();
  p.uid = order.uid.value_or(0);
  p.output = order.output_bytes;
  p.memory = order.memory_bytes;

  const pid_t pid = fork();
  if (pid < 0) return fail(Code::io, "no process can be started: {}", errno_text(errno));
  if (pid == 0) become(p);

  body->pid = pid;
  std::unique_ptr<Child> child(new Child(body));
  TRY_ASSIGN(body->watch, ProcessWatch::open(loop, pid, [body] {
               body->running = false;
               body->patience.cancel();
               Result<std::string> outcome = body->outcome();
               if (const auto tell = std::exchange(body->ended, nullptr)) tell(std::move(outcome));
               body->watch.reset();
             }));
  body->ended = std::move(ended);
  body->patience.set(order.time, [body] {
    body->late = true;
    kill(static_cast<pid_t>(body->pid), SIGKILL);
  });
  return child;
}

}  // namespace spotter::net
