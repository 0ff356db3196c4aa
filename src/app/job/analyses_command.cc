// analyses: what there is to ask for, and what its numbers mean.
#include <unistd.h>

#include <memory>
#include <optional>

#include "analyze/list.h"
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/cli/terminal.h"
#include "app/cli/words.h"
#include "app/job/analysis_words.h"
#include "diagnose/diagnose.h"
#include "diagnose/tables.h"

namespace spotter::app {
namespace {

using Meanings = std::vector<std::pair<std::string, std::string>>;

std::string list(const analyze::Compat* compat, const render::TextStyle& style) {
  Meanings meanings = {{diagnose::kFindings, "What stands out, with evidence and remedy. On request."}};
  for (const Analysis* a : analyze::stand_ins(compat, analyze::all_analyses()))
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
         "\n" + render::bold("Mechanisms and rules", style) + "\n" +
         render::render_meanings(diagnose::rule_meanings(), style.width);
}

}  // namespace

Command analyses_command() {
  struct Question {
    std::optional<const Analysis*> analysis;  // none: all; nullptr: the findings
    const analyze::Compat* compat = nullptr;
  };
  const auto asked = std::make_shared<Question>();
  return {
      .name = "analyses",
      .summary = "List the analyses, or define the numbers of one.",
      .arguments = {{.name = "NAME",
                     .help = "the analysis to define; without one, all are listed",
                     .read = parsed(asked->analysis, diagnose::parse_table),
                     .offer = offer_words(diagnose::table_names),
                     .required = false}},
      .options = {compat_option(asked->compat)},
      .action = [asked]() -> Result<int> {
        const render::TextStyle style = page_style_of(STDOUT_FILENO);
        const std::optional<const Analysis*>& one = asked->analysis;
        TRY(write_output("", !one   ? list(asked->compat, style)
                             : *one ? definition(*analyze::stand_in(asked->compat, *one), style)
                                    : definition_of_findings(style)));
        return 0;
      },
  };
}

}  // namespace spotter::app
