#include "analyze/compat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analyze/list.h"

namespace spotter::analyze {
namespace {

TEST(Compats, AreFoundByTheirNames) {
  std::set<std::string_view> names;
  for (const Compat* compat : all_compats()) {
    EXPECT_TRUE(names.insert(compat->name).second) << compat->name;
    EXPECT_EQ(find_compat(compat->name), compat);
    EXPECT_TRUE(compat->rows || !compat->instead.empty()) << compat->name;
  }
  EXPECT_EQ(find_compat("nothing"), nullptr);
}

// Who knows the exact table finds his columns, or none of that name.
TEST(Compats, TablesStandInForOthersOfTheirNameAndColumns) {
  for (const Compat* compat : all_compats()) {
    for (const Analysis* own : compat->instead) {
      const Analysis* exact = find_analysis(own->name);
      ASSERT_NE(exact, nullptr) << own->name;
      EXPECT_EQ(stand_in(compat, exact), own);
      for (const Field& field : own->columns) {
        const auto same = std::ranges::find(exact->columns, std::string_view(field.name), &Field::name);
        if (same == exact->columns.end()) continue;
        EXPECT_EQ(same->type, field.type) << own->name << " " << field.name;
        EXPECT_EQ(same->unit, field.unit) << own->name << " " << field.name;
      }
    }
  }
}

TEST(Compats, WithoutOneEveryAnalysisIsItself) {
  for (const Analysis* analysis : all_analyses()) EXPECT_EQ(stand_in(nullptr, analysis), analysis);
  EXPECT_EQ(stand_in(&kHta, &kSteps), &kSteps);
}

// What is on request of the tool's own is not among them; nor is what it did not have.
TEST(Compats, UsualTablesAreItsOwn) {
  EXPECT_TRUE(usual_tables(kHta).empty());
  const std::vector<const Analysis*> usual = usual_tables(kTbPlugin);
  EXPECT_FALSE(usual.empty());
  for (const Analysis* own : usual) {
    EXPECT_EQ(std::ranges::count(kTbPlugin.instead, own), 1) << own->name;
    EXPECT_FALSE(own->on_request) << own->name;
  }
}

}  // namespace
}  // namespace spotter::analyze
