#include <gtest/gtest.h>

#include "report/html/data_block.h"
#include "report/html/elements.h"
#include "report/html/escaped.h"
#include "report/html/redactor.h"

namespace spotter::report {
namespace {

TEST(HtmlEscaped, MakesMarkupText) {
  EXPECT_EQ(html_escaped("</script><img src=x onerror=\"a('b')\">&"),
            "&lt;/script&gt;&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt;&amp;");
  EXPECT_EQ(html_escaped("grün 東京 😀"), "grün 東京 😀");
}

TEST(HtmlEscaped, ShowsWhatCannotBeSeen) {
  EXPECT_EQ(html_escaped("a\x01z\x7F"), "a[U+0001]z[U+007F]");
  EXPECT_EQ(html_escaped(std::string_view("\0", 1)), "[U+0000]");
  EXPECT_EQ(html_escaped("a\u202Egpj.exe\u2066"), "a[U+202E]gpj.exe[U+2066]");
  EXPECT_EQ(html_escaped("\u0085\u2028"), "[U+0085][U+2028]");
  EXPECT_EQ(html_escaped("one\ttwo\r\nthree"), "one two  three");
}

TEST(HtmlEscaped, MendsWhatIsNoUtf8) {
  EXPECT_EQ(html_escaped("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(html_escaped("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // half of a pair
  EXPECT_EQ(html_escaped("\uFFFF\uFDD0"), "\uFFFD\uFFFD");
}

constexpr Field kShownColumns[] = {
    {"name", Type::text, Unit::none, Role::key, "What it is called."},
    {"sum_ns", Type::integer, Unit::ns, Role::value, "How long <it> takes."},
    {"at_ns", Type::integer, Unit::ns, Role::time, "When."},
    {"share_ratio", Type::real, Unit::ratio, Role::value, ""},
    {"host", Type::text, Unit::none, Role::detail, ""},
};

TEST(TableHtml, HasCaptionScopesAndExactValues) {
  Table table("kernels", kShownColumns);
  table.append({"gemm<1>", 1'234'567, 5'000'000'000, 0.25, Value()});
  const std::string html = table_html(table, "Kernels & more", Ns{3'000'000'000});
  EXPECT_NE(html.find("<caption>Kernels &amp; more</caption>"), html.npos) << html;
  EXPECT_NE(html.find("<th scope=\"col\" class=\"number\" title=\"How long &lt;it&gt; takes.\">sum</th>"),
            html.npos)
      << html;
  EXPECT_NE(html.find("<th scope=\"row\">gemm&lt;1&gt;</th>"
                      "<td class=\"number\" title=\"1234567\">1.23 ms</td>"
                      "<td class=\"number\" title=\"5000000000\">2.000000 s</td>"
                      "<td class=\"number\" title=\"0.25\">25.0 %</td><td></td>"),
            html.npos)
      << html;
}

TEST(PointsHtml, TellsOfAFindingWhatItCostsAndWhereToLook) {
  const std::string html = points_html({{.text = "Rank 3 is slow.",
                                         .about = "slow device, rank 3",
                                         .kind = "fault",
                                         .time = 43'862'201,
                                         .share = 0.5,
                                         .command = "spotter analyze 'a b' --table steps",
                                         .place = "#/steps?v=1&ranks=3"}});
  EXPECT_NE(html.find("<b class=\"kind\">fault</b> Rank 3 is slow."), html.npos) << html;
  EXPECT_NE(html.find("<b title=\"43862201\">43.9 ms</b> at stake"), html.npos) << html;
  EXPECT_NE(html.find("<code>spotter analyze &#39;a b&#39; --table steps</code>"), html.npos) << html;
  EXPECT_NE(html.find("href=\"#/steps?v=1&amp;ranks=3\""), html.npos) << html;
}

TEST(BarsHtml, StacksEachRowAndTellsEachPiece) {
  const std::string html =
      bars_html({.title = "Time",
                 .series = {{"compute", "compute"}, {"comm", "communication"}, {"waiting", "idle"}},
                 .rows = {{"0", {3'000'000, 1'000'000, 0}}, {"1", {0, 4'000'000, 0}}}},
                "ranks");
  EXPECT_NE(html.find("<title>0, compute: 3.00 ms (3000000 ns), 75.0 %</title>"), html.npos) << html;
  EXPECT_NE(html.find("<title>1, comm: 4.00 ms (4000000 ns), 100.0 %</title>"), html.npos) << html;
  EXPECT_NE(html.find("url(#static-hatch-ranks)"), html.npos);
  EXPECT_EQ(html.find("waiting"), html.npos);  // nobody has any
  EXPECT_EQ(html.find("style="), html.npos);
}

TEST(HeatMapHtml, JoinsNeighboursOfMany) {
  HeatMap map{
      .title = "Steps", .row_name = "rank", .column_name = "step", .rows = {}, .columns = {"1"}, .cells = {}};
  for (int rank = 0; rank < 130; ++rank) {
    map.rows.push_back(fmt::format("{}", rank));
    map.cells.push_back(rank == 4 ? std::nullopt : std::optional<i64>(1000 + rank));
  }
  const std::string html = heat_map_html(map);
  EXPECT_NE(html.find("<title>rank 3-5, step 1: 1.00 µs (1005 ns)</title>"), html.npos)
      << html.substr(0, 3000);
  EXPECT_NE(html.find("rank 129, step 1"), html.npos);
}

TEST(Redactor, PutsNumbersForPathsHostsAndArguments) {
  diagnose::Diagnosis diagnosis;
  diagnosis.files = {{0, "/home/ann/run 1/rank0.json"}, {1, "/home/ann/run 1/rank1.json"}};
  diagnose::RankFacts rank;
  rank.host = "node7";
  diagnosis.facts.ranks = {rank};
  const std::vector<std::string> paths = {"/home/ann/run 1"};
  Redactor redactor(paths, diagnosis);
  EXPECT_EQ(redactor.text("Rank 0 (host node7) is slow; see rank1.json."),
            "Rank 0 (host host-1) is slow; see path-3.");
  EXPECT_EQ(redactor.text("spotter analyze '/home/ann/run 1' --table steps"),
            "spotter analyze path-1 --table steps");
  EXPECT_EQ(redactor.text("/home/ann/run 1/rank0.json: damaged, as 10.0.0.12 says"),
            "path-2: damaged, as host-2 says");
  constexpr Field kColumns[] = {
      {"name", Type::text, Unit::none, Role::key, ""},
      {"host", Type::text, Unit::none, Role::value, ""},
      {"shapes", Type::text, Unit::none, Role::value, ""},
  };
  Table table("t", kColumns);
  table.append({"/home/ann/train.py(12): forward", "node7", "[[3, 4]]"});
  table.append({"gemm<node7, 3>", Value(), "[[3, 4]]"});
  table.append({"aten::mm", "node8", "[]"});
  const Table redacted = redactor.table(table);
  EXPECT_EQ(redacted.text(0, 0), "path-4(12): forward");
  EXPECT_EQ(redacted.text(0, 1), "host-1");
  EXPECT_EQ(redacted.text(0, 2), "argument-1");
  EXPECT_EQ(redacted.text(1, 0), "gemm<node7, 3>");
  EXPECT_TRUE(is_null(redacted.at(1, 1)));
  EXPECT_EQ(redacted.text(1, 2), "argument-1");
  EXPECT_EQ(redacted.text(2, 1), "host-3");
}

TEST(Redactor, FilesOfFramesMayHaveAnyName) {
  constexpr Field kColumns[] = {{"name", Type::text, Unit::none, Role::key, ""},
                                {"finding", Type::text, Unit::none, Role::value, ""}};
  Table table("t", kColumns);
  table.append(
      {"/home/ann/our secret dir/train.py(12): main", "see /home/ann/our secret dir/train.py(12): main"});
  table.append({"secret.ipynb(5): f", "secret.ipynb(5) waits"});
  table.append({"<secretcell-1-ab>(34): f", "in <secretcell-1-ab>(34)"});
  table.append({"void gemm<int>(float*): x", "void gemm<int>(float*): x"});
  table.append({"step(3): fwd", "the step 3"});
  table.append({"/home/a (x): b/train.py(12): f", ""});
  diagnose::Diagnosis diagnosis;
  diagnosis.tables.push_back(table);
  Redactor redactor({}, diagnosis);
  const Table redacted = redactor.table(table);
  EXPECT_EQ(redacted.text(0, 0), "path-1(12): main");
  EXPECT_EQ(redacted.text(0, 1), "see path-1(12): main");
  EXPECT_EQ(redacted.text(1, 0), "path-2(5): f");
  EXPECT_EQ(redacted.text(1, 1), "path-2(5) waits");
  EXPECT_EQ(redacted.text(2, 0), "path-3(34): f");
  EXPECT_EQ(redacted.text(2, 1), "in path-3(34)");
  EXPECT_EQ(redacted.text(3, 0), "void gemm<int>(float*): x");
  EXPECT_EQ(redacted.text(4, 0), "step(3): fwd");
  EXPECT_EQ(redacted.text(4, 1), "the step 3");
  EXPECT_EQ(redacted.text(5, 0), "path-4(12): f");
}

}  // namespace
}  // namespace spotter::report
