#include "app/capture/agent_view.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "app/capture/missing_hosts.h"
#include "app/cli/local_times.h"
#include "app/cli/output.h"
#include "base/time.h"
#include "client/client.h"
#include "table/ops.h"

namespace spotter::app {
namespace {

constexpr Ns kPatience = 10 * kSecond;

bool has_column(const Table& table, std::string_view name) {
  return std::ranges::any_of(table.schema(), [&](const Field& f) { return f.name == name; });
}

// `job`: only rows of it, where the table has jobs; empty: all.
Table of_job(const Table& part, const std::string& job) {
  if (job.empty() || !has_column(part, "job")) return part;
  std::vector<size_t> rows;
  for (size_t r = 0; r < part.rows(); ++r)
    if (table::text_or_empty(part, r, "job") == job) rows.push_back(r);
  return table::pick(part, rows);
}

}  // namespace

Result<int> show(const HostOptions& where, const render::Format& format, const View& view) {
  TRY_ASSIGN(const Hosts hosts, find_hosts(where));
  Table table(view.name, view.schema);
  std::vector<std::optional<Error>> errors;
  for (const Result<client::Answer>& answer : client::ask(
           hosts.addresses, hosts.credentials, {"GET", view.target, {}, {}}, view.schema, kPatience)) {
    errors.push_back(answer ? std::nullopt : std::optional(answer.error()));
    if (answer) table::append(table, of_job(answer->table, hosts.job));
  }
  TRY_ASSIGN(const bool is_whole, tell_missing(errors));
  const bool fails = view.fails && view.fails(table);
  std::vector<Table> tables{std::move(table)};
  if (&format != &render::kText) {
    TRY(print(format, {tables, {}}));
  } else {
    const std::string more = view.more && where.is_local() ? view.more(tables[0]) : "";
    tables = with_local_times(tables, true);
    if (tables[0].rows() > 0) TRY(print(format, {tables, {}}));
    TRY(write_output("", tables[0].rows() == 0 && view.nothing ? view.nothing + more : more));
  }
  return !is_whole ? kSomeMissing : fails ? kSomethingFails : kAllAnswered;
}

}  // namespace spotter::app
