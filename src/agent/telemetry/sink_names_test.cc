// What sink/ says of columns, of which it knows the names alone, against what there is.
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/telemetry/table_kinds.h"
#include "collect/list.h"
#include "sink/dynolog_names.h"
#include "sink/semantic_names.h"

namespace spotter::agent {
namespace {

const Field* find_column(const char* table, const char* column) {
  const collect::TableKind* kind = find_table_kind(table);
  if (!kind) return nullptr;
  const auto it =
      std::ranges::find_if(kind->columns, [&](const Field& f) { return std::string_view(f.name) == column; });
  return it == kind->columns.end() ? nullptr : &*it;
}

const char* unit_of(const Field& field) {
  switch (field.unit) {
    case Unit::ns:
      return "s";
    case Unit::bytes:
      return "By";
    case Unit::ratio:
      return "1";
    case Unit::celsius:
      return "Cel";
    case Unit::watts:
      return "W";
    case Unit::joules:
      return "J";
    default:
      return "{";  // of things that are counted
  }
}

TEST(SinkNamesTest, EverySemanticNameIsOfAColumnOfItsUnitAndKind) {
  for (const sink::SemanticName& name : sink::semantic_names()) {
    const Field* field = find_column(name.table, name.column);
    ASSERT_TRUE(field) << name.table << "." << name.column;
    if (name.of) {
      const Field* whole = find_column(name.table, name.of);
      ASSERT_TRUE(whole) << name.table << "." << name.of;
      EXPECT_EQ(whole->unit, field->unit);
      EXPECT_EQ(whole->type, Type::integer);
      EXPECT_STREQ(name.unit, "1");
    } else {
      EXPECT_TRUE(std::string_view(name.unit).starts_with(unit_of(*field)))
          << name.name << " " << name.column;
    }
    EXPECT_EQ(name.instrument == sink::Instrument::counter, field->role == Role::counter) << name.name;
    for (const char* less : name.less) {
      if (!less) continue;
      const Field* other = find_column(name.table, less);
      ASSERT_TRUE(other) << name.table << "." << less;
      EXPECT_EQ(other->unit, field->unit);
      EXPECT_EQ(other->type, Type::integer);
    }
  }
}

TEST(SinkNamesTest, EveryAttributeIsOfAColumnThatSaysWhatARowIs) {
  for (const sink::AttributeName& name : sink::attribute_names()) {
    bool is_there = false;
    for (const collect::CollectorKind* collector : collect::all_collectors()) {
      for (const collect::TableKind& table : collector->tables) {
        if (name.table != std::string_view("*") && std::string_view(table.name) != name.table) continue;
        const Field* field = find_column(table.name, name.column);
        if (!field) continue;
        is_there = true;
        EXPECT_TRUE(field->role == Role::key || field->role == Role::detail) << name.name;
      }
    }
    EXPECT_TRUE(is_there) << name.table << "." << name.column;
  }
}

TEST(SinkNamesTest, EveryColumnBehindDynologsNamesIsThere) {
  for (const auto& [table, column] : sink::dynolog_columns())
    EXPECT_TRUE(find_column(table, column)) << table << "." << column;
}

}  // namespace
}  // namespace spotter::agent
