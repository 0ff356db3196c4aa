#include "base/system/command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/system/descriptor.h"
#include "base/types.h"

namespace spotter {
namespace {

struct Pipe {
  Descriptor out, in;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }
};

// False at the end of it.
bool read_some(int fd, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t n = read(fd, buffer.data(), buffer.size());
  if (n > 0) text.append(buffer.data(), static_cast<size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

void read_both(Pipe& out, Pipe& err, std::string& out_text, std::string& err_text) {
  pollfd waiting[] = {{out.out.fd, POLLIN, 0}, {err.out.fd, POLLIN, 0}};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    if (poll(waiting, 2, -1) < 0 && errno != EINTR) return;
    if (waiting[0].revents && !read_some(waiting[0].fd, out_text)) waiting[0].fd = -1;
    if (waiting[1].revents && !read_some(waiting[1].fd, err_text)) waiting[1].fd = -1;
  }
}

}  // namespace

Result<std::string> run_command(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  Pipe out, err;
  if (out.out.fd < 0 || err.out.fd < 0) return fail(Code::io, "{}: {}", words[0], errno_text(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.in.fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.in.fd, STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return fail(error == ENOENT ? Code::not_found : Code::io, "{} cannot be run: {}", words[0],
                errno_text(error));
  out.in = Descriptor();
  err.in = Descriptor();
  std::string out_text, err_text;
  read_both(out, err, out_text, err_text);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return out_text;
  while (!err_text.empty() && err_text.back() == '\n') err_text.pop_back();
  return fail(Code::io, "{} failed: {}", fmt::join(words, " "),
              err_text.empty() ? fmt::format("status {}", status) : err_text);
}

}  // namespace spotter
