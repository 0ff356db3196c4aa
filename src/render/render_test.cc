#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "render/list.h"

namespace spotter::render {
namespace {

using namespace std::string_view_literals;

const Field kSchema[] = {
    {"rank", Type::integer, Unit::none, Role::key, "The rank."},
    {"name", Type::text, Unit::none, Role::key, "Its \"name\"."},
    {"busy_ratio", Type::real, Unit::ratio, Role::value, "Its share."},
    {"slow", Type::flag, Unit::none, Role::value, "Whether it is slow."},
};

constexpr i64 kLowest = std::numeric_limits<i64>::min(), kHighest = std::numeric_limits<i64>::max();

Table sample() {
  Table t("kernels", kSchema);
  t.append({kHighest, "plain", 0.1, true});
  t.append({kLowest, "say \"hi\", \\ 漢\n\t\x01", 1e300, false});
  t.append({(i64{1} << 53) + 1, "bad \xff byte", std::nan(""), Value()});
  t.append({Value(), Value(), -HUGE_VAL, true});
  t.append({0, "", 1.0 / 3, true});
  return t;
}

Notes sample_notes() {
  Notes inner, notes;
  inner.add("damaged_event", Severity::loss, "events were \"damaged\"", 1234, 3);
  notes.merge(inner, "rank0.json");
  notes.add("rank_by_order", Severity::info, "ranks were counted");
  return notes;
}

TEST(Render, Formats) {
  EXPECT_STREQ(kText.name, "text");
  for (const Format* format : all_formats()) EXPECT_EQ(find_format(format->name), format);
  for (const char* word : {"", "JSON", "xml", "text "}) EXPECT_EQ(find_format(word), nullptr);
}

TEST(Render, FormatsThatCannotShowAllTables) {
  const Table a("a", std::span(kSchema).first(1)), b("b", std::span(kSchema).first(2));
  const std::vector<Table> one{a}, two{a, b};
  for (const char* format : {"text", "json", "csv"})
    EXPECT_TRUE(check_takes(*find_format(format), two, "--table"));
  EXPECT_TRUE(check_takes(*find_format("arrow"), {}, "--table"));
  EXPECT_TRUE(check_takes(*find_format("arrow"), one, "--table"));
  EXPECT_EQ(
      check_takes(*find_format("arrow"), two, "--table").error().message,
      "the format arrow cannot show 2 tables (a, b): it is an Arrow IPC stream of one table, for pyarrow, "
      "Polars and DuckDB; choose one with --table");
  const Error undrawn = check_takes(*find_format("svg"), one, {}).error();
  EXPECT_EQ(undrawn.code, Code::invalid);
  EXPECT_EQ(
      undrawn.message,
      "the format svg cannot show the table a: it is a picture of a table of spans, such as timeline, steps, "
      "call_tree and critical_path_edges");
}

TEST(Render, Json) {
  EXPECT_EQ(render(*find_format("json"), {std::vector{sample()}, sample_notes()}),
            R"({"tables":[
{"name":"kernels","columns":[
{"name":"rank","type":"integer","unit":"none","role":"key","help":"The rank."},
{"name":"name","type":"text","unit":"none","role":"key","help":"Its \"name\"."},
{"name":"busy_ratio","type":"real","unit":"ratio","role":"value","help":"Its share."},
{"name":"slow","type":"flag","unit":"none","role":"value","help":"Whether it is slow."}],"rows":[
[9223372036854775807,"plain",0.1,true],
[-9223372036854775808,"say \"hi\", \\ 漢\n\t\u0001",1e+300,false],
[9007199254740993,"bad )"
            "\uFFFD"
            R"( byte",null,null],
[null,null,null,true],
[0,"",0.3333333333333333,true]]}],
"notes":[
{"kind":"damaged_event","severity":"loss","count":3,"position":1234,"scope":"rank0.json","scopes":1,"sentence":"events were \"damaged\""},
{"kind":"rank_by_order","severity":"info","count":1,"position":null,"scope":"","scopes":1,"sentence":"ranks were counted"}]}
)");
}

TEST(Render, JsonOfNothing) {
  EXPECT_EQ(render(*find_format("json"), {{}, {}}), "{\"tables\":[],\n\"notes\":[]}\n");
  EXPECT_EQ(
      render(*find_format("json"), {std::vector{Table("t", std::span(kSchema).first(1))}, {}}),
      "{\"tables\":[\n{\"name\":\"t\",\"columns\":[\n"
      "{\"name\":\"rank\",\"type\":\"integer\",\"unit\":\"none\",\"role\":\"key\",\"help\":\"The rank.\"}],\"rows\":[]}],\n"
      "\"notes\":[]}\n");
}

