#include "serve/routes.h"

#include <gtest/gtest.h>

namespace spotter::serve {
namespace {

TEST(Routes, AViewerMayAskForAllByGet) {
  for (const char* path :
       {"/v1/jobs", "/v1/hosts", "/v1/hosts/me/captures/a/file", "/v1/hosts/me/of-a-later-release"})
    for (const char* method : {"GET", "HEAD"})
      EXPECT_TRUE(may_ask(AccessRole::view, method, path)) << method << path;
}

TEST(Routes, AViewerMayAskForWhatOnlyReads) {
  for (const char* path : {"/mcp", "/v1/hosts/findings", "/v1/hosts/me/captures/a%2Fb/analyze"}) {
    EXPECT_TRUE(may_ask(AccessRole::view, "POST", path)) << path;
    for (const char* method : {"PUT", "DELETE", "PATCH", "post"})
      EXPECT_FALSE(may_ask(AccessRole::view, method, path)) << method << path;
  }
}

TEST(Routes, AViewerMayChangeNothing) {
  const std::pair<const char*, const char*> changes[] = {
      {"POST", "/v1/hosts/me/captures"},
      {"DELETE", "/v1/hosts/me/captures/a"},
      {"POST", "/v1/hosts/me/incidents/a/acknowledge"},
      {"POST", "/v1/hosts/me/silences"},
      {"POST", "/v1/hosts/me/of-a-later-release"},
      {"POST", "/v1/jobs"},
      // What looks like one that reads.
      {"POST", "/v1/hosts/me/captures/a/b/analyze"},
      {"POST", "/v1/hosts/me/captures//analyze"},
      {"POST", "/v1/hosts/me/captures/analyze"},
      {"POST", "/v1/hosts/me/incidents/a/analyze"},
      {"POST", "/v1/hosts/findings/"},
      {"POST", "/mcp/"},
  };
  for (const auto& [method, path] : changes) {
    const auto may = may_ask(AccessRole::view, method, path);
    ASSERT_FALSE(may) << method << path;
    EXPECT_EQ(may.error().code, Code::denied);
    EXPECT_NE(may.error().message.find("the role view"), std::string::npos) << may.error().message;
    EXPECT_TRUE(may_ask(AccessRole::admin, method, path)) << method << path;
  }
}

}  // namespace
}  // namespace spotter::serve
