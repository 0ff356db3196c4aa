// man: the manual page.
#include "app/cli/man_page.h"
#include "app/cli/output.h"
#include "app/list.h"

namespace spotter::app {

Command man_command() {
  return {
      .name = "man",
      .summary = "Print the manual page, for `man -l -`.",
      .action = []() -> Result<int> {
        TRY(write_output("", man_page(program())));
        return 0;
      },
  };
}

}  // namespace spotter::app
