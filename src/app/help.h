// How the help of the command line looks.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace spotter::app {

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace spotter::app
