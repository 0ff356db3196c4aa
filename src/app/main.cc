// spotter: understand the command line, run the command, say what went wrong.
#include <csignal>
#include <cstdio>
#include <new>

#include "app/commands.h"
#include "base/result.h"
#include "base/utf8.h"

namespace spotter::app {
namespace {

constexpr Command kCommands[] = {
    {"analyze", "Analyse the PyTorch (Kineto) traces of a job.", declare_analyze},
    {"analyses", "List the analyses, or define the numbers of one.", declare_analyses},
    {"diff", "Say what changed from one job's traces to another's.", declare_diff},
    {"simulate", "Write the traces of a simulated job, with faults if wanted.", declare_simulate},
    {"export", "Write traces as one file for a timeline viewer (Perfetto).", declare_export},
    {"trace", "Trace running PyTorch processes, on this host or on many.", declare_trace},
    {"ps", "List the PyTorch processes that can be traced.", declare_ps},
    {"captures", "List the captures of an agent, or say what became of one.", declare_captures},
    {"status", "Say whether each part of an agent works.", declare_status},
    {"metrics", "Say what is measured on a machine, and what it was.", declare_metrics},
    {"agent", "Run this host's agent.", declare_agent},
    {"analyze-part", "", declare_analyze_part},  // what an agent runs; not in the help
};

}  // namespace
}  // namespace spotter::app

int main(int argc, char** argv) {
  using namespace spotter;
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of the write, reported like any other
  std::set_new_handler([] {
    end_process("out of memory; use fewer --threads, a smaller --memory, or a larger limit (ulimit -v)");
  });

  const app::CommandLine line = app::parse_command_line(app::kCommands, argc, argv);
  if (line.exit) return *line.exit;

  const Result<int> result = line.action();
  if (result) return *result;
  std::fprintf(stderr, "spotter: %s\n", to_printable(result.error().message).c_str());
  return result.error().code == Code::cancelled ? 130 : 1;
}
