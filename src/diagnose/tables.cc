#include "diagnose/tables.h"

#include "analyze/list.h"
#include "base/text/quantity.h"
#include "base/text/suggestion.h"
#include "diagnose/diagnose.h"

namespace spotter::diagnose {

std::vector<std::string> table_names() {
  std::vector<std::string> names = {kFindings};
  for (const Analysis* analysis : analyze::all_analyses()) names.emplace_back(analysis->name);
  return names;
}

Result<const Analysis*> parse_table(const std::string& name) {
  if (name == kFindings) return nullptr;
  if (const Analysis* analysis = analyze::find_analysis(name)) return analysis;
  return fail(Code::invalid, "there is no analysis \"{}\"{}", name,
              did_you_mean(name, table_names(), "; `spotter analyses` lists them"));
}

Result<ParamValue> parse_param(const Param& param, const std::string& word) {
  if (param.check) TRY(param.check(word));
  if (param.is_text()) return word;
  TRY_ASSIGN(const i64 number, parse_number(word, 0, INT64_MAX));
  return number;
}

std::vector<Table> take_tables(Diagnosis& diagnosis) {
  std::vector<Table> tables;
  if (diagnosis.findings) tables.push_back(std::move(*diagnosis.findings));
  if (diagnosis.what_if) tables.push_back(std::move(*diagnosis.what_if));
  for (Table& table : diagnosis.tables) tables.push_back(std::move(table));
  return tables;
}

}  // namespace spotter::diagnose
