// What an agent answers is what a client reads.
#include <gtest/gtest.h>

#include "render/list.h"
#include "wire/read_tables.h"

namespace spotter::api {
namespace {

constexpr Field kColumns[] = {
    {"device", Type::text, Unit::none, Role::key, "Disk."},
    {"job", Type::text, Unit::none, Role::detail, "Job."},
    {"read_bytes", Type::integer, Unit::bytes, Role::counter, "Read."},
    {"busy_ratio", Type::real, Unit::ratio, Role::value, "Busy."},
    {"up", Type::flag, Unit::none, Role::value, "Up."},
};

Table disks() {
  Table table("disk", kColumns);
  table.append({std::string_view("sda"), std::string_view("7"), i64{1} << 60, 0.5, true});
  table.append({std::string_view("sdb"), {}, {}, {}, {}});
  return table;
}

TEST(Answers, WhatJsonSays) {
  Notes notes;
  notes.add("odd", Severity::loss, "something is lost", -1, 3);
  const std::string text = render::render(render::kJson, {std::vector{disks()}, notes});
  const auto answer = wire::read_tables(text);
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->tables.size(), 1U);
  const Table& table = answer->tables[0];
  ASSERT_EQ(table.columns(), std::size(kColumns));
  for (size_t c = 0; c < table.columns(); ++c) {
    EXPECT_STREQ(table.schema()[c].name, kColumns[c].name);
    EXPECT_EQ(table.schema()[c].type, kColumns[c].type);
    EXPECT_EQ(table.schema()[c].unit, kColumns[c].unit);
    EXPECT_EQ(table.schema()[c].role, kColumns[c].role);
    for (size_t r = 0; r < table.rows(); ++r) EXPECT_EQ(table.at(r, c), disks().at(r, c));
  }
  EXPECT_EQ(answer->notes.count("odd"), 3);
}

TEST(Answers, WhatIsNoAnswer) {
  const std::string good = render::render(render::kJson, {std::vector{disks()}, {}});
  const auto changed = [&](const char* from, const char* to) {
    std::string text = good;
    text.replace(text.find(from), std::string_view(from).size(), to);
    return text;
  };
  // Of a later release.
  EXPECT_TRUE(wire::read_tables(changed(R"("unit":"ratio")", R"("unit":"parsec")")));
  EXPECT_TRUE(wire::read_tables(changed(R"("role":"key")", R"("role":"king")")));
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), good.substr(0, good.size() / 2),
        changed(R"("type":"text")", R"("type":"tune")"), changed(R"("sda")", "7"),
        changed("[\"sdb\",null", "[\"sdb\""), changed("0.5", "\"x\"")})
    EXPECT_EQ(wire::read_tables(text).error().code, Code::corrupt) << text;
}

}  // namespace
}  // namespace spotter::api
