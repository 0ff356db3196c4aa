#include "net/http/cross_site.h"

#include <gtest/gtest.h>

namespace spotter::net {
namespace {

HttpRequest request(const std::string& origin, const std::string& content_type) {
  HttpRequest r;
  r.method = "POST";
  r.origin = origin;
  r.content_type = content_type;
  return r;
}

TEST(CrossSite, WhatProgramsSend) {
  for (const char* type :
       {"", "application/json", "Application/JSON ; charset=utf-8", "application/cloudevents+json"}) {
    EXPECT_TRUE(check_type(request("", type))) << type;
    EXPECT_TRUE(check_fetch(request("", type), "http")) << type;
  }
}

TEST(CrossSite, WhatOurOwnPageSends) {
  HttpRequest r = request("https://GPU07:1779", "application/json");
  r.host = "gpu07:1779";
  r.sec_fetch_site = "same-origin";
  EXPECT_TRUE(check_fetch(r, "https"));
  EXPECT_EQ(check_fetch(r, "http").error().code, Code::denied);  // of the same name, without TLS
  r.sec_fetch_site = "cross-site";
  EXPECT_EQ(check_fetch(r, "https").error().code, Code::denied);
  r.sec_fetch_site = "";
  for (const char* host : {"", "gpu07", "gpu07:1780", "gpu070:1779"}) {
    r.host = host;
    EXPECT_EQ(check_fetch(r, "https").error().code, Code::denied) << host;
  }
}

TEST(CrossSite, WhatPagesSend) {
  for (const char* origin : {"https://evil.example", "null", "http://localhost:8080", "http://"})
    EXPECT_EQ(check_fetch(request(origin, "application/json"), "http").error().code, Code::denied) << origin;
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded",
                           "multipart/form-data; boundary=application/json", "application/jsonp", ";"})
    EXPECT_EQ(check_type(request("", type)).error().code, Code::unsupported) << type;
  const Error error = check_fetch(request("\x1b[31m", ""), "http").error();
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
}

bool is_taken(const std::string& host) {
  HttpRequest r;
  r.host = host;
  return check_host(r, "gpu07.cluster.example").has_value();
}

TEST(CrossSite, NamesOfThisHost) {
  for (const char* host :
       {"", "localhost", "LOCALHOST:8080", "spotter", "127.0.0.1", "10.1.2.3:80", "[::1]", "[::1]:9",
        "[2001:db8::7]:80", "gpu07.cluster.example", "GPU07.cluster.example:80"})
    EXPECT_TRUE(is_taken(host)) << host;
}

TEST(CrossSite, NamesOfOthers) {
  for (const char* host :
       {"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "localhost.",
        "[evil.example]", "[::1.evil.example", "1.2.3.4.5", "gpu07.cluster.example.evil"})
    EXPECT_FALSE(is_taken(host)) << host;
}

TEST(CrossSite, Loopback) {
  for (const char* address : {"127.0.0.1", "127.3.2.1", "::1"}) EXPECT_TRUE(is_loopback(address)) << address;
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "", "localhost"})
    EXPECT_FALSE(is_loopback(address)) << address;
}

}  // namespace
}  // namespace spotter::net
