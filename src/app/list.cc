#include "app/list.h"

// A line NAME is a function `Command NAME_command()`, in a file of its own; in the order of the help.
#define SPOTTER_COMMANDS(ONE) \
  ONE(analyze)                \
  ONE(analyses)               \
  ONE(map)                    \
  ONE(reduce)                 \
  ONE(diff)                   \
  ONE(simulate)               \
  ONE(export)                 \
  ONE(serve)                  \
  ONE(trace)                  \
  ONE(ps)                     \
  ONE(captures)               \
  ONE(status)                 \
  ONE(metrics)                \
  ONE(incidents)              \
  ONE(rules)                  \
  ONE(changes)                \
  ONE(agent)                  \
  ONE(notify)                 \
  ONE(mcp)                    \
  ONE(completion)             \
  ONE(man)                    \
  ONE(analyze_part)           \
  ONE(investigate)            \
  ONE(helper)                 \
  ONE(ask_helper)

namespace spotter::app {

#define SPOTTER_DECLARE(name) Command name##_command();
SPOTTER_COMMANDS(SPOTTER_DECLARE)

Program program() {
#define SPOTTER_MAKE(name) name##_command(),
  return {
      .about =
          "Spotter traces running PyTorch jobs, reads the traces that PyTorch's profiler (Kineto) writes, all "
          "ranks of a job at once, and says where the time went.",
      .options = {help_option(), version_option()},
      .commands = {SPOTTER_COMMANDS(SPOTTER_MAKE)},
  };
}

}  // namespace spotter::app
