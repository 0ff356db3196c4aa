#include "app/metrics/agent_samples.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "app/capture/missing_hosts.h"
#include "app/metrics/metrics_view.h"
#include "base/stable_sort.h"
#include "base/time.h"
#include "client/client.h"
#include "table/ops.h"

namespace spotter::app {
namespace {

constexpr Ns kPatience = 10 * kSecond;

// The table with a first column that says whose rows they are.
Table with_host(const Table& table, const std::string& host) {
  std::vector<Field> fields{{"host", Type::text, Unit::none, Role::key, "Host of the agent."}};
  fields.insert(fields.end(), table.schema().begin(), table.schema().end());
  Table out(table.name(), fields);
  std::vector<Value> row(fields.size());
  row[0] = std::string_view(host);
  for (size_t r = 0; r < table.rows(); ++r) {
    for (size_t c = 0; c < table.columns(); ++c) row[c + 1] = table.at(r, c);
    out.append(row);
  }
  return out;
}

// Rows of another agent below those that are there, if both tables have the same columns.
bool append_to(std::vector<Table>& tables, const Table& more) {
  const auto is_same = [](const Field& a, const Field& b) {
    return std::string_view(a.name) == b.name && a.type == b.type;
  };
  for (Table& table : tables) {
    if (table.name() != more.name() || !std::ranges::equal(table.schema(), more.schema(), is_same)) continue;
    table::append(table, more);
    return true;
  }
  return false;
}

using Answers = std::vector<Result<wire::TablesAnswer>>;  // of each host

Answers answers_of(const Hosts& hosts, const std::string& target) {
  return client::ask_tables(hosts.addresses, hosts.credentials, {"GET", target, {}, {}}, kPatience);
}

Result<Samples> joined(const Hosts& hosts, const Answers& answers) {
  Samples samples;
  std::vector<std::optional<Error>> errors;
  for (const Result<wire::TablesAnswer>& answer : answers) {
    const net::HttpAddress& address = hosts.addresses[errors.size()];
    errors.push_back(answer ? std::nullopt : std::optional(answer.error()));
    if (!answer) continue;
    samples.notes.merge(answer->notes, hosts.addresses.size() > 1 ? address.host : std::string());
    for (const Table& table : answer->tables) {
      const Table more = hosts.addresses.size() > 1 ? with_host(table, address.host) : table;
      if (!append_to(samples.tables, more)) samples.tables.push_back(more);
    }
  }
  TRY_ASSIGN(samples.is_whole, tell_missing(errors));
  return samples;
}

// Puts the newest samples in the place of the answers of those who have no history.
void fall_back(const Hosts& hosts, const wire::MetricsQuery& query, Answers& answers) {
  Hosts without{{}, hosts.credentials, hosts.job};
  std::vector<size_t> places;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] || answers[i].error().code != Code::not_found) continue;
    without.addresses.push_back(hosts.addresses[i]);
    places.push_back(i);
  }
  if (places.empty()) return;
  wire::MetricsQuery newest;
  newest.selection = query.selection;
  Answers more = answers_of(without, wire::target_of(newest));
  for (size_t i = 0; i < places.size(); ++i) {
    if (!more[i]) continue;
    Result<wire::TablesAnswer>& answer = answers[places[i]];
    more[i]->notes.add(
        "no_history", Severity::info,
        fmt::format("the newest sample alone is shown, without counters: {}", answer.error().message));
    answer = std::move(more[i]);
  }
}

// In the order in which their metrics are looked at; the others behind them.
void sort_as_looked_at(std::vector<Table>& tables) {
  const std::vector<std::string> first = first_metrics();
  const auto place = [&](const Table& table) {
    return std::ranges::find_if(
               first, [&](const std::string& name) { return name.starts_with(table.name() + "_"); }) -
           first.begin();
  };
  stable_sort(tables, [&](const Table& a, const Table& b) { return place(a) < place(b); });
}

}  // namespace

Result<Samples> ask_agents(const Hosts& hosts, const std::string& target) {
  return joined(hosts, answers_of(hosts, target));
}

Result<Samples> ask_agents(const Hosts& hosts, wire::MetricsQuery query, WithoutHistory without) {
  if (query.selection.job.empty()) query.selection.job = hosts.job;
  Answers answers = answers_of(hosts, wire::target_of(query));
  if (query.since != 0 && without == WithoutHistory::newest) fall_back(hosts, query, answers);
  TRY_ASSIGN(Samples samples, joined(hosts, answers));
  sort_as_looked_at(samples.tables);
  return samples;
}

}  // namespace spotter::app
