#include "store/merge.h"

#include "base/stable_sort.h"

namespace spotter::store {
namespace {

constexpr size_t kNowhere = ~size_t{0};
constexpr Field kTime = {"time_ns", Type::integer, Unit::ns, Role::time, "When it was sampled, Unix time."};

int place_of(const StoredField& field) {
  return field.role == Role::key ? 0 : field.role == Role::detail ? 1 : 2;
}

// Nulls last, as table/ops.h has it.
bool is_before(const Value& a, const Value& b) {
  return is_null(a) || is_null(b) ? !is_null(a) && is_null(b) : a < b;
}

}  // namespace

void Merge::add_column(const StoredField& field) {
  const size_t at = schema_.find(field.name);
  if (at == schema_.fields.size()) {
    schema_.fields.push_back(field);
  } else if (field.type == Type::real && schema_.fields[at].type == Type::integer) {
    schema_.fields[at].type = Type::real;
  }
}

void Merge::add_schema(const Schema& schema, const std::vector<bool>& wanted) {
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (wanted[i]) add_column(schema.fields[i]);
  }
}

void Merge::map_columns(const Schema& schema) {
  columns_.clear();
  for (const StoredField& field : schema_.fields) {
    const size_t at = schema.find(field.name);
    const bool is_there = at < schema.fields.size();
    const bool fits = is_there && (schema.fields[at].type == field.type ||
                                   (schema.fields[at].type == Type::integer && field.type == Type::real));
    if (is_there && !fits)
      notes.add("changed_column", Severity::loss,
                fmt::format("a column {} of another type in another version is left out", field.name));
    columns_.push_back(fits ? at : kNowhere);
  }
}

void Merge::add_row(const Block& block, size_t row) {
  if (!rows_) {
    if (!is_events_) {
      stable_sort(schema_.fields,
                  [](const StoredField& a, const StoredField& b) { return place_of(a) < place_of(b); });
    }
    rows_ = std::make_unique<Block>(std::make_shared<const Schema>(schema_));
  }
  if (mapped_ != block.schema) {
    map_columns(*block.schema);
    mapped_ = block.schema;
  }
  std::vector<Value> values;
  for (const size_t column : columns_) values.push_back(column == kNowhere ? Value{} : block.at(row, column));
  rows_->append(block.times[row], values);
}

Table Merge::finish() {
  std::vector<Field> fields;
  if (!is_events_) fields.push_back(kTime);
  for (const StoredField& field : schema_.fields) fields.push_back(lasting_field(field));
  Table table(name_, fields);
  table.is_events = is_events_;
  table.notes = std::move(notes);
  if (!rows_) return table;

  const Grouping grouping = group(*rows_);
  std::vector<size_t> entities(grouping.entities());
  for (size_t i = 0; i < entities.size(); ++i) entities[i] = i;
  stable_sort(entities, [&](size_t a, size_t b) {
    const size_t row_a = grouping.of(a).front(), row_b = grouping.of(b).front();
    for (size_t i = 0; i < schema_.fields.size(); ++i) {
      if (schema_.fields[i].role != Role::key) continue;
      const Value value_a = rows_->at(row_a, i), value_b = rows_->at(row_b, i);
      if (is_before(value_a, value_b)) return true;
      if (is_before(value_b, value_a)) return false;
    }
    return false;
  });
  std::vector<Value> values;
  for (const size_t entity : entities) {
    for (const u32 row : grouping.of(entity)) {
      values.clear();
      if (!is_events_) values.push_back(rows_->times[row]);
      for (size_t i = 0; i < schema_.fields.size(); ++i) values.push_back(rows_->at(row, i));
      table.append(values);
    }
  }
  return table;
}

}  // namespace spotter::store
