#include "serve/guard.h"

#include <gtest/gtest.h>

namespace spotter::serve {
namespace {

const Guard kGuard{
    .token = "0123456789abcdef", .own_name = "gpu07.example", .other_names = {"hub.example.com"}};

net::HttpRequest request(const std::string& host, const std::string& origin = {}) {
  net::HttpRequest r;
  r.method = "GET";
  r.target = "/";
  r.host = host;
  r.origin = origin;
  return r;
}

TEST(Guard, Hosts) {
  for (const char* host : {"127.0.0.1:8080", "localhost:1", "[::1]:80", "gpu07.example:1", "hub.example.com",
                           "HUB.example.com:8443", "gpu07", ""})
    EXPECT_TRUE(kGuard.check_site(request(host))) << host;
  for (const char* host :
       {"evil.example", "127.0.0.1.evil.example:80", "hub.example.com.evil.example", "gpu07.example.org"})
    EXPECT_EQ(kGuard.check_site(request(host)).error().code, Code::denied) << host;
}

TEST(Guard, OriginIsThatOfTheRequestAlsoForGet) {
  EXPECT_TRUE(kGuard.check_site(request("127.0.0.1:8080", "http://127.0.0.1:8080")));
  EXPECT_TRUE(kGuard.check_site(request("LocalHost:80", "http://localhost:80")));
  EXPECT_TRUE(kGuard.check_site(request("hub.example.com", "https://hub.example.com")));  // a proxy with TLS
  for (const char* origin : {"null", "http://127.0.0.1:8081", "https://127.0.0.1:8080", "http://127.0.0.1",
                             "http://evil.example", "http://localhost:8080"})
    EXPECT_EQ(kGuard.check_site(request("127.0.0.1:8080", origin)).error().code, Code::denied) << origin;
  EXPECT_FALSE(kGuard.check_site(request("", "http://")));
}

TEST(Guard, FetchesOfOtherSites) {
  net::HttpRequest r = request("localhost");
  for (const char* site : {"", "same-origin", "none", "same-site"}) {
    r.sec_fetch_site = site;
    EXPECT_TRUE(kGuard.check_fetch(r)) << site;
  }
  r.sec_fetch_site = "cross-site";
  EXPECT_EQ(kGuard.check_fetch(r).error().code, Code::denied);
}

TEST(Guard, Token) {
  net::HttpRequest r = request("localhost");
  for (const char* said : {"Bearer 0123456789abcdef", "bearer  0123456789abcdef"}) {
    r.authorization = said;
    EXPECT_EQ(kGuard.role_of(r), AccessRole::admin) << said;
  }
  for (const char* said : {"", "Bearer", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0",
                           "Bearer 0123456789abcdeF", "0123456789abcdef", "Basic 0123456789abcdef"}) {
    r.authorization = said;
    EXPECT_FALSE(kGuard.role_of(r)) << said;
  }
}

TEST(Guard, TokenOfViewers) {
  Guard guard = kGuard;
  guard.view_token = "fedcba9876543210";
  net::HttpRequest r = request("localhost");
  const auto role_of = [&](std::string_view said) {
    r.authorization = said;
    return guard.role_of(r);
  };
  EXPECT_EQ(role_of("Bearer 0123456789abcdef"), AccessRole::admin);
  EXPECT_EQ(role_of("Bearer fedcba9876543210"), AccessRole::view);
  for (const char* said : {"", "Bearer ", "Bearer fedcba987654321", "Bearer fedcba98765432100",
                           "Bearer 0123456789abcdeffedcba9876543210"})
    EXPECT_FALSE(role_of(said)) << said;
}

TEST(Guard, Etags) {
  EXPECT_TRUE(names_etag("\"a\"", "\"a\""));
  EXPECT_TRUE(names_etag("\"b\", W/\"a\" ", "\"a\""));
  EXPECT_TRUE(names_etag("*", "\"a\""));
  for (const char* others : {"", "a", "\"b\"", "\"a", "\"a-gzip\""})
    EXPECT_FALSE(names_etag(others, "\"a\"")) << others;
}

}  // namespace
}  // namespace spotter::serve
