#include "render/columns_binary.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

namespace spotter::render {
namespace {

using namespace std::string_view_literals;

constexpr i64 kBase = 1'700'000'000'000'000'000;

const Field kBinarySchema[] = {
    {"rank", Type::integer, Unit::none, Role::key, "The rank."},
    {"at_ns", Type::integer, Unit::ns, Role::time, "When."},
    {"name", Type::text, Unit::none, Role::value, "Its name."},
    {"share", Type::real, Unit::ratio, Role::value, "Its share."},
    {"slow", Type::flag, Unit::none, Role::value, "Whether it is slow."},
};

u32 header_length(const std::string& bytes) {
  u32 length = 0;
  for (int i = 0; i < 4; ++i) length |= u32{static_cast<u8>(bytes[4 + static_cast<size_t>(i)])} << (8 * i);
  return length;
}
std::string header_of(const std::string& bytes) { return bytes.substr(8, header_length(bytes)); }
std::string body_of(const std::string& bytes) { return bytes.substr(8 + header_length(bytes)); }

std::string column(std::string_view field, std::string_view coding) {
  return std::string(field) + "," + std::string(coding) + "}";
}

TEST(ColumnsBinary, WritesEachColumnInTheFewestBytes) {
  Table table("spans", kBinarySchema);
  table.append({0, kBase, "a", 0.5, true});
  table.append({0, kBase + 300, "b", 0.5, false});
  table.append({0, kBase + 600, "a", 0.25, true});
  table.append({-1, kBase + 900, "a", 0.5, Value()});
  const std::vector<Table> tables{table};
  const std::string bytes = columns_binary({.tables = tables, .notes = {}});
  EXPECT_EQ(bytes.substr(0, 4), "SPT1");
  const std::string header = header_of(bytes);
  EXPECT_NE(header.find("\"name\":\"spans\",\"rows\":4,\"notes\":["), std::string::npos) << header;
  for (const auto& [field, coding] : {
           std::pair{R"("help":"The rank.")", R"("coding":"plain","width":1)"},
           std::pair{R"("help":"When.")", R"("coding":"delta","width":2,"base":"1700000000000000000")"},
           std::pair{R"("help":"Its name.")", R"("coding":"dictionary","width":1,"words":["a","b"])"},
           std::pair{R"("help":"Its share.")", R"("coding":"reals","count":2,"width":1)"},
           std::pair{R"("help":"Whether it is slow.")", R"("nulls":true,"coding":"plain","width":1)"},
       })
    EXPECT_NE(header.find(column(field, coding)), std::string::npos) << header;
  std::string want = std::string("\0\0\0\xff"sv);         // ranks
  want += std::string("\0\x2c\x2c\x2c\0\x01\x01\x01"sv);  // times: 300 after each other
  want += std::string("\0\x01\0\0"sv);                    // names
  want += std::string("\0\0\0\0\0\0\xe0\x3f\0\0\0\0\0\0\xd0\x3f"sv);
  want += std::string("\0\0\x01\0"sv);                              // shares
  want += std::string("\x08"sv) + std::string("\x01\0\x01\x01"sv);  // which are null; flags
  EXPECT_EQ(body_of(bytes), want);
}

TEST(ColumnsBinary, HoldsTheLowestAndTheHighestNumbers) {
  constexpr i64 kLeast = std::numeric_limits<i64>::min(), kMost = std::numeric_limits<i64>::max();
  Table table("edges", std::span(kBinarySchema).first(2));
  table.append({kLeast, kMost});
  table.append({kMost, kLeast});
  const std::vector<Table> tables{table};
  const std::string bytes = columns_binary({.tables = tables, .notes = {}});
  // Differences wrap around: from the lowest to the highest it is one back.
  EXPECT_NE(header_of(bytes).find(R"("base":"-9223372036854775808")"), std::string::npos) << header_of(bytes);
  EXPECT_NE(body_of(bytes).find("\xff"), std::string::npos);
}

TEST(ColumnsBinary, NoRowsAndAllNull) {
  Table empty("none", kBinarySchema), nulls("nulls", std::span(kBinarySchema).subspan(2));
  for (int i = 0; i < 9; ++i) nulls.append({Value(), Value(), Value()});
  const std::vector<Table> tables{empty, nulls};
  const std::string bytes = columns_binary({.tables = tables, .notes = {}});
  // Nothing of the first; of the second two bytes of bits for each column, and the planes of its numbers.
  EXPECT_EQ(body_of(bytes).size(), 2 + 2 + 9 * 8 + 2) << header_of(bytes);
}

TEST(ColumnsBinary, MembersAndNotesAreInTheHeader) {
  Notes notes;
  notes.add("damaged_event", Severity::loss, "events were \"damaged\"", 1234, 3);
  const std::string bytes =
      columns_binary({.tables = {}, .notes = notes, .members = {{"start_ns", Value("12")}}});
  EXPECT_NE(header_of(bytes).find(R"("kind":"damaged_event")"), std::string::npos);
  EXPECT_TRUE(header_of(bytes).ends_with(R"(],"start_ns":"12"})")) << header_of(bytes);
  EXPECT_EQ(body_of(bytes), "");
}

// Lengths are noise, gaps are not: a start is counted from where the span before ends.
TEST(ColumnsBinary, CountsStartsFromTheEndBefore) {
  constexpr Field kSpanColumns[] = {
      {"start_ns", Type::integer, Unit::ns, Role::time, "Start."},
      {"dur_ns", Type::integer, Unit::ns, Role::value, "Length."},
  };
  Table table("spans", kSpanColumns);
  i64 start = kBase;
  for (i64 row = 0; row < 8; ++row) {
    const i64 length = 1000 + 37 * (row * row % 11);
    table.append({start, length});
    start += length + 5;
  }
  const std::vector<Table> tables{table};
  const std::string bytes = columns_binary({.tables = tables, .notes = {}});
  EXPECT_NE(
      header_of(bytes).find(column(
          R"("help":"Start.")", R"("coding":"after","of":"dur_ns","width":1,"base":"1700000000000000000")")),
      std::string::npos)
      << header_of(bytes);
  EXPECT_EQ(body_of(bytes).substr(0, 8), std::string("\0\x05\x05\x05\x05\x05\x05\x05"sv));
}

}  // namespace
}  // namespace spotter::render