TEST(Render, JsonHasTheDocumentsMembersLast) {
  const std::string id = "say \"id\"";
  const Document document{
      {}, {}, {{"id", std::string_view(id)}, {"n", kHighest}, {"over", false}, {"who", Value()}}};
  EXPECT_EQ(
      render(*find_format("json"), document),
      "{\"tables\":[],\n\"notes\":[],\"id\":\"say \\\"id\\\"\",\"n\":9223372036854775807,\"over\":false,\"who\":null}\n");
  for (const char* format : {"text", "csv"}) EXPECT_EQ(render(*find_format(format), document), "");
}

TEST(Render, Csv) {
  EXPECT_EQ(render(*find_format("csv"), {std::vector{sample()}, sample_notes()}),
            "rank,name,busy_ratio,slow\n"
            "9223372036854775807,plain,0.1,true\n"
            "-9223372036854775808,\"say \"\"hi\"\", \\ 漢␊␉␁\",1e+300,false\n"
            "9007199254740993,bad \uFFFD byte,,\n"
            ",,,true\n"
            "0,\"\",0.3333333333333333,true\n");
}

// What a trace's names may do to a spreadsheet or a terminal.
TEST(Render, CsvOfTextsThatMeanHarm) {
  const auto csv = [](std::string_view name) {
    Table table("t", kSchema);
    table.append({-1, name, -0.5, true});
    const std::string text = render(kCsv, {std::span(&table, 1), {}});
    return text.substr(text.find('\n') + 1);
  };
  EXPECT_EQ(csv("=1+1"), "-1,'=1+1,-0.5,true\n") << "numbers stay numbers";
  for (const char* formula : {"+x", "-x", "@SUM(A1)", "=cmd|' /C calc'!A0"})
    EXPECT_EQ(csv(formula), fmt::format("-1,'{},-0.5,true\n", formula));
  EXPECT_EQ(csv("=HYPERLINK(\"a\",1)"), "-1,\"'=HYPERLINK(\"\"a\"\",1)\",-0.5,true\n");
  EXPECT_EQ(csv("a=b-c"), "-1,a=b-c,-0.5,true\n");
  EXPECT_EQ(csv("\x1b[2J\r\n\x7f"), "-1,␛[2J␍␊␡,-0.5,true\n");
  EXPECT_EQ(csv(std::string_view("\0\t=1", 4)), "-1,␀␉=1,-0.5,true\n");
  EXPECT_EQ(csv("\u009b31m"), "-1,\uFFFD31m,-0.5,true\n");
}

TEST(Render, CsvOfSeveralTables) {
  Table a("a", std::span(kSchema).first(1)), b("b", std::span(kSchema).first(2));
  a.append({1});
  EXPECT_EQ(render(*find_format("csv"), {std::vector{a, b}, {}}), "# a\nrank\n1\n\n# b\nrank,name\n");
}

TEST(Render, TextPutsNotesAtTheFoot) {
  Table a("a", std::span(kSchema).first(1)), b("b", std::span(kSchema).first(2));
  a.append({1});
  EXPECT_EQ(render(*find_format("text"), {std::vector{a}, {}}), "rank\n   1\n");
  EXPECT_EQ(render(*find_format("text"), {std::vector{a, b}, sample_notes()}),
            "a:\nrank\n   1\n\nb:\nrank  name\nno rows\n\n"
            "loss: 3 events were \"damaged\" (first at byte 1234, in rank0.json)\n"
            "info: ranks were counted\n");
  EXPECT_EQ(render(*find_format("text"), {{}, sample_notes()}).substr(0, 5), "loss:");
}

TEST(Render, WhatSeveralTablesNoteAlikeIsShownOnce) {
  Table a("a", std::span(kSchema).first(1)), b = a, c = a;
  a.notes.add("k", Severity::info, "rows have no launch", -1, 5);
  b.notes = a.notes;
  c.notes.add("k", Severity::info, "rows have no launch", -1, 2);  // another count is another fact
  Notes run;
  run.add("r", Severity::info, "ranks were guessed", -1, 8);
  const std::string head = "a:\nrank\nno rows\n\na:\nrank\nno rows\n\n";
  EXPECT_EQ(render(*find_format("text"), {std::vector{a, b}, run}),
            head + "info: 8 ranks were guessed\ninfo: 5 rows have no launch\n");
  EXPECT_EQ(render(*find_format("text"), {std::vector{a, c}, {}}), head + "info: 7 rows have no launch\n");
}

}  // namespace
}  // namespace spotter::render
