// What is measured on this host, and who gets it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "collect/sampler.h"
#include "sink/list.h"
#include "store/history.h"

namespace spotter::agent {

struct SinkOptions {
  std::string kind;
  Settings settings;
};

struct TelemetryOptions {
  std::vector<collect::Wanted> collectors = {};  // none: nothing is measured
  bool per_core = false;                         // rows for each core
  std::vector<std::string> job_labels = {};      // variables of the environment of jobs' processes
  std::string dcgm_address = "localhost:5555";   // of DCGM's host engine
  std::string textfile_directory = {};           // of the files of other programs; empty: none
  std::vector<std::string> step_logs = {};       // globs of log files of jobs
  std::vector<std::string> step_lines = {};      // expressions for lines that tell of steps
  bool dcgm_embedded = false;                    // whether to run one in the agent where none answers
  std::optional<store::HistoryOptions> history = {};
  // Each has a name of its own (sink::name_of), and none is called history.
  std::vector<SinkOptions> sinks = {};
};

// Those that are on by default, at their own periods.
std::vector<collect::Wanted> usual_collectors();

}  // namespace spotter::agent
