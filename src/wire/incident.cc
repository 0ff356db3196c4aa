#include "wire/incident.h"

#include "wire/incident_fields.h"
#include "wire/json.h"
#include "wire/json_fields.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;
using namespace respond;

constexpr i64 kVersion = 1;

}  // namespace

json::object to_json(const Condition& condition) {
  JsonWriter writer;
  Condition copy = condition;
  fields(writer, copy);
  return std::move(writer.out);
}

json::object to_json(const Incident& incident) {
  JsonWriter writer;
  writer.out = {{"version", kVersion}, {"id", mended(incident.id())}, {"key", mended(incident.key())}};
  Incident copy = incident;
  fields(writer, copy);
  const bool has_ended =
      incident.state == IncidentState::recovering || incident.state == IncidentState::resolved;
  if (!has_ended) writer.out["ending"] = nullptr;
  const Symptom& symptom = incident.symptom;
  const bool has_ratio = symptom.now && symptom.before && *symptom.before > 0;
  writer.out["symptom"].as_object()["ratio"] =
      has_ratio ? json::value(*symptom.now / *symptom.before) : json::value();
  return std::move(writer.out);
}

Result<Condition> condition_from(const json::object& object) {
  return read_fields<Condition>(object, "condition");
}

Result<Incident> incident_from(const json::object& object) {
  const json::value* version = object.if_contains("version");
  if (version && *version != json::value(kVersion))
    return fail(Code::unsupported, "this is an incident of another version; it has to be {}", kVersion);
  return read_fields<Incident>(object, "incident");
}

std::string incident_text(const Incident& incident) { return json_text(to_json(incident)); }
std::string condition_text(const Condition& condition) { return json_text(to_json(condition)); }

Result<Incident> read_incident(std::string_view text) {
  TRY_ASSIGN(const json::object object, read_object(text));
  return incident_from(object);
}

Result<Condition> read_condition(std::string_view text) {
  TRY_ASSIGN(const json::object object, read_object(text));
  return condition_from(object);
}

}  // namespace spotter::wire
