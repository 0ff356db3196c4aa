#include "net/child.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/time.h"
#include "net/memory_file.h"
#include "net/spawn.h"

namespace spotter::net {
namespace {

constexpr size_t kShownErrors = 400;  // bytes of what it said last

std::string last_words(const Descriptor& errors) {
  struct stat file;
  if (fstat(errors.fd, &file) != 0) return {};
  const auto shown = static_cast<off_t>(kShownErrors);
  std::string text = contents(errors, std::max<off_t>(0, file.st_size - shown), kShownErrors);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
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
    const std::string words = last_words(errors);
    const std::string told = words.empty() ? "" : ": " + words;
    if (WIFSIGNALED(status)) return fail(Code::io, "it was ended by signal {}{}", WTERMSIG(status), told);
    if (WEXITSTATUS(status) != 0)
      return fail(Code::io, "it ended with status {}{}", WEXITSTATUS(status), told);
    return contents(output, 0, output_bytes);
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

  Spawn wanted{.command = order.command,
               .descriptors = {input.fd, body->output.fd, body->errors.fd},
               .uid = order.uid,
               .output_bytes = order.output_bytes,
               .memory_bytes = order.memory_bytes,
               .descriptors_more = order.descriptors_more};
  for (const Descriptor& file : order.files) wanted.descriptors.push_back(file.fd);
  TRY_ASSIGN(const pid_t pid, spawn(wanted));

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
