#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "base/system/descriptor.h"
#include "base/system/host.h"
#include "base/time.h"
#include "net/http/http_post.h"
#include "net/test_receiver.h"
#include "sink/list.h"
#include "sink/protobuf.h"
#include "sink/test_batches.h"

namespace spotter::sink {
namespace {

using net::body_of;
using net::http;
using net::Receiver;

class OtlpTest : public testing::Test {
 protected:
  void SetUp() override { make({}); }
  void make(Settings more) {
    more.try_emplace("endpoint", receiver_.url());
    more.try_emplace("compression", "none");
    sink_ = make_sink("otlp", more, {.host_name = "n1"}).value();
  }
  static std::vector<Share> shares(int count) {
    std::vector<Share> all;
    for (int i = 1; i <= count; ++i) all.push_back(share_of(disk_batch(i * kSecond, i)));
    return all;
  }
  std::string error(const std::string& answer, Code code) {
    receiver_.answer(answer);
    const Delivery delivery = sink_->deliver(shares(1));
    if (delivery.result) return "delivered";
    EXPECT_EQ(delivery.result.error().code, code) << delivery.result.error().message;
    return delivery.result.error().message;
  }
  // How many batches are in a request.
  static int batches_in(const std::string& request) {
    const std::string body = body_of(request);
    ProtobufReader reader(body);
    int count = 0;
    while (reader.next()) count += reader.field == 1;
    EXPECT_FALSE(reader.is_broken);
    return count;
  }

