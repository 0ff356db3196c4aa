#include "agent/telemetry/newest_tables.h"

#include <algorithm>

namespace spotter::agent {
namespace {

constexpr Field kTime = {"time_ns", Type::integer, Unit::ns, Role::time, "When it was sampled: Unix time."};

Table wanted_part(const Table& table, Ns unix_ns, const table::Selection& selection) {
  const std::span<const Field> columns = table.schema();
  std::vector<Field> fields(table.is_events ? 0 : 1, kTime);
  std::vector<size_t> from;
  for (size_t c = 0; c < columns.size(); ++c) {
    if (!selection.wants_column(table.name(), columns[c], table.is_events)) continue;
    fields.push_back(columns[c]);
    from.push_back(c);
  }
  Table out(table.name(), std::move(fields));
  out.notes = table.notes;
  out.is_events = table.is_events;
  const size_t job = table::Selection::job_column(columns);
  std::vector<Value> row;
  for (size_t r = 0; r < table.rows(); ++r) {
    if (job < columns.size() && !selection.wants_row(table.at(r, job))) continue;
    row.clear();
    if (!table.is_events) row.emplace_back(unix_ns);
    for (const size_t c : from) row.push_back(table.at(r, c));
    out.append(row);
  }
  return out;
}

}  // namespace

std::vector<Table> newest_tables(std::span<const SharedBatch> latest, Ns unix_now,
                                 const wire::MetricsQuery& query) {
  std::vector<Table> tables;
  for (const SharedBatch& batch : latest) {
    if (is_stale(*batch, unix_now)) continue;
    for (const Table& table : batch->tables) {
      if (std::ranges::find(tables, table.name(), &Table::name) != tables.end()) continue;
      if (!query.selection.wants_table(table.name(), table.schema(), table.is_events)) continue;
      tables.push_back(wanted_part(table, batch->unix_ns, query.selection));
    }
  }
  std::erase_if(tables, [](const Table& table) { return table.rows() == 0; });
  return tables;
}

}  // namespace spotter::agent
