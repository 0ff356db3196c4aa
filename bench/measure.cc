// measure COMMAND...: runs a command with its output thrown away and prints its wall time in ns and its peak
// memory in bytes. A program of its own because the kernel counts the memory that a process has before exec,
// which is its parent's: here next to nothing, in a script the size of its interpreter.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

namespace {

long long now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: measure COMMAND...\n", stderr);
    return 2;
  }
  const int nowhere = open("/dev/null", O_WRONLY);
  const long long start = now_ns();
  const pid_t child = fork();
  if (child == 0) {
    dup2(nowhere, STDOUT_FILENO);
    execv(argv[1], argv + 1);
    std::perror(argv[1]);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) {
    std::perror("measure");
    return 1;
  }
  std::printf("%lld %lld\n", now_ns() - start, usage.ru_maxrss * 1024LL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
