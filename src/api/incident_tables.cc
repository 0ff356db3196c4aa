#include "api/incident_tables.h"

#include "base/version.h"
#include "notify/message.h"

namespace spotter::api {
namespace {

constexpr Field kMessage[] = {
    whole({"line", Type::text, Unit::none, Role::value, "A line of the message; the first is its headline."}),
};

constexpr Field kTransitions[] = {
    {"at", Type::integer, Unit::ns, Role::time, "When it became so, Unix time."},
    {"before", Type::text, Unit::none, Role::value, "Its state until then."},
    {"after", Type::text, Unit::none, Role::value, "Its state from then on."},
    whole({"why", Type::text, Unit::none, Role::detail, "What was the reason."}),
};

}  // namespace

Table message_table(const respond::Incident& incident, const std::string& host_name) {
  const notify::Telling telling{
      .incident = incident,
      .occasion = incident.is_open() ? notify::Occasion::changed : notify::Occasion::resolved,
      .at = incident.updated};
  const notify::Message message =
      notify::message_of(telling, {.version = kVersion, .host_name = host_name, .report_url = {}});
  Table table("message", kMessage);
  table.append({message.headline()});
  for (const std::string& line : notify::lines_of(message)) table.append({line});
  return table;
}

Table transitions_table(std::span<const store::Transition> transitions) {
  Table table("transitions", kTransitions);
  for (const store::Transition& t : transitions)
    table.append({t.at, or_null(t.from), or_null(t.to), or_null(t.why)});
  return table;
}

}  // namespace spotter::api
