#include "app/cli/man_page.h"

#include <fmt/format.h>

#include "app/cli/help.h"
#include "base/version.h"

namespace spotter::app {
namespace {

// Text of a page: nothing in it is a request or an escape of roff.
std::string literal(const std::string& text) {
  std::string out;
  bool is_line_begin = true;
  for (const char c : text) {
    if (is_line_begin && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";  // the character of the command line, not a hyphen
    else
      out += c;
    is_line_begin = c == '\n';
  }
  return out;
}

std::string tagged(const std::string& tag, const std::string& text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", literal(tag), literal(text));
}

std::string tagged(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) text += tagged(shown_names(option), option.help);
  return text;
}

std::string section_of(const Command& command) {
  std::string text =
      fmt::format(".SS spotter {}\n{}\n", literal(usage_of(command)), literal(command.summary));
  for (const Argument& argument : command.arguments) text += tagged(shown_name(argument), argument.help);
  text += tagged(shown_options(command));
  // Its lines are broken as they are meant to be.
  if (!command.footer.empty()) text += ".PP\n.nf\n" + literal(command.footer) + "\n.fi\n";
  return text;
}

}  // namespace

std::string man_page(const Program& program) {
  std::string text = fmt::format(".TH SPOTTER 1 " SPOTTER_VERSION_DATE " \"spotter {}\"\n", kVersion);
  text += ".SH NAME\nspotter \\- trace PyTorch jobs and say where the time went\n";
  text += ".SH SYNOPSIS\n\\fBspotter\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n";
  text += ".SH DESCRIPTION\n" + literal(program.about) + "\n";
  text += ".SH OPTIONS\n" + tagged(program.options);
  text += ".SH COMMANDS\n";
  for (const Command* command : listed(program.commands)) text += section_of(*command);
  text += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : {std::pair{"0", "What was asked for is done."},
                                        {"1", "It failed; one line on standard error says why."},
                                        {"2", "The command line is wrong; nothing was done."},
                                        {"130, 143",
                                         "It was interrupted (SIGINT, SIGTERM); one line on standard error "
                                         "says what is whole and what is not."}})
    text += tagged(status, meaning);
  return text;
}

}  // namespace spotter::app
