// The commands of the program, one file each; main.cc lists them. An error of an action ends the program with
// exit code 1 and one line.
#pragma once
#include "analyze/run.h"
#include "app/cli.h"

namespace spotter::app {

Action declare_analyze(CLI::App& app);       // analyze_command.cc
Action declare_analyze_part(CLI::App& app);  // analyze_part_command.cc
Action declare_analyses(CLI::App& app);      // analyses_command.cc
Action declare_diff(CLI::App& app);          // diff_command.cc
Action declare_simulate(CLI::App& app);      // simulate_command.cc
Action declare_export(CLI::App& app);        // export_command.cc
Action declare_trace(CLI::App& app);         // trace_command.cc
Action declare_ps(CLI::App& app);            // agent_view_commands.cc
Action declare_captures(CLI::App& app);      // agent_view_commands.cc
Action declare_status(CLI::App& app);        // agent_view_commands.cc
Action declare_metrics(CLI::App& app);       // metrics_command.cc
Action declare_agent(CLI::App& app);         // agent_command.cc

// What the report of `spotter analyze PATH...` is made of, and the report of these files and of those that
// were mapped elsewhere for that same request.
analyze::RunRequest report_request();
Result<void> print_report(const std::vector<std::string>& paths,
                          std::vector<analyze::FileResult> elsewhere = {});

}  // namespace spotter::app
