// One sample of this machine, or of one whose files lie elsewhere, without an agent.
#pragma once
#include <string>
#include <vector>

#include "base/notes.h"
#include "table/table.h"

namespace spotter::app {

struct OnceOptions {
  std::string root;  // empty: that of this machine
  bool per_core = false;
  std::string textfile_directory;   // empty: none
  std::vector<std::string> tables;  // none: those of the collectors that are on by default
};

struct OneSample {
  std::vector<Table> tables;
  Notes notes;  // who has nothing to say, and why
};

OneSample sample_once(const OnceOptions& options);

}  // namespace spotter::app
