#include "serve/analyses_table.h"

#include "analyze/list.h"
#include "base/json_text.h"
#include "diagnose/diagnose.h"

namespace spotter::serve {
namespace {

constexpr Field kAnalysisColumns[] = {
    {"name", Type::text, Unit::none, Role::key, "What it is asked for by."},
    whole({"summary", Type::text, Unit::none, Role::value, "What it answers, in a line."}),
    whole({"doc", Type::text, Unit::none, Role::value, "The definition of every number."}),
    {"on_request", Type::flag, Unit::none, Role::value, "Whether it is made only for who names it."},
    whole({"params", Type::text, Unit::none, Role::detail,
           "Its parameters, JSON: a list of {name, fallback, help}."}),
};

std::string params_json(const Analysis& analysis) {
  std::string json = "[";
  const auto add_text = [&](const char* before, const char* text) {
    json += before;
    append_json_text(json, text);
  };
  for (const Param& param : analysis.params) {
    add_text(json.size() > 1 ? ", {\"name\": " : "{\"name\": ", param.name);
    if (param.is_text())
      add_text(", \"fallback\": ", std::get<const char*>(param.fallback));
    else
      json += fmt::format(", \"fallback\": {}", std::get<i64>(param.fallback));
    add_text(", \"help\": ", param.help);
    json += "}";
  }
  return json + "]";
}

}  // namespace

Table analyses_table() {
  Table table("analyses", kAnalysisColumns);
  table.append({diagnose::kFindings, "What stands out, with evidence and remedy.",
                diagnose::findings_definition(), true, "[]"});
  for (const Analysis* a : analyze::all_analyses())
    table.append({a->name, a->summary, a->doc, a->on_request, params_json(*a)});
  return table;
}

}  // namespace spotter::serve
