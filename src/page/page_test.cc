#include "page/page.h"

#include <gtest/gtest.h>

namespace spotter::page {
namespace {

TEST(Page, IsOneFileThatAsksNobody) {
  EXPECT_TRUE(html().starts_with("<!doctype html>"));
  EXPECT_TRUE(html().ends_with("</html>\n"));
  EXPECT_TRUE(policy().starts_with("default-src 'none'; script-src 'sha256-")) << policy();
  EXPECT_EQ(policy().find("connect-src"), policy().npos);
  EXPECT_NE(licences().find("preact"), licences().npos);
}

TEST(Page, IsServedWithItsPolicyInTheHeader) {
  EXPECT_EQ(served().find("http-equiv"), std::string::npos);
  EXPECT_EQ(served().find("default-src"), std::string::npos);
  EXPECT_TRUE(served().ends_with(html().substr(html().find("<meta charset"))));
  EXPECT_TRUE(served_policy().starts_with(policy()));
  EXPECT_TRUE(served_policy().ends_with("; connect-src 'self'; frame-ancestors 'none'"));
}

TEST(Page, HasTheStyleOfItsStaticPart) {
  EXPECT_NE(static_style().find(std::string(kStaticRoot) + " .points {"), std::string::npos);
  EXPECT_TRUE(static_style().ends_with("}\n"));
  EXPECT_EQ(static_style().find("</"), std::string::npos);
}

TEST(Page, TakesAReport) {
  const std::string report =
      filled({.title = "T&amp;T", .body = "<h1>what</h1>", .blocks = "<script>x</script>"});
  EXPECT_NE(report.find("<title>T&amp;T</title>"), std::string::npos);
  EXPECT_NE(report.find("<main id=\"static\"><h1>what</h1></main>"), std::string::npos);
  EXPECT_NE(report.find("<script>x</script>\n  <script"), std::string::npos);
  EXPECT_NE(report.find(policy()), std::string::npos);
  EXPECT_EQ(report.find("<!--spotter"), std::string::npos);
}

}  // namespace
}  // namespace spotter::page
