#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/text/utf8.h"
#include "render/list.h"

namespace spotter::render {
namespace {

const Field kSchema[] = {
    {"rank", Type::integer, Unit::none, Role::key, "The rank."},
    {"name", Type::text, Unit::none, Role::key, "The kernel."},
    {"sum_ns", Type::integer, Unit::ns, Role::value, "Its time."},
    {"busy_ratio", Type::real, Unit::ratio, Role::value, "Its share."},
    {"copied_bytes", Type::integer, Unit::bytes, Role::value, "Its bytes."},
    {"copied_bytes_per_s", Type::real, Unit::bytes_per_s, Role::value, "Its speed."},
    {"launch_count", Type::integer, Unit::count, Role::value, "Its launches."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Its start."},
    {"slow", Type::flag, Unit::none, Role::value, "Whether it is slow."},
};

const char* const kLongName =
    "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
    "CUDAFunctor_add<float>, std::array<char*, 3ul>)";

Table sample() {
  Table t("kernels", kSchema);
  t.append({0, kLongName, 1'234'567, 0.5, 2048, 1e9, 12345, 1'000'000, true});
  t.append({1, "Größe 漢字", 45, Value(), Value(), Value(), 7, Value(), false});
  return t;
}

int widest_line(const std::string& text) {
  int widest = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    widest = std::max(widest, display_width(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

std::string blanks(size_t n) { return std::string(n, ' '); }

TEST(Text, WithoutALimitNothingIsLost) {
  const std::string name = kLongName;
  const std::string expected =
      "rank  name" + blanks(name.size() - 4) +
      "      sum  busy %    copied   copied/s  launch_count       start  slow\n" +                   //
      "   0  " + name + "  1.23 ms  50.0 %  2.00 KiB  954 MiB/s        12,345  0.001000 s  yes\n" +  //
      "   1  Größe 漢字" + blanks(name.size() - 10) +
      "    45 ns       -         -          -             7           -  no\n";
  EXPECT_EQ(render_text_table(sample(), {}), expected);
}

TEST(Text, Width80ShortensTheNameAndBreaksTitlesBeforeValuesGo) {
  EXPECT_EQ(render_text_table(sample(), {.width = 80}),
            "                                                                    launch\n"
            "rank  name                        sum  busy %    copied   copied/s   count  slow\n"
            "   0  vectorized_ele…, 3ul>)  1.23 ms  50.0 %  2.00 KiB  954 MiB/s  12,345  yes\n"
            "   1  Größe 漢字                45 ns       -         -          -       7  no\n"
            "+1 column in a wider terminal or with --format json: start\n");
}

TEST(Text, DetailsGoBeforeNamesAndValues) {
  const Field schema[] = {{"host", Type::text, Unit::none, Role::detail, ""},
                          {"name", Type::text, Unit::none, Role::key, ""},
                          {"sum_ns", Type::integer, Unit::ns, Role::value, ""},
                          {"std_ns", Type::integer, Unit::ns, Role::detail, ""},
                          {"ratio", Type::real, Unit::ratio, Role::value, ""}};
  Table t("t", schema);
  t.append({"node1234", std::string(40, 'n'), 1000, 10, 0.5});
  EXPECT_EQ(render_text_table(t, {.width = 60}),
            "host      name                                   sum   ratio\n"
            "node1234  nnnnnnnnnnnnnnnnnnnnnn…nnnnnnnnnn  1.00 µs  50.0 %\n"
            "+1 column in a wider terminal or with --format json: std\n");
  EXPECT_EQ(render_text_table(t, {.width = 47}),
            "name                                sum   ratio\n"
            "nnnnnnnnnnnnnnnnnnnn…nnnnnnnnn  1.00 µs  50.0 %\n"
            "+2 columns in a wider terminal or with --format\n"
            "  json: host, std\n");
}

TEST(Text, ColumnsWithoutAValueGoFirst) {
  const Field fields[] = {{"key", Type::integer, Unit::none, Role::key, ""},
                          {"a_rather_long_name", Type::integer, Unit::none, Role::value, ""},
                          {"what_if", Type::integer, Unit::none, Role::value, ""},
                          {"another_long_name", Type::integer, Unit::none, Role::value, ""}};
  Table table("t", fields);
  table.append({i64{1}, i64{123456789}, {}, i64{123456789}});
  EXPECT_EQ(render_text_table(table, {.width = 30}),
            "      a_rather    another\n"
            "key  long_name  long_name\n"
            "  1  123456789  123456789\n"
            "+1 column in a wider terminal\n"
            "  or with --format json:\n"
            "  what_if\n");
}

TEST(Text, Width180ShortensTheNameOnly) {
  const std::string text = render_text_table(sample(), {.width = 180});
  EXPECT_EQ(widest_line(text), 180);
  EXPECT_NE(text.find("vectorized_elementwise_kernel<4, CUDAFunctor_add<"), std::string::npos);
  EXPECT_NE(text.find("…"), std::string::npos);
  EXPECT_NE(text.find("std::array<char*, 3ul>)  1.23 ms"), std::string::npos);
  EXPECT_NE(text.find("slow"), std::string::npos);
}

// Keys and one value stay at any width: 4 + 2 + 16 + 2 + 7 columns are the least that this table takes.
TEST(Text, IsNeverWiderThanAskedDownToItsLeast) {
  for (int width = 1; width < 260; ++width) {
    std::string text = render_text_table(sample(), {.width = width});
    text.resize(std::min(text.size(), text.find("+")));  // the hint is a sentence, not a row
    ASSERT_LE(widest_line(text), std::max(width, 31)) << width;
  }
}

TEST(Text, WideLettersAreCutWhole) {
  const Field schema[] = {{"name", Type::text, Unit::none, Role::key, ""}};
  Table t("t", schema);
  std::string name;
  for (int i = 0; i < 50; ++i) name += "漢";
  t.append({name});
  const std::string text = render_text_table(t, {.width = 40});
  EXPECT_TRUE(is_valid_utf8(text));
  EXPECT_GE(widest_line(text), 38);
  EXPECT_LE(widest_line(text), 40);
}

TEST(Text, TheWidestTextGivesFirst) {
  const Field schema[] = {{"kind", Type::text, Unit::none, Role::key, ""},
                          {"name", Type::text, Unit::none, Role::key, ""}};
  Table t("t", schema);
  t.append({std::string(35, 'k'), std::string(100, 'n')});
  EXPECT_EQ(render_text_table(t, {.width = 77}), "kind" + blanks(33) + "name\n" + std::string(35, 'k') +
                                                     "  " + std::string(26, 'n') + "…" +
                                                     std::string(13, 'n') + "\n");
}

TEST(Text, NamesOfHundredsOfCellsLoseTheirMiddleWhateverRoomThereIs) {
  const Field schema[] = {{"name", Type::text, Unit::none, Role::key, ""},
                          whole({"reason", Type::text, Unit::none, Role::value, ""})};
  Table t("t", schema);
  const std::string name = "begin_" + std::string(290, 'n') + "_end", reason(300, 'r');
  t.append({name, reason});
  for (const int width : {0, 1000}) {
    const std::string text = render_text_table(t, {.width = width});
    EXPECT_NE(text.find("begin_nnn"), std::string::npos) << text;
    EXPECT_NE(text.find("nnn_end"), std::string::npos) << text;
    EXPECT_NE(text.find(reason), std::string::npos) << text;
    EXPECT_EQ(widest_line(text), 160 + 2 + 300) << text;
  }
  for (const Format* format : {&kCsv, &kJson, &kArrow})
    EXPECT_NE(render(*format, {std::span(&t, 1), {}}).find(name), std::string::npos) << format->name;
}

const Field kReceipts[] = {{"pid", Type::integer, Unit::none, Role::key, ""},
                           {"state", Type::text, Unit::none, Role::value, ""},
                           whole({"file", Type::text, Unit::none, Role::value, ""}),
                           whole({"reason", Type::text, Unit::none, Role::value, ""})};

TEST(Text, WhatStaysWholeGoesBelowItsRowWhereThereIsNoRoom) {
  Table t("t", kReceipts);
  t.append({1, "written", "/tmp/a", Value()});
  t.append({2, "failed", Value(), "the process ended before it had asked for the request"});
  EXPECT_EQ(render_text_table(t, {.width = 80}),
            "pid  state    file    reason\n"
            "  1  written  /tmp/a  -\n"
            "  2  failed   -       the process ended before it had asked for the request\n");
  EXPECT_EQ(render_text_table(t, {.width = 40}),
            "pid  state    file\n"
            "  1  written  /tmp/a\n"
            "  2  failed   -\n"
            "  reason: the process ended before it\n"
            "    had asked for the request\n");
  EXPECT_EQ(render_text_table(t, {.width = 16}),
            "pid  state\n"
            "  1  written\n"
            "  file: /tmp/a\n"
            "  2  failed\n"
            "  reason: the\n"
            "    process\n"
            "    ended before\n"
            "    it had asked\n"
            "    for the\n"
            "    request\n");
}

TEST(Text, TimesCountFromTheStartOfTheJobAndThatIsSaid) {
  const Field schema[] = {{"start_ns", Type::integer, Unit::ns, Role::time, ""},
                          {"dur_ns", Type::integer, Unit::ns, Role::value, ""}};
  Table t("t", schema);
  t.append({i64{1'712'345'678'123'456'789}, i64{5}});
  t.append({Value(), i64{5}});
  const Document document = {std::span(&t, 1), {}};
  EXPECT_EQ(
      render(kText, document, {.time_zero = 1'712'345'677'123'456'789}),
      "     start   dur\n"
      "1.000000 s  5 ns\n"
      "         -  5 ns\n"
      "times count from the start of the job's first span, 1712345677.123457 s Unix time; --epoch shows Unix times\n");
  EXPECT_EQ(render(kText, document),
            "              start   dur\n"
            "1712345678.123457 s  5 ns\n"
            "                  -  5 ns\n");
  const std::string csv = render(kCsv, document);
  EXPECT_EQ(render(kCsv, document, {.time_zero = 5}), csv);
  EXPECT_EQ(render(kJson, document, {.time_zero = 5}), render(kJson, document));
  EXPECT_EQ(render(kArrow, document, {.time_zero = 5}), render(kArrow, document));
  Table no_times("t", std::span(schema).subspan(1));
  no_times.append({i64{5}});
  EXPECT_EQ(render(kText, {std::span(&no_times, 1), {}}, {.time_zero = 5}), " dur\n5 ns\n");
}

TEST(Text, AnEmptyTableSaysSo) {
  EXPECT_EQ(render_text_table(Table("t", std::span(kSchema).first(3)), {.width = 80}),
            "rank  name  sum\nno rows\n");
}

TEST(Text, ANameCannotBreakItsLine) {
  Table t("t", std::span(kSchema).first(2));
  t.append({1, "two\nlines \x1b[31mred \xff"});
  EXPECT_EQ(render_text_table(t, {}), "rank  name\n   1  two lines \uFFFD[31mred \uFFFD\n");
}

TEST(Text, NotesAreWrapped) {
  Notes notes;
  notes.add("a", Severity::loss, "events were \x1b left out", 17, 4);
  EXPECT_EQ(render_text_notes(notes, {.width = 20, .color = true}),
            "\x1b[31mloss: 4 events were\n  \uFFFD left out (first\n  at byte 17)\x1b[0m\n");
}

TEST(Text, ColourOnlyWhenAsked) {
  const TextStyle color = {.width = 0, .color = true};
  EXPECT_EQ(render_text_table(Table("t", std::span(kSchema).first(1)), color),
            "\x1b[1mrank\x1b[0m\n\x1b[2mno rows\x1b[0m\n");
  Notes notes;
  notes.add("a", Severity::info, "names were guessed", -1, 2);
  notes.add("b", Severity::repair, "numbers were mended", -1, 3);
  notes.add("c", Severity::loss, "events were left out", 17, 4);
  EXPECT_EQ(render_text_notes(notes, {}),
            "loss: 4 events were left out (first at byte 17)\n"
            "repair: 3 numbers were mended\n"
            "info: 2 names were guessed\n");
  EXPECT_EQ(render_text_notes(notes, color),
            "\x1b[31mloss: 4 events were left out (first at byte 17)\x1b[0m\n"
            "\x1b[33mrepair: 3 numbers were mended\x1b[0m\n"
            "\x1b[2minfo: 2 names were guessed\x1b[0m\n");
  EXPECT_EQ(render_text_notes({}, color), "");
}

}  // namespace
}  // namespace spotter::render
