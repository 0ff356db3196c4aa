#include "app/incident/rules_replay.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "app/agent/agent_config.h"
#include "app/capture/agent_view.h"
#include "app/capture/missing_hosts.h"
#include "app/cli/local_times.h"
#include "app/cli/output.h"
#include "base/moment.h"
#include "base/system/host.h"
#include "base/text/utf8.h"
#include "client/client.h"
#include "respond/replay.h"
#include "respond/rules_table.h"
#include "table/ops.h"
#include "wire/metrics_query.h"

namespace spotter::app {
namespace {

constexpr Ns kPatience = kMinute;
constexpr Ns kWindow = 10 * kMinute, kLeastWindow = 10 * kSecond;  // of samples that are held at one time
constexpr Ns kClocks = 5 * kSecond;  // by which the agent's clock may be ahead, or behind

constexpr Field kColumns[] = {
    {"host", Type::text, Unit::none, Role::key, "Whose agent has the samples."},
    {"rule", Type::text, Unit::none, Role::key, "Which rule would have fired."},
    {"job", Type::text, Unit::none, Role::key, "Of which job; null: of the host."},
    {"rank", Type::integer, Unit::none, Role::key, "Of which rank."},
    {"device", Type::text, Unit::none, Role::key, "Of which device."},
    {"severity", Type::text, Unit::none, Role::value, "info, warning or critical."},
    {"began", Type::integer, Unit::ns, Role::time, "Since when it held, Unix time."},
    {"ended", Type::integer, Unit::ns, Role::time, "When it was over, Unix time; null: it went on."},
    {"value", Type::real, Unit::none, Role::value, "What was measured."},
    {"baseline", Type::real, Unit::none, Role::value, "What it is usually."},
    {"unit", Type::text, Unit::none, Role::detail, "Of both."},
    {"incident", Type::text, Unit::none, Role::detail, "Of which incident it would have been a part."},
    {"told", Type::flag, Unit::none, Role::value, "Whether people would have been told of that."},
};

struct Tested {
  std::vector<respond::Occurrence> found;
  Notes notes;
};

class Asking {
 public:
  Asking(const net::HttpAddress& address, const client::Credentials& credentials)
      : address_(address), credentials_(credentials) {}

  Result<std::vector<Table>> tables(const std::string& target) const {
    auto answers =
        client::ask_tables(std::span(&address_, 1), credentials_, {"GET", target, {}, {}}, kPatience);
    if (!answers[0]) return tl::unexpected(answers[0].error());
    return std::move(answers[0]->tables);
  }
  Result<respond::RuleSettings> rules() const {
    auto answers = client::ask(std::span(&address_, 1), credentials_, {"GET", "/v1/rules", {}, {}},
                               respond::rules_columns(), kPatience);
    if (!answers[0]) return tl::unexpected(answers[0].error());
    return respond::read_rules_table(answers[0]->table);
  }

