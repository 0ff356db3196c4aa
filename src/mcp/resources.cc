#include "mcp/resources.h"

#include <algorithm>

#include "mcp/answer.h"
#include "mcp/ask.h"
#include "mcp/cells.h"
#include "mcp/definitions.h"
#include "mcp/record.h"
#include "table/ops.h"
#include "wire/incident.h"
#include "wire/incident_table.h"
#include "wire/json.h"
#include "wire/target.h"

namespace spotter::mcp {
namespace {

namespace json = boost::json;

constexpr size_t kMostListed = 20;
constexpr size_t kMostText = kMoreBytes - 1'024;
constexpr i64 kHourMs = 3'600'000;
constexpr const char *kJsonType = "application/json", *kMarkdown = "text/markdown";

using Text = Result<std::string>;

Text incident_text(const World& world, const std::string& id, const Patience& patience) {
  TRY_ASSIGN(const std::string body,
             ask_first(world, {"GET", "/v1/incidents/" + wire::escaped_parameter(id), {}, {}}, patience));
  TRY_ASSIGN(const respond::Incident incident, wire::read_incident(body));
  return wire::json_text(record_of(wire::to_json(incident), kMostText));
}

Text capture_text(const World& world, const std::string& id, const Patience& patience) {
  TRY_ASSIGN(const Capture capture, capture_of(world, id, "", patience));
  json::array paths;
  for (size_t i = 0; i < std::min(capture.paths.size(), kMostInList); ++i)
    paths.push_back(json::string(clean(capture.paths[i])));
  json::object record{{"id", capture.id},
                      {"job", clean(capture.job)},
                      {"state", clean(capture.state)},
                      {"files", capture.files},
                      {"host", clean(capture.host)},
                      {"paths", std::move(paths)},
                      {"command", clean(analyze_command(capture, "--table findings"), 2'000)}};
  if (capture.at) record["at"] = time_text(*capture.at);
  return wire::json_text(record);
}

Text definition_of_analysis(const World&, const std::string& name, const Patience&) {
  auto text = analysis_text(name);
  return text ? Text(std::move(*text)) : fail(Code::not_found, "there is no such analysis");
}

Text definition_of_rule(const World& world, const std::string& name, const Patience& patience) {
  auto text = rule_text(world, name, patience);
  return text ? Text(std::move(*text)) : fail(Code::not_found, "there is no such rule");
}

struct Kind {
  const char *folder, *name, *description, *type;
  Text (*read)(const World& world, const std::string& name, const Patience& patience);
  bool is_definition;
};
constexpr Kind kKinds[] = {
    {"incidents", "incident", "What went wrong with a job or host: the record of an incident.", kJsonType,
     incident_text, false},
    {"captures", "capture", "Traces of a job that can be analysed: where they are, and of what.", kJsonType,
     capture_text, false},
    {"analyses", "analysis", "The definition of an analysis in words, with its columns.", kMarkdown,
     definition_of_analysis, true},
    {"rules", "rule", "What a rule of the agents watches for, and its thresholds.", kMarkdown,
     definition_of_rule, true},
};

std::string uri_of(const Kind& kind, std::string_view name) {
  return fmt::format("spotter://{}/{}", kind.folder, name);
}

json::object listed(const Kind& kind, const std::string& name) {
  return {{"uri", uri_of(kind, name)},
          {"name", name},
          {"title", fmt::format("{} {}", kind.name, name)},
          {"description", kind.description},
          {"mimeType", kind.type}};
}

}  // namespace

json::array resources_of(const World& world, const Patience& patience) {
  json::array all;
  if (world.agents)
    if (const auto answers = ask_agents(world, "/v1/incidents", patience)) {
      const Table incidents = merged("incidents", wire::incidents_columns(), *answers);
      for (size_t row = 0; row < incidents.rows() && all.size() < kMostListed; ++row) {
        const std::string id(table::text_or_empty(incidents, row, "id"));
        if (table::text_or_empty(incidents, row, "state") != "resolved" && is_id(id))
          all.push_back(listed(kKinds[0], id));
      }
    }
  if (const auto captures = world.traces->captures(patience))
    for (size_t i = 0; i < std::min(captures->size(), kMostListed); ++i)
      all.push_back(listed(kKinds[1], (*captures)[i].id));
  all.push_back(listed(kKinds[2], "findings"));
  return all;
}

json::array resource_templates() {
  json::array all;
  for (const Kind& kind : kKinds)
    all.push_back(json::object{{"uriTemplate", uri_of(kind, kind.is_definition ? "{name}" : "{id}")},
                               {"name", kind.name},
                               {"description", kind.description},
                               {"mimeType", kind.type}});
  return all;
}

tl::expected<json::object, Fault> read_resource(const World& world, const std::string& uri,
                                                const Patience& patience) {
  for (const Kind& kind : kKinds) {
    const std::string before = uri_of(kind, "");
    if (!uri.starts_with(before)) continue;
    const std::string name = uri.substr(before.size());
    if (!is_id(name)) break;
    Text text = kind.read(world, name, patience);
    // Without agents there are no incidents.
    if (!text && (text.error().code == Code::not_found || text.error().code == Code::unsupported)) break;
    if (!text) return tl::unexpected(Fault{kOurs, clean(text.error().message, 400)});
    if (text->size() > kMostText)
      text->resize(text->rfind('\n', kMostText));  // of a definition, which has lines
    return json::object{
        {"contents", json::array{json::object{{"uri", uri}, {"mimeType", kind.type}, {"text", *text}}}},
        {kFreshKey, kind.is_definition ? kHourMs : 0},
        {kScopeKey, kind.is_definition ? "public" : "private"}};
  }
  return tl::unexpected(
      Fault{kBadParams, "there is no such resource", json::object{{"uri", clean(uri, 2'000)}}});
}

}  // namespace spotter::mcp
