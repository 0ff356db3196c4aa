#include "collect/textfile/exposition.h"

#include <gtest/gtest.h>

#include <cmath>

namespace spotter::collect {
namespace {

// Each family as "NAME TYPE [HELP] SAMPLE..".
std::string read(std::string_view text) {
  const auto families = read_exposition(text);
  if (!families) return families.error().message;
  std::string out;
  for (const ExposedFamily& family : *families) {
    out += fmt::format("{} {} [{}]", family.name, family.type, family.help);
    for (const ExposedSample& sample : family.samples)
      out += fmt::format(" {}{{{}}}={}{}", sample.name, sample.labels, sample.value,
                         family.is_total(sample) ? "+" : "");
    out += '\n';
  }
  return out;
}

TEST(Exposition, Families) {
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("\n# a word\n#HELPfoo x\na 1\n"), "a untyped [] a{}=1\n");
  EXPECT_EQ(read("# HELP jobs All \\\\ of\\nthem.\n# TYPE jobs counter\njobs{state=\"done\"} 3\n\tjobs 4 \n"),
            "jobs counter [All \\ of\nthem.] jobs{state=\"done\"}=3+ jobs{}=4+\n");
  EXPECT_EQ(read("a 1\nb 2\n#  TYPE c Gauge\na{x=\"1\"} 3\n# HELP c\nc 5\n# HELP a late\n"),
            "a untyped [late] a{}=1 a{x=\"1\"}=3\nb untyped [] b{}=2\nc gauge [] c{}=5\n");
  EXPECT_EQ(read("# TYPE nothing gauge\n"), "");
}

TEST(Exposition, PartsOfHistogramsAndSummaries) {
  EXPECT_EQ(
      read("# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\nh_other 1\n"),
      "h histogram [] h_bucket{le=\"+Inf\"}=2+ h_sum{}=3+ h_count{}=2+\nh_other untyped [] h_other{}=1\n");
  EXPECT_EQ(read("# TYPE s summary\ns{quantile=\"0.5\"} 2\ns_sum 3\ns_count 2\ns_bucket 1\n"),
            "s summary [] s{quantile=\"0.5\"}=2 s_sum{}=3+ s_count{}=2+\ns_bucket untyped [] s_bucket{}=1\n");
  EXPECT_EQ(read("# TYPE g gauge\ng_sum 3\n"), "g_sum untyped [] g_sum{}=3\n");
  EXPECT_NE(read("# TYPE h histogram\nh 2\n").find("line 2: h is a histogram"), std::string::npos);
}

TEST(Exposition, LabelsAreInOneForm) {
  EXPECT_EQ(read("a{ b = \"1\" , a=\"x\\\"y\\\\z\\n{},=\" ,} 1\n"),
            "a untyped [] a{a=\"x\\\"y\\\\z\\n{},=\",b=\"1\"}=1\n");
  EXPECT_EQ(read("a{b=\"\"}1\n"), "a untyped [] a{}=1\n");
  EXPECT_EQ(read("a{}1\n"), "a untyped [] a{}=1\n");
  EXPECT_EQ(read("a:b{c=\"\xc3\xa4\"} 1\n"), "a:b untyped [] a:b{c=\"\xc3\xa4\"}=1\n");
}

TEST(Exposition, Numbers) {
  EXPECT_EQ(read("a 1e3\na{b=\"1\"} -.5\na{b=\"2\"} +7\na{b=\"3\"} +Inf\na{b=\"4\"} -inf\n"),
            "a untyped [] a{}=1000 a{b=\"1\"}=-0.5 a{b=\"2\"}=7 a{b=\"3\"}=inf a{b=\"4\"}=-inf\n");
  const auto nan = read_exposition("a NaN\n");
  ASSERT_TRUE(nan);
  EXPECT_TRUE(std::isnan(nan->at(0).samples.at(0).value));
}

// What node_exporter refuses is refused: the same texts are in tests/conformance/test_textfile.py.
TEST(Exposition, SaysWhereATextIsWrong) {
  const struct {
    const char *text, *error;
  } cases[] = {
      {"a 1\nb 2", "the last line has no end: somebody still writes it"},
      {"a 1\nb x\n", "line 2: b has no number"},
      {"a\n", "line 1: a has no number"},
      {"a +-1\n", "line 1: a has no number"},
      {"a 0x1p3\n", "line 1: a has no number"},
      {"a 1_0\n", "line 1: a has no number"},
      {"a nan(1)\n", "line 1: a has no number"},
      {"a 1\r\n", "line 1: a has no number"},
      {"a 1 1700000000000\n", "line 1: a has a time; what is in a file is taken for now"},
      {"9a 1\n", "line 1: it does not begin with the name of a metric"},
      {"a{b=1} 1\n", "line 1: a label is not NAME=\"VALUE\""},
      {"a{b:c=\"1\"} 1\n", "line 1: a label is not NAME=\"VALUE\""},
      {"a{__name__=\"b\"} 1\n", "line 1: a label is not NAME=\"VALUE\""},
      {"a{,} 1\n", "line 1: a label is not NAME=\"VALUE\""},
      {"a{b=\"1\" c=\"2\"} 1\n", "line 1: no comma and no brace comes after the label b"},
      {"a{b=\"1\",b=\"2\"} 1\n", "line 1: the label b is there twice"},
      {"a{b=\"1} 1\n", "line 1: the value of the label b is no text with an end"},
      {"a{b=\"\\t\"} 1\n", "line 1: the value of the label b is no text with an end"},
      {"a{b=\"\xff\"} 1\n", "line 1: the value of the label b is no text with an end"},
      {"# TYPE a float\n", "line 1: a has a type that there is not"},
      {"# TYPE a gauge\n# TYPE a gauge\na 1\n", "line 2: a has another line TYPE, or samples, before"},
      {"a 1\n# TYPE a gauge\n", "line 2: a has another line TYPE, or samples, before"},
      {"# HELP a x\n# HELP a x\na 1\n", "line 2: a has another line HELP before"},
      {"# HELP a{} x\n", "line 1: no name of a metric comes after HELP"},
  };
  for (const auto& c : cases) EXPECT_EQ(read(c.text), c.error) << c.text;
}

}  // namespace
}  // namespace spotter::collect
