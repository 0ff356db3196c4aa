#include "net/http/url.h"

#include <gtest/gtest.h>

namespace spotter::net {
namespace {

std::string shown(const std::string& text) {
  const auto url = parse_url(text);
  if (!url) return "no";
  return fmt::format("{} {} {} {}", url->is_plain ? "plain" : "tls", url->host, url->port, url->path);
}

TEST(UrlTest, Parts) {
  EXPECT_EQ(shown("http://localhost:4318"), "plain localhost 4318 /");
  EXPECT_EQ(shown("https://otlp.example.com/a/b?c=d"), "tls otlp.example.com 443 /a/b?c=d");
  EXPECT_EQ(shown("http://h"), "plain h 80 /");
  EXPECT_EQ(shown("http://h?x"), "plain h 80 /?x");
  EXPECT_EQ(shown("http://[::1]:9/"), "plain ::1 9 /");
  EXPECT_EQ(shown("https://[2001:db8::1]/x"), "tls 2001:db8::1 443 /x");
}

TEST(UrlTest, WhatIsNone) {
  for (const char* text :
       {"", "localhost:4318", "ftp://h", "http://", "http:///x", "http://h:0", "http://h:65536",
        "http://h:", "http://h:x", "http://u:p@h", "http://[::1", "http://[::1]x", "http://h/a b",
        "http://h/a\r\nX: y", "http://h/#top", "http://h\xc3\xa9"})
    EXPECT_EQ(shown(text), "no") << text;
}

}  // namespace
}  // namespace spotter::net
