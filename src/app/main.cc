// spotter: understand the command line, run the command, say what went wrong.
#include <csignal>
#include <cstdio>
#include <new>

#include "app/cli/command_line.h"
#include "app/cli/interruption.h"
#include "app/list.h"
#include "base/text/utf8.h"

int main(int argc, char** argv) {
  using namespace spotter;
  app::end_at_once_when_interrupted();
  std::signal(SIGCHLD, SIG_DFL);  // where it is ignored nobody hears how a child ended
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of the write, reported like any other
  std::set_new_handler([] {
    end_process("out of memory; use fewer --threads, a smaller --memory, or a larger limit (ulimit -v)");
  });

  const app::CommandLine line = app::read_command_line(app::program(), {argv + 1, argv + argc});
  if (line.exit) return *line.exit;

  const Result<int> result = line.action();
  if (result) return *result;
  if (result.error().code == Code::cancelled)
    if (const auto status = app::end_interrupted()) return *status;
  std::fprintf(stderr, "spotter: %s\n", to_printable(result.error().message).c_str());
  return 1;
}
