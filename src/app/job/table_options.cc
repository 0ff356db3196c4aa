#include "app/job/table_options.h"

#include <algorithm>

#include "analyze/list.h"
#include "analyze/top.h"
#include "app/cli/readers.h"
#include "app/cli/words.h"
#include "base/text/quantity.h"
#include "diagnose/tables.h"

namespace spotter::app {
namespace {

bool has_param(const Analysis* analysis, std::string_view name) {
  return std::ranges::any_of(analysis->params, [&](const Param& p) { return p.name == name; });
}

}  // namespace

Result<void> add_table(const std::string& name, std::vector<const Analysis*>& analyses,
                       bool& names_findings) {
  TRY_ASSIGN(const Analysis* analysis, diagnose::parse_table(name));
  if (!analysis)
    names_findings = true;
  else if (std::ranges::find(analyses, analysis) == analyses.end())
    analyses.push_back(analysis);
  return {};
}

std::vector<Param> all_params() {
  std::vector<Param> params;
  for (const Analysis* analysis : analyze::all_analyses()) {
    for (const Param& p : analysis->params) {
      const auto is_same = [&](const Param& other) { return std::string_view(other.name) == p.name; };
      if (std::ranges::none_of(params, is_same)) params.push_back(p);
    }
  }
  return params;
}

Option option_of(const Param& param, ParamSettings& settings) {
  const auto read = [param, &settings](const std::string& word) -> Result<void> {
    TRY_ASSIGN(ParamValue value, diagnose::parse_param(param, word));
    settings.emplace_back(param.name, std::move(value));
    return {};
  };
  return {.names = {flag_of(param)},
          .value = param.is_text() ? "TEXT" : "N",
          .help = param.help + default_of(param),
          .read = read};
}

Result<void> check_params(std::span<const Analysis* const> chosen, const ParamSettings& settings) {
  for (const Param& param : all_params()) {
    const auto is_set = [&](const auto& p) { return p.first == param.name; };
    const auto has = [&](const Analysis* a) { return has_param(a, param.name); };
    if (std::ranges::none_of(settings, is_set) || std::ranges::any_of(chosen, has)) continue;
    std::vector<std::string_view> users;
    for (const Analysis* a : analyze::all_analyses()) {
      if (has(a)) users.push_back(a->name);
    }
    return fail(Code::invalid, "{}: no chosen table takes it; {} do", flag_of(param), fmt::join(users, ", "));
  }
  return {};
}

std::vector<Option> row_options(table::RowQuery& query) {
  return {
      {.names = {"--where"},
       .value = "CONDITIONS",
       .help = "with one --table: only rows of which these hold: 'rank=0-3 and dur_ns>1000 and name=*gemm*'; "
               "of all rows, unless --top is given",
       .read = keep(query.where)},
      {.names = {"--sort"},
       .value = "COLUMN",
       .help =
           "with one --table: rows by this column; -COLUMN: the largest first (--sort=-dur_ns); all rows, "
           "unless --top is given",
       .read = keep(query.sort)},
      {.names = {"--columns"},
       .value = "LIST",
       .help = "with one --table: only these columns",
       .read = [&query](const std::string& word) -> Result<void> {
         query.columns = split_commas(word);
         return {};
       }},
      {.names = {"--limit"},
       .value = "N",
       .help = "with one --table: only so many rows",
       .read = [&query](const std::string& word) -> Result<void> {
         TRY_ASSIGN(query.limit, parse_number(word, 0, INT64_MAX));
         return {};
       }},
  };
}

Result<void> check_rows(const table::RowQuery& query, size_t named_tables) {
  if (query.is_all() || named_tables == 1) return {};
  return fail(Code::invalid, "--where, --sort, --columns and --limit are of one table: name it with --table");
}

void list_all(const table::RowQuery& query, std::span<const Analysis* const> analyses,
              ParamSettings& settings) {
  const auto is_top = [](const auto& setting) { return setting.first == analyze::kTop.name; };
  const auto has_top = [](const Analysis* a) { return analyze::has_top(*a); };
  if ((query.where.empty() && query.sort.empty()) || std::ranges::any_of(settings, is_top)) return;
  if (std::ranges::any_of(analyses, has_top)) settings.emplace_back(analyze::kTop.name, i64{0});
}

Result<void> choose_rows(const table::RowQuery& query, diagnose::Diagnosis& diagnosis) {
  if (query.is_all()) return {};
  if (diagnosis.findings) {
    diagnosis.tables.push_back(std::move(*diagnosis.findings));
    diagnosis.findings.reset();
  }
  for (Table& table : diagnosis.tables) {
    TRY_ASSIGN(table, table::chosen(table, query));
  }
  return {};
}

}  // namespace spotter::app
