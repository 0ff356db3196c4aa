#include <gtest/gtest.h>

#include <cmath>

#include "render/list.h"
#include "render/svg_text.h"

namespace spotter::render {
namespace {

const Field kSpans[] = {
    {"stream", Type::integer, Unit::none, Role::key, ""},
    {"start_ns", Type::integer, Unit::ns, Role::time, ""},
    {"dur_ns", Type::integer, Unit::ns, Role::value, ""},
    {"kind", Type::text, Unit::none, Role::value, ""},
};

std::string svg_of(const Table& table) { return render(kSvg, {std::span(&table, 1), {}}); }

size_t count(const std::string& text, std::string_view part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Svg, DrawsEachSpanInTheLaneOfItsKeys) {
  Table table("timeline", kSpans);
  table.append({i64{7}, i64{1000}, i64{500}, "compute"});
  table.append({i64{7}, i64{1500}, i64{500}, "memory"});
  table.append({i64{20}, i64{1000}, i64{1000}, "compute"});
  const std::string svg = svg_of(table);
  EXPECT_EQ(count(svg, "<title>"), 3u);
  EXPECT_EQ(count(svg, ">stream 7</text>"), 1u);
  EXPECT_EQ(count(svg, ">stream 20</text>"), 1u);
  // 1,364 pixels are 1,000 ns: the first span has half of them, from where the labels end: 9 cells of 7.3,
  // and 8 on both sides. Above are the heading, the legend and the axis, 18 each.
  EXPECT_NE(svg.find("<rect x=\"81.70\" y=\"72\" width=\"682.00\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("<rect x=\"763.70\" y=\"72\" width=\"682.00\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("<rect x=\"81.70\" y=\"92\" width=\"1364.00\""), std::string::npos) << svg;
}

// The fill of the legend's box before this word.
std::string colour_in_legend(const std::string& svg, const std::string& word) {
  const size_t text = svg.find(">" + word + "</text>");
  EXPECT_NE(text, std::string::npos) << word;
  const size_t fill = svg.rfind("fill=\"#", text);
  return svg.substr(fill + 6, 7);
}

TEST(Svg, AKindHasItsColourWhateverElseIsShown) {
  Table both("timeline", kSpans), one("timeline", kSpans);
  both.append({i64{7}, i64{1000}, i64{500}, "memory"});
  both.append({i64{7}, i64{1500}, i64{500}, "a kind of its own"});
  both.append({i64{7}, i64{2500}, i64{500}, "communication"});
  one.append({i64{7}, i64{1500}, i64{500}, "communication"});
  one.append({i64{7}, i64{2500}, i64{500}, "a kind of its own"});
  for (const char* kind : {"communication", "a kind of its own"})
    EXPECT_EQ(colour_in_legend(svg_of(both), kind), colour_in_legend(svg_of(one), kind));
  const Table pictures[] = {both, one};
  const std::string svg = render(kSvg, {pictures, {}});
  EXPECT_EQ(count(svg, ">communication</text>"), 2u);  // a legend for each picture
}

struct Text {
  double x, y, left, right;
};

// Where the texts are.
std::vector<Text> texts_of(const std::string& svg) {
  std::vector<Text> texts;
  const auto number_at = [&](size_t at, const std::string& name) {
    return std::stod(svg.substr(svg.find(name + "=\"", at) + name.size() + 2));
  };
  for (size_t at = svg.find("<text"); at != std::string::npos; at = svg.find("<text", at + 1)) {
    const size_t end = svg.find("</text>", at), begin = svg.rfind('>', end) + 1;
    const double width = svg_width(svg.substr(begin, end - begin)), x = number_at(at, " x");
    const bool is_middle = svg.find("\"middle\"", at) < end;
    const double left = is_middle ? x - width / 2 : x;
    texts.push_back({x, number_at(at, " y"), left, left + width});
  }
  return texts;
}

TEST(Svg, NoTextIsCutOrOnAnother) {
  const Field fields[] = {{"annotation", Type::text, Unit::none, Role::key, ""},
                          {"start_ns", Type::integer, Unit::ns, Role::time, ""},
                          {"dur_ns", Type::integer, Unit::ns, Role::value, ""},
                          {"name", Type::text, Unit::none, Role::value, ""}};
  Table table("timeline", fields);
  for (i64 i = 0; i < 40; ++i)
    table.append({std::string(static_cast<size_t>(i) * 5, 'l') + "漢", i * 1'000'003, i64{999'999},
                  std::to_string(i) + std::string(static_cast<size_t>(i), 'n')});
  const std::string svg = svg_of(table);
  const double width = std::stod(svg.substr(svg.find("width=\"") + 7));
  const std::vector<Text> texts = texts_of(svg);
  EXPECT_GT(texts.size(), 70u);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_GE(texts[i].left, 0);
    EXPECT_LE(texts[i].right, width);
    for (size_t k = 0; k < i; ++k) {
      const bool is_on_its_line = std::abs(texts[i].y - texts[k].y) < kSvgFontSize;
      EXPECT_FALSE(is_on_its_line && texts[i].left < texts[k].right && texts[k].left < texts[i].right)
          << i << " " << k;
    }
  }
  EXPECT_EQ(count(svg, ">and 16 more; each span has a title</text>"), 1u);
}

TEST(Svg, ATreeIsDrawnByDepth) {
  const Field fields[] = {{"rank", Type::integer, Unit::none, Role::key, ""},
                          {"event", Type::integer, Unit::none, Role::key, ""},
                          {"parent", Type::integer, Unit::none, Role::value, ""},
                          {"depth", Type::integer, Unit::count, Role::value, ""},
                          {"thread", Type::integer, Unit::none, Role::detail, ""},
                          {"name", Type::text, Unit::none, Role::value, ""},
                          {"start_ns", Type::integer, Unit::ns, Role::time, ""},
                          {"dur_ns", Type::integer, Unit::ns, Role::value, ""}};
  Table table("call_tree", fields);
  table.append({0, 5, {}, 0, 1, "outer", 0, 100});
  table.append({0, 6, 5, 1, 1, "inner", 10, 20});
  table.append({0, 7, 5, 1, 1, "inner", 50, 20});
  const std::string svg = svg_of(table);
  EXPECT_EQ(count(svg, ">rank 0 thread 1 depth 0</text>"), 1u);
  EXPECT_EQ(count(svg, ">rank 0 thread 1 depth 1</text>"), 1u);
  EXPECT_EQ(count(svg, "depth"), 2u + 3u);  // the titles of the spans
}

TEST(Svg, TimesCountFromTheStartOfTheJob) {
  Table table("timeline", kSpans);
  table.append({i64{7}, i64{1'700'000'000'000'000'000}, i64{1'000'000}, "compute"});
  const TextStyle style = {.time_zero = 1'699'999'999'000'000'000};
  const std::string svg = render(kSvg, {std::span(&table, 1), {}}, style);
  EXPECT_NE(svg.find(">timeline: 1.00 ms from 1.000000 s after the start of the job's first span<"),
            std::string::npos)
      << svg;
  EXPECT_NE(svg.find("start_ns: 1.000000 s"), std::string::npos) << svg;
  EXPECT_NE(svg_of(table).find(">timeline: 1.00 ms from 1700000000.000000 s<"), std::string::npos);
}

TEST(Svg, ATableWithoutRowsSaysSoAndAloneIsAnError) {
  Table none("timeline", kSpans), some("steps", kSpans);
  none.notes.add("no_device_work", Severity::info, "traces without device work have no rows here");
  some.append({i64{7}, i64{0}, i64{5}, "compute"});
  const Table both[] = {none, some};
  EXPECT_TRUE(check_rows(kSvg, {both, {}}, "--table"));
  EXPECT_NE(render(kSvg, {both, {}}).find(">timeline: no rows</text>"), std::string::npos);
  Notes run;
  run.add("rank_by_order", Severity::info, "which is no reason");
  const auto checked = check_rows(kSvg, {std::span(&none, 1), run}, "--table");
  ASSERT_FALSE(checked);
  EXPECT_EQ(
      checked.error().message,
      "there is nothing to draw, timeline has no rows: traces without device work have no rows here; choose another "
      "table with --table, or another part of the job");
  EXPECT_TRUE(check_rows(kCsv, {std::span(&none, 1), {}}, ""));
}

TEST(Svg, ManyNarrowSpansAreFewBars) {
  Table table("timeline", kSpans);
  for (i64 i = 0; i < 100'000; ++i) table.append({i64{7}, i * 10, i64{9}, i % 2 == 0 ? "compute" : "memory"});
  const std::string svg = svg_of(table);
  EXPECT_LT(count(svg, "<rect"), 4000u);
  EXPECT_GT(count(svg, "<rect"), 1000u);
}

TEST(Svg, HasALimitedNumberOfLines) {
  Table table("timeline", kSpans);
  for (i64 i = 0; i < 10'000; ++i) table.append({i, i * 10, i64{9}, "compute"});
  const std::string svg = svg_of(table);
  EXPECT_EQ(count(svg, "<title>"), 500u);
  EXPECT_NE(svg.find(">9500 spans on further lines are left out</text>"), std::string::npos);
}

TEST(Svg, NamesAreEscaped) {
  Table table("timeline", kSpans);
  table.append({i64{7}, i64{0}, i64{5}, "<a & \"b\">\x1b"});
  const std::string svg = svg_of(table);
  EXPECT_NE(svg.find("&lt;a &amp; &quot;b&quot;&gt;"), std::string::npos);
  EXPECT_EQ(svg.find('\x1b'), std::string::npos);
}

TEST(Svg, WhatIsNoCharacterOfXmlIsReplaced) {
  Table table("timeline", kSpans);
  table.append({i64{7}, i64{0}, i64{5}, "a\uFFFEb\uFFFFc\uFFFD"});
  const std::string svg = svg_of(table);
  EXPECT_NE(svg.find("a\uFFFDb\uFFFDc\uFFFD"), std::string::npos);
  EXPECT_EQ(svg.find("\uFFFE"), std::string::npos);
  EXPECT_EQ(svg.find("\uFFFF"), std::string::npos);
}

TEST(Svg, SpansOfOtherCenturiesStayInThePicture) {
  Table table("timeline", kSpans);
  table.append({i64{7}, INT64_MIN, i64{5}, "compute"});
  table.append({i64{7}, INT64_MAX, i64{5}, "compute"});
  const std::string svg = svg_of(table);
  EXPECT_NE(svg.find("<rect x=\"74.40\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("<rect x=\"1438.40\""), std::string::npos) << svg;
  EXPECT_EQ(svg.find("x=\"-"), std::string::npos) << svg;
}

TEST(Svg, TakesTablesOfSpansOnly) {
  EXPECT_TRUE(kSvg.takes(Table("timeline", kSpans)));
  EXPECT_FALSE(kSvg.takes(Table("other", std::span(kSpans).first(2))));
  EXPECT_NE(svg_of(Table("timeline", kSpans)).find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace spotter::render
