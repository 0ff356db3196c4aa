#include "client/client.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "base/time.h"
#include "net/http/http.h"
#include "wire/error.h"

namespace spotter::client {
namespace {

constexpr Ns kPatience = 5 * kSecond;
const Field kSchema[] = {
    {"pid", Type::integer, Unit::none, Role::key, "A number."},
    {"share", Type::real, Unit::ratio, Role::value, "A real one."},
    {"name", Type::text, Unit::none, Role::value, "A text."},
    {"busy", Type::flag, Unit::none, Role::value, "A flag."},
};

// Asks a server that gives this answer to whatever it is asked.
Result<Answer> ask_for(const net::HttpAnswer& answer) {
  static int number = 0;
  const std::string path = fmt::format("/tmp/sp_client_{}_{}", getpid(), number++);
  net::Loop loop;
  const auto server = net::HttpServer::open(
      loop, path, [&](const net::HttpRequest&, const net::HttpServer::Respond& respond) { respond(answer); },
      [](const Error& error) { return net::HttpAnswer{500, wire::error_text(error)}; });
  EXPECT_TRUE(server);
  std::thread serving([&] { loop.run(); });
  Result<Answer> read = std::move(
      ask(std::vector{net::HttpAddress{path, {}, 0, {}}}, {}, {"GET", "/", {}, {}}, kSchema, kPatience)[0]);
  loop.stop();
  serving.join();
  return read;
}

std::string body(std::string_view columns, std::string_view rows, std::string_view more = "") {
  return fmt::format(R"({{"tables": [{{"name": "t", "columns": [{}], "rows": [{}]}}], "notes": []{}}})",
                     columns, rows, more);
}

TEST(ClientTest, ATable) {
  const auto answer = ask_for({200, R"({"tables": [{"name": "things", "columns": [
      {"name": "pid", "type": "integer"}, {"name": "share", "type": "real"}, {"name": "name", "type": "text"},
      {"name": "busy", "type": "flag"}],
      "rows": [[1, 0.5, "a\n\u00e4", true], [null, 1, null, false]]}],
      "notes": [{"kind": "kind", "severity": "info", "count": 3, "position": null, "scope": "", "scopes": 0,
                 "sentence": "some are skipped"}]})"});
  ASSERT_TRUE(answer) << answer.error().message;
  Table table("things", kSchema);
  table.append({i64{1}, 0.5, "a\n\xc3\xa4", true});
  table.append({{}, 1.0, {}, false});
  EXPECT_EQ(answer->table.name(), "things");
  ASSERT_EQ(answer->table.rows(), 2u);
  for (size_t row = 0; row < 2; row++) {
    for (size_t column = 0; column < 4; column++)
      EXPECT_EQ(answer->table.at(row, column), table.at(row, column)) << row << ' ' << column;
  }
  ASSERT_EQ(answer->table.notes.all().size(), 1u);
  EXPECT_EQ(answer->table.notes.all()[0].count, 3);
  EXPECT_EQ(answer->capture, "");
}

TEST(ClientTest, WhatBelongsToACapture) {
  const auto answer = ask_for(
      {200, body("", "",
                 R"(, "capture": "c-1", "revision": 7, "over": true, "unix_ms": 12, "remaining_ms": 34)")});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->capture, "c-1");
  EXPECT_EQ(answer->revision, 7);
  EXPECT_TRUE(answer->over);
  EXPECT_EQ(answer->unix_ms, 12);
  EXPECT_EQ(answer->remaining_ms, 34);
}

TEST(ClientTest, AnotherReleasesColumns) {
  const auto answer = ask_for({200, body(R"({"name": "new"}, {"name": "name"})", R"([1, "x"])")});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->table.text(0, 2), "x");
  EXPECT_TRUE(is_null(answer->table.at(0, 0)));
}

TEST(ClientTest, ErrorsKeepTheirCode) {
  for (const Code code :
       {Code::not_found, Code::invalid, Code::denied, Code::busy, Code::io, Code::internal}) {
    const auto answer = ask_for(net::HttpAnswer{400, wire::error_text({code, "why {} not"})});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, code);
    EXPECT_EQ(answer.error().message, "why {} not");
  }
}

TEST(ClientTest, WhatIsNoAgent) {
  const std::string pid = R"({"name": "pid"})";
  for (const std::string& text :
       {std::string(), std::string("<html>"), std::string("[]"), std::string("{}"),
        std::string(R"({"tables": [], "notes": []})"), std::string(R"({"tables": 1, "notes": []})"),
        std::string(R"({"error": "text"})"), body("1", ""), body(pid, "1"), body(pid, "[]"),
        body(pid, R"(["text"])"), body(pid, "[1.5]"), body(pid, "[true]"),
        body(pid, "[18446744073709551615]"), body(R"({"name": "name"})", "[1]"),
        body(R"({"name": "busy"})", "[1]"), body(R"({"name": "share"})", R"(["x"])"),
        body("", "", R"(, "capture": 1)")}) {
    const auto answer = ask_for({200, text});
    ASSERT_FALSE(answer) << text;
    EXPECT_EQ(answer.error().code, Code::corrupt) << text;
  }
}

TEST(ClientTest, NobodyThere) {
  const net::HttpAddress nobody{fmt::format("/tmp/sp_nobody_{}", getpid()), {}, 0, {}};
  const auto answers = ask(std::vector{nobody, nobody}, {}, {"GET", "/", {}, {}}, kSchema, kPatience);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].error().code, Code::not_found);
  EXPECT_NE(answers[1].error().message.find("--socket"), std::string::npos);
}

}  // namespace
}  // namespace spotter::client
