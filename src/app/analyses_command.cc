// analyses: what there is to ask for, and what its numbers mean.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "analyze/list.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/terminal.h"
#include "app/words.h"
#include "diagnose/diagnose.h"

namespace spotter::app {
namespace {

using Meanings = std::vector<std::pair<std::string, std::string>>;

std::string list(const render::TextStyle& style) {
  Meanings meanings = {{diagnose::kFindings, "What stands out, with evidence and remedy. On request."}};
  for (const Analysis* a : analyze::all_analyses())
    meanings.emplace_back(a->name, fmt::format("{}{}", a->summary, a->on_request ? " On request." : ""));
  return render::render_meanings(meanings, style.width) + "\n" +
         render::wrapped(
             "More: `spotter analyses NAME` defines the numbers of one, `spotter analyze --table NAME` "
             "prints it.",
             style.width) +
         "\n";
}

std::string definition(const Analysis& a, const render::TextStyle& style) {
  Meanings columns, flags;
  for (const Field& f : a.columns) columns.emplace_back(f.name, f.help);
  for (const Param& p : a.params)
    flags.emplace_back(flag_of(p) + (p.is_text() ? " TEXT" : " N"), p.help + default_of(p));
  const char* when = a.on_request ? " It is large, and left out unless it is named with --table." : "";
  std::string out =
      render::bold(render::wrapped(fmt::format("{}: {}", a.name, a.summary), style.width), style) + "\n\n" +
      render::wrapped(a.doc + std::string(when), style.width) + "\n\n" + render::bold("Columns", style) +
      "\n" + render::render_meanings(columns, style.width);
  if (!flags.empty())
    out += "\n" + render::bold("Options", style) + "\n" + render::render_meanings(flags, style.width);
  return out;
}

std::string definition_of_findings(const render::TextStyle& style) {
  Meanings columns;
  for (const Field& f : diagnose::finding_columns()) columns.emplace_back(f.name, f.help);
  return render::bold(
             render::wrapped(fmt::format("{}: {}", diagnose::kFindings, diagnose::findings_definition()),
                             style.width),
             style) +
         "\n\n" + render::bold("Columns", style) + "\n" + render::render_meanings(columns, style.width) +
         "\n" + render::bold("Rules", style) + "\n" +
         render::render_meanings(diagnose::rule_meanings(), style.width);
}

}  // namespace

Action declare_analyses(CLI::App& app) {
  const auto analysis = std::make_shared<const Analysis*>(nullptr);
  const auto names_findings = std::make_shared<bool>(false);
  add_option(app, "NAME", "", "the analysis to define; without one, all are listed",
             [analysis, names_findings](const std::string& word) -> Result<void> {
               *names_findings = word == diagnose::kFindings;
               if (*names_findings) return {};
               *analysis = analyze::find_analysis(word);
               if (!*analysis)
                 return fail(Code::invalid, "there is no analysis \"{}\"; `spotter analyses` lists them",
                             word);
               return {};
             });
  return [analysis, names_findings]() -> Result<int> {
    const render::TextStyle style = page_style_of(STDOUT_FILENO);
    TRY(write_output("", *names_findings ? definition_of_findings(style)
                         : *analysis     ? definition(**analysis, style)
                                         : list(style)));
    return 0;
  };
}

}  // namespace spotter::app
