#include "wire/analyze_request.h"

#include <gtest/gtest.h>

#include "analyze/list.h"

namespace spotter::wire {
namespace {

TEST(AnalyzeRequest, ComesBackTheSame) {
  analyze::RunRequest request;
  request.analyses = {&analyze::kOperators, &analyze::kSummary};
  request.params = {{"top", i64{7}}};
  request.steps = analyze::Range{2, 5};
  const auto back = read_analyze_request(analyze_request_text(request));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->analyses, request.analyses);
  EXPECT_EQ(back->params, request.params);
  ASSERT_TRUE(back->steps);
  EXPECT_EQ(back->steps->first, 2);
  EXPECT_EQ(back->steps->last, 5);
}

TEST(AnalyzeRequest, WhatMayBeLeftOut) {
  const auto read = read_analyze_request(R"({"analyses": ["steps"]})");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->params.empty());
  EXPECT_FALSE(read->steps);
}

TEST(AnalyzeRequest, WhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "JSON"},
      {"{}", "analyses"},
      {R"({"analyses": []})", "analyses"},
      {R"({"analyses": "steps"})", "list of texts"},
      {R"({"analyses": ["no\u001b"]})", "no analysis \"no\xef\xbf\xbd\""},
      {R"({"analyses": ["steps", "steps"]})", "twice"},
      {R"({"analyses": ["steps"], "params": []})", "object"},
      {R"({"analyses": ["operators"], "params": {"top": "x"}})", "top must be a whole number"},
      {R"({"analyses": ["operators"], "params": {"top": null}})", "top must be a whole number or a text"},
      {R"({"analyses": ["operators"], "params": {"top": -1}})", "negative"},
      {R"({"analyses": ["operators"], "params": {"to\u001bp": 1}})", "no parameter"},
      {R"({"analyses": ["steps"], "steps": [1]})", "first and the last"},
      {R"({"analyses": ["steps"], "steps": [3, 2]})", "first and the last"},
      {R"({"analyses": ["steps"], "files": ["/etc/shadow"]})", "no \"files\""},
  };
  for (const auto& [body, why] : cases) {
    const auto read = read_analyze_request(body);
    ASSERT_FALSE(read) << body;
    EXPECT_EQ(read.error().code, Code::invalid) << body;
    EXPECT_NE(read.error().message.find(why), std::string::npos) << read.error().message;
    EXPECT_EQ(read.error().message.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace spotter::wire
