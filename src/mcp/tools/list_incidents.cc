// list_incidents: what agents have found wrong.
#include "base/system/host.h"
#include "base/text/quantity.h"
#include "mcp/ask.h"
#include "mcp/list.h"
#include "mcp/record.h"
#include "respond/incidents/incident.h"
#include "table/ops.h"
#include "wire/incident_table.h"

namespace spotter::mcp {
namespace {

constexpr const char* kStates[] = {"open",    "pending",      "firing",     "investigating",
                                   "verdict", "inconclusive", "recovering", "resolved"};
constexpr ToolParam kParams[] = {
    {"job", "of this job alone"},
    {.name = "state", .help = "of this state alone; open: all but resolved", .words = kStates},
    {"since", "that began so long ago at most: 2h, 7d"},
};

Result<Answer> list_incidents(const Call& call) {
  const std::string job = call.arguments.text("job"), state = call.arguments.text("state"),
                    since = call.arguments.text("since");
  Ns from = 0;
  if (!since.empty()) {
    const auto length = parse_duration_ns(since);
    if (!length) return within(length.error(), "since");
    from = Host::at("/").unix_now() - *length;
  }
  TRY_ASSIGN(const FromAgents answers, ask_agents(call.world, "/v1/incidents", call.patience));
  const Table all = merged("incidents", wire::incidents_columns(), answers);
  std::vector<size_t> rows;
  size_t open = 0;
  for (size_t row = 0; row < all.rows(); ++row) {
    const auto is = table::text_or_empty(all, row, "state");
    const bool is_open = is != "resolved";
    if (!job.empty() && table::text_or_empty(all, row, "job") != job) continue;
    if (!state.empty() && (state == "open" ? !is_open : is != state)) continue;
    if (from != 0 && table::optional_integer(all, row, "opened").value_or(0) < from) continue;
    rows.push_back(row);
    open += is_open;
  }
  Answer answer{
      .table = table::pick(all, rows), .version = fmt::format("{}", rows.size()), .notes = answers.notes};
  answer.sentence = rows.empty()
                        ? "There is no such incident [s1]."
                        : fmt::format("There {} {}, {} of them open [s1].", rows.size() == 1 ? "is" : "are",
                                      count_of(rows.size(), "incident"), open);
  answer.sources.push_back(
      {"the incidents of the agents", "incidents", agents_command(call.world, "incidents")});
  if (const auto id = rows.empty() ? "" : table::text_or_empty(answer.table, 0, "id"); is_id(id))
    answer.next.push_back({"get_incident", {{"id", id}}});
  else
    answer.next.push_back({"overview", {}});
  return answer;
}

}  // namespace

constexpr Tool kListIncidents = {
    .name = "list_incidents",
    .title = "Incidents",
    .description =
        "What the agents have found wrong with jobs and hosts by themselves: state, severity, cause, suspects, when. Open "
        "ones and those of the last day. Next: get_incident for the evidence of one.",
    .params = kParams,
    .call = list_incidents,
};

}  // namespace spotter::mcp