 private:
  const net::HttpAddress& address_;
  const client::Credentials& credentials_;
};

std::vector<std::string> wanted_metrics() {
  std::vector<std::string> patterns;
  for (const respond::Rule* rule : respond::all_rules()) {
    for (const char* table : rule->tables) {
      const std::string pattern = fmt::format("{}_*", table);
      if (std::ranges::find(patterns, pattern) == patterns.end()) patterns.push_back(pattern);
    }
  }
  return patterns;
}

// Rows of [from, until) alone: what is asked for is more, as clocks differ.
Table within_times(const Table& table, Ns from, Ns until) {
  const auto schema = table.schema();
  const auto time = std::ranges::find(schema, std::string_view("time_ns"),
                                      [](const Field& field) { return std::string_view(field.name); });
  std::vector<size_t> rows;
  for (size_t row = 0; time != schema.end() && row < table.rows(); ++row) {
    const Value at = table.at(row, static_cast<size_t>(time - schema.begin()));
    const i64* ns = std::get_if<i64>(&at);
    if (ns && *ns >= from && *ns < until) rows.push_back(row);
  }
  return table::pick(table, rows);
}

// Window by window; one that has more than an agent answers at once is halved.
Result<void> replay(const Asking& agent, Ns since, respond::Replay& replay) {
  const Host host = Host::at("/");
  const Ns end = host.unix_now();
  Ns window = kWindow;
  for (Ns from = end - since; from < end;) {
    const Ns until = std::min(end, from + window), now = host.unix_now();
    wire::MetricsQuery query;
    query.selection.metrics = wanted_metrics();
    query.since = now - from + kClocks;
    query.until = std::max<Ns>(0, now - until - kClocks);
    auto tables = agent.tables(wire::target_of(query));
    if (!tables && tables.error().code == Code::invalid && window > kLeastWindow) {
      window = std::max(kLeastWindow, window / 2);
      continue;
    }
    if (!tables) return tl::unexpected(tables.error());
    for (Table& table : *tables) table = within_times(table, from, until);
    replay.add(*tables);
    from = until;
  }
  return {};
}

Notes notes_of(const respond::Replay& replay) {
  Notes notes;
  if (replay.first() == 0) {
    notes.add("no_samples", Severity::loss, "the agent remembers no samples of that time that rules look at");
    return notes;
  }
  notes.add("first_sample", Severity::info, fmt::format("samples begin at {}", utc_text(replay.first())));
  if (replay.fine_since() > replay.first() + kMinute || replay.fine_since() == 0)
    notes.add(
        "coarse_samples", Severity::loss,
        replay.fine_since() == 0
            ? "all samples are means of 10 s or more: what lasted less is not seen, and rules that look "
              "at each second do not act"
            : fmt::format("samples before {} are means of 10 s or more: what lasted less is not seen "
                          "there, and rules that look at each second do not act",
                          utc_text(replay.fine_since())));
  if (const auto none = replay.without_samples(); !none.empty())
    notes.add("not_in_history", Severity::info,
              fmt::format("not in the history is what these rules look at: {}", fmt::join(none, ", ")));
  if (replay.left_out() > 0)
    notes.add("left_out", Severity::loss, "conditions were too many to be listed", -1, replay.left_out());
  return notes;
}

Result<Tested> test_one(const RulesTestOptions& options, const net::HttpAddress& address,
                        const client::Credentials& credentials, const std::string& host,
                        const respond::RuleSettings& tried) {
  const Asking agent(address, credentials);
  respond::RuleSettings settings = tried;
  if (options.config.empty()) {
    TRY_ASSIGN(settings, agent.rules());
  }
  respond::Replay replaying({.settings = settings, .host = host});
  TRY(replay(agent, options.since, replaying));
  return Tested{replaying.found(), notes_of(replaying)};
}

void append(Table& table, const std::string& host, const respond::Occurrence& one) {
  const respond::Condition& c = one.condition;
  table.append({std::string_view(host), c.rule, or_null(c.job), or_null(c.rank), or_null(c.device),
                respond::urgency_name(c.urgency), c.since, one.ended == 0 ? Value() : Value(one.ended),
                or_null(c.value), or_null(c.baseline), or_null(c.unit), or_null(one.incident), one.is_told});
}

}  // namespace

Result<int> test_rules(const RulesTestOptions& options) {
  AgentConfig config;
  if (!options.config.empty()) TRY(read_agent_config(options.config, config));
  TRY_ASSIGN(const Hosts hosts, find_hosts(options.hosts));
  Table table("rules_test", kColumns);
  Notes notes;
  std::vector<std::optional<Error>> errors;
  for (const net::HttpAddress& address : hosts.addresses) {
    const std::string host = options.hosts.is_local() ? host_name() : address.host;
    const auto tested = test_one(options, address, hosts.credentials, host, config.options.respond.rules);
    errors.push_back(tested ? std::nullopt : std::optional(tested.error()));
    if (!tested) continue;
    notes.merge(tested->notes, hosts.addresses.size() > 1 ? host : std::string());
    for (const respond::Occurrence& one : tested->found) {
      if (options.job.empty() || one.condition.job == options.job) append(table, host, one);
    }
  }
  TRY_ASSIGN(const bool is_whole, tell_missing(errors));
  std::vector<Table> tables{std::move(table)};
  if (options.format == &render::kText) {
    if (tables[0].rows() == 0) {
      TRY(write_output("", "No rule would have fired.\n"));
      tables.clear();
    }
    tables = with_local_times(tables, true);
  }
  TRY(print(*options.format, {tables, notes}));
  return is_whole ? kAllAnswered : kSomeMissing;
}

}  // namespace spotter::app
