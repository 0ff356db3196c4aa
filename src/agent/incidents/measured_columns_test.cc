// What respond/ measures of suspects, by names alone, against what there is.
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/telemetry/table_kinds.h"
#include "respond/measured/own_work.h"
#include "table/rates.h"

namespace spotter::agent {
namespace {

const Field* find_column(const char* table, std::string_view column) {
  const table::TableKind* kind = find_table_kind(table);
  if (!kind) return nullptr;
  const auto it = std::ranges::find_if(kind->columns, [&](const Field& f) { return f.name == column; });
  return it == kind->columns.end() ? nullptr : &*it;
}

TEST(MeasuredColumns, EachIsACollectorsAndItsRateIsCalledSo) {
  for (const respond::OwnWork& each : respond::own_work()) {
    const Field* field = find_column(each.table, each.sampled);
    ASSERT_TRUE(field) << each.table << "." << each.sampled;
    if (field->role == Role::counter) {
      EXPECT_STREQ(table::rate_field(*field).name, each.column);
    } else {
      EXPECT_STREQ(each.sampled, each.column);
    }
    if (*each.device) {
      EXPECT_TRUE(find_column(each.table, each.device)) << each.table << "." << each.device;
    }
    for (const char* key : {"job", "rank"}) {
      EXPECT_EQ(each.of == respond::RowOf::host, !find_column(each.table, key)) << each.table << "." << key;
    }
  }
  EXPECT_TRUE(find_column("gpu", respond::kGpuBusy));
  EXPECT_TRUE(find_column("gpu", "gpu"));
}

}  // namespace
}  // namespace spotter::agent
