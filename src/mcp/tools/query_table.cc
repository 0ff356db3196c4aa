// query_table: rows of any analysis of a capture.
#include <algorithm>
#include <filesystem>

#include "analyze/top.h"
#include "base/text/suggestion.h"
#include "diagnose/tables.h"
#include "mcp/ask.h"
#include "mcp/cells.h"
#include "mcp/list.h"
#include "table/row_query.h"

namespace spotter::mcp {
namespace {

namespace fs = std::filesystem;

constexpr i64 kMostColumns = 32;
constexpr ToolParam kParams[] = {
    {"capture", "id of a capture, or a job, as overview names them"},
    {"path", "in place of it: a folder of traces below those that the server was started with"},
    {.name = "table", .help = "findings or an analysis (describe says what it holds)", .required = true},
    {"columns", "those that are wanted", ToolParam::Type::texts, false, 0, kMostColumns},
    {"where", "conditions, as: rank=0-3 and dur_ns>1000 and name=*gemm*"},
    {"sort", "a column; -column: the largest first"},
};

// A path is a name here: of a capture that there is anyhow. What is a link, lies elsewhere or goes up is
// none.
Result<Capture> capture_at(const World& world, const std::string& path, const Patience& patience) {
  const fs::path given(path);
  if (std::ranges::any_of(given, [](const fs::path& part) { return part == ".."; }))
    return fail(Code::denied, "path: it may not go up by \"..\"; overview lists the captures");
  const auto normal = [](const fs::path& of) {
    std::string text = fs::absolute(of).lexically_normal().string();
    while (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text;
  };
  TRY_ASSIGN(std::vector<Capture> captures, world.traces->captures(patience));
  for (Capture& capture : captures)
    if (capture.host.empty() && capture.paths.size() == 1 && normal(capture.paths[0]) == normal(given))
      return std::move(capture);
  return fail(Code::denied,
              "path: no traces that this server may read lie there; overview lists the captures");
}

Result<Capture> meant(const Call& call) {
  const std::string path = call.arguments.text("path"), id = call.arguments.text("capture");
  if (path.empty() == id.empty())
    return fail(Code::invalid, "give one of capture and path; overview lists the captures");
  return path.empty() ? capture_of(call.world, id, "", call.patience)
                      : capture_at(call.world, path, call.patience);
}

Result<const Analysis*> table_named(const std::string& name) {
  const Result<const Analysis*> analysis = diagnose::parse_table(name);
  if (analysis) return *analysis;
  return fail(Code::invalid, "table: there is none of that name{}",
              did_you_mean(name, diagnose::table_names(), "; describe with the name tables lists them"));
}

// All rows, so that none is looked for in vain: without it, an analysis lists what takes the most time.
ParamSettings all_rows(const Analysis* analysis) {
  if (!analysis || !analyze::has_top(*analysis)) return {};
  return {{analyze::kTop.name, i64{0}}};
}

std::string options_of(const std::string& table, const ParamSettings& params, const table::RowQuery& query,
                       const Arguments& arguments) {
  std::string options = "--table " + table;
  if (!params.empty()) options += " --top 0";
  if (!query.where.empty()) options += " --where " + command_word(query.where);
  if (!query.sort.empty())
    options += (query.sort.starts_with('-') ? " --sort=" : " --sort ") + command_word(query.sort);
  if (!query.columns.empty())
    options += " --columns " + command_word(fmt::format("{}", fmt::join(query.columns, ",")));
  // Of rows further on the command shows all, from the first one on.
  if (const auto limit = arguments.integer("limit"); limit && !arguments.has("cursor"))
    options += fmt::format(" --limit {}", *limit);
  return options;
}

Result<Answer> query_table(const Call& call) {
  TRY_ASSIGN(const Analysis* const analysis, table_named(call.arguments.text("table")));
  const std::string name = analysis ? analysis->name : "findings";
  TRY_ASSIGN(const Capture capture, meant(call));
  const ParamSettings params = all_rows(analysis);
  TRY_ASSIGN(const Table whole, call.world.traces->table(capture, {analysis, params}, call.patience));
  const table::RowQuery query{.where = call.arguments.text("where"),
                              .sort = call.arguments.text("sort"),
                              .columns = call.arguments.texts("columns")};
  Answer answer{.version = capture.version, .as_of = capture.at};
  TRY_ASSIGN(answer.table, table::chosen(whole, query));
  answer.sentence = query.where.empty()
                        ? fmt::format("The table {} has {} [s1].", name, count_of(whole.rows(), "row"))
                        : fmt::format("{} of the {} of the table {} are asked for [s1].", answer.table.rows(),
                                      count_of(whole.rows(), "row"), name);
  if (analysis) answer.sentence += fmt::format(" It is: {}", analysis->summary);
  answer.sources.push_back(
      {words_of(capture), name, analyze_command(capture, options_of(name, params, query, call.arguments))});
  add_notes(whole.notes, answer.notes);
  if (name != "findings") answer.next.push_back({"why_slow", {{"capture", capture.id}}});
  answer.next.push_back({"describe", {{"name", name}}});
  return answer;
}

}  // namespace

constexpr Tool kQueryTable = {
    .name = "query_table",
    .title = "Rows of an analysis",
    .description =
        "Rows of a table that is computed from a capture: steps, kernel_breakdown, collectives, operators, "
        "memory_timeline and about sixty more, filtered and sorted. It does not say what is wrong; why_slow does. "
        "describe defines a table and its columns.",
    .params = kParams,
    .call = query_table,
};

}  // namespace spotter::mcp
