#include <gtest/gtest.h>

#include "render/list.h"

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
  // 1,364 pixels are 1,000 ns: the first span has half of them, from where the labels end.
  EXPECT_NE(svg.find("<rect x=\"220.00\" y=\"56\" width=\"682.00\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("<rect x=\"902.00\" y=\"56\" width=\"682.00\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("<rect x=\"220.00\" y=\"76\" width=\"1364.00\""), std::string::npos) << svg;
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
  EXPECT_NE(svg.find("<rect x=\"220.00\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("<rect x=\"1584.00\""), std::string::npos) << svg;
  EXPECT_EQ(svg.find("x=\"-"), std::string::npos) << svg;
}

TEST(Svg, TakesTablesOfSpansOnly) {
  EXPECT_TRUE(kSvg.takes(Table("timeline", kSpans)));
  EXPECT_FALSE(kSvg.takes(Table("other", std::span(kSpans).first(2))));
  EXPECT_NE(svg_of(Table("timeline", kSpans)).find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace spotter::render