  Receiver receiver_;
  std::unique_ptr<Sink> sink_;
};

TEST_F(OtlpTest, TheQuestion) {
  make({{"headers", "authorization=Bearer%20x"}});
  receiver_.answer(http("200 OK"));
  const Delivery delivery = sink_->deliver(shares(3));
  ASSERT_TRUE(delivery.result) << delivery.result.error().message;
  EXPECT_EQ(delivery.batches, 3u);
  const std::string request = receiver_.requests().at(0);
  EXPECT_TRUE(request.starts_with("POST /v1/metrics HTTP/1.1\r\n")) << request;
  for (const char* header : {"content-type: application/x-protobuf\r\n", "authorization: Bearer x\r\n"})
    EXPECT_NE(request.find(header), std::string::npos) << header;
  EXPECT_EQ(request.find("content-encoding"), std::string::npos);
  EXPECT_EQ(batches_in(request), 3);
}

TEST_F(OtlpTest, Compressed) {
  make({{"compression", "gzip"}});
  receiver_.answer(http("200 OK"));
  ASSERT_TRUE(sink_->deliver(shares(1)).result);
  const std::string request = receiver_.requests().at(0);
  EXPECT_NE(request.find("content-encoding: gzip\r\n"), std::string::npos);
  EXPECT_TRUE(body_of(request).starts_with("\x1f\x8b"));
}

TEST_F(OtlpTest, OneConnectionForAllUntilItIsClosed) {
  receiver_.answer(http("200 OK"));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sink_->deliver(shares(1)).result);
  EXPECT_EQ(receiver_.connections(), 1);
  receiver_.answer(http("200 OK", "", "Connection: close\r\n"));
  ASSERT_TRUE(sink_->deliver(shares(1)).result);
  ASSERT_TRUE(sink_->deliver(shares(1)).result);
  EXPECT_EQ(receiver_.connections(), 2);
}

TEST_F(OtlpTest, WhatIsTriedAgainIsTheSameBytes) {
  error(http("503 No"), Code::busy);
  const std::vector<Share> first = shares(2);
  EXPECT_FALSE(sink_->deliver(first).result);
  receiver_.answer(http("200 OK"));
  std::vector<Share> more = first;
  more.push_back(share_of(disk_batch(3 * kSecond, 3)));
  EXPECT_EQ(sink_->deliver(more).batches, 3u);
  const auto requests = receiver_.requests();
  EXPECT_TRUE(body_of(requests.at(2)).starts_with(body_of(requests.at(1))));
  EXPECT_EQ(batches_in(requests.at(2)), 3);
}

TEST_F(OtlpTest, WhatTheQueueDroppedIsNotSent) {
  receiver_.answer(http("503 No"));
  const std::vector<Share> all = shares(3);
  EXPECT_FALSE(sink_->deliver(all).result);
  receiver_.answer(http("200 OK"));
  EXPECT_EQ(sink_->deliver(std::span(all).subspan(1)).batches, 2u);
  EXPECT_EQ(batches_in(receiver_.requests().at(1)), 2);
}

TEST_F(OtlpTest, Patience) {
  receiver_.answer(http("429 Slow", "", "Retry-After: 17\r\n"));
  const Delivery delivery = sink_->deliver(shares(1));
  EXPECT_EQ(delivery.pause, 17 * kSecond);
  for (const char* status : {"429 x", "502 x", "503 x", "504 x"})
    EXPECT_NE(error(http(status), Code::busy).find("asks for patience"), std::string::npos);
}

TEST_F(OtlpTest, WhatIsForGood) {
  EXPECT_NE(error(http("401 No", "who are you\x1b[31m"), Code::denied).find("401: who are you"),
            std::string::npos);
  EXPECT_NE(error(http("403 No"), Code::denied).find("credentials"), std::string::npos);
  EXPECT_NE(error(http("404 No"), Code::invalid).find("127.0.0.1:"), std::string::npos);
  EXPECT_NE(error(http("500 No"), Code::invalid).find("500"), std::string::npos);
  EXPECT_NE(error(http("302 Found", "", "Location: http://evil/\r\n"), Code::invalid).find("elsewhere"),
            std::string::npos);
  EXPECT_NE(error(http("400 Bad", "\x08\x03\x12\x07too old", "Content-Type: application/x-protobuf\r\n"),
                  Code::invalid)
                .find("400: too old"),
            std::string::npos);
  EXPECT_EQ(error(http("413 Large"), Code::invalid).find("delivered"), std::string::npos);
}

TEST_F(OtlpTest, LessAtOnceWhereAllIsTooMuch) {
  receiver_.answer(http("413 Large"));
  const std::vector<Share> all = shares(64);
  size_t most = 64;
  for (int i = 0; i < 7 && most > 1; ++i) {
    const Delivery delivery = sink_->deliver(all);
    ASSERT_FALSE(delivery.result);
    EXPECT_LE(delivery.batches, most);
    most = delivery.batches;
  }
  EXPECT_EQ(most, 1u);
  EXPECT_EQ(sink_->deliver(all).result.error().code, Code::invalid);
}

TEST_F(OtlpTest, PartOfItIsRejected) {
  ProtobufWriter out;
  out.message(1, [&] {
    out.integer(1, 3);
    out.text(2, "too\nold");
  });
  receiver_.answer(http("200 OK", out.bytes(), "Content-Type: application/x-protobuf\r\n"));
  const Delivery delivery = sink_->deliver(shares(1));
  EXPECT_TRUE(delivery.result);
  EXPECT_EQ(delivery.rejected, 3);
  EXPECT_EQ(delivery.rejected_why, "too old");
}

TEST_F(OtlpTest, AnswersThatLie) {
  EXPECT_NE(error(http("200 OK", "<html>Sign in</html>", "Content-Type: text/html\r\n"), Code::invalid)
                .find("is this its URL? <html>Sign in"),
            std::string::npos);
  EXPECT_EQ(error(http("200 OK", "{}", "Content-Type: application/json\r\n"), Code::invalid), "delivered");
  EXPECT_NE(error("HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\nabc", Code::io),
            "delivered");
  EXPECT_NE(error("hello\r\n\r\nConnection: close", Code::io), "delivered");
  EXPECT_NE(error(http("200 OK", std::string(2 << 20, 'x'), "Connection: close\r\n"), Code::io), "delivered");
}

TEST_F(OtlpTest, NoAnswer) {
  make({{"timeout", "50ms"}});
  const Ns begin = steady_clock_now();
  EXPECT_NE(error("", Code::io).find("no answer in 0.1 s"), std::string::npos);
  EXPECT_LT(steady_clock_now() - begin, 2 * kSecond);
}

TEST_F(OtlpTest, NobodyThere) {
  make({{"endpoint", "http://127.0.0.1:1"}});
  EXPECT_NE(error("", Code::io).find("127.0.0.1:1: Connection refused"), std::string::npos);
  make({{"endpoint", "http://nowhere.invalid"}});
  EXPECT_NE(error("", Code::io).find("nowhere.invalid"), std::string::npos);
}

TEST_F(OtlpTest, AnInterruptionEndsTheWaiting) {
  make({{"timeout", "1h"}});
  std::thread interrupter([&] {
    while (receiver_.requests().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    sink_->interrupt();
  });
  EXPECT_NE(error("", Code::io).find("interrupted"), std::string::npos);
  interrupter.join();
  EXPECT_NE(error("", Code::io).find("interrupted"), std::string::npos);
}

TEST(RetryAfterTest, SecondsOrADate) {
  constexpr Ns kNow = 1'795'345'200 * kSecond;  // Sun, 22 Nov 2026 11:00:00 GMT
  EXPECT_EQ(net::retry_after("120", kNow), 120 * kSecond);
  EXPECT_EQ(net::retry_after("99999999999999", kNow), INT64_MAX);
  EXPECT_EQ(net::retry_after("Sun, 22 Nov 2026 11:00:07 GMT", kNow), 7 * kSecond);
  EXPECT_EQ(net::retry_after("Sun, 22 Nov 2026 10:00:00 GMT", kNow), 0);
  for (const char* none : {"", "-1", "soon", "Sun, 22 Nov 2026", "1.5"})
    EXPECT_EQ(net::retry_after(none, kNow), 0);
}

}  // namespace
}  // namespace spotter::sink
