#include <algorithm>
#include <thread>

#include "base/system/file.h"
#include "base/text/base64.h"
#include "net/digest.h"
#include "notify/slack_blocks.h"
#include "notify/test_notifiers.h"
#include "notify/words.h"
#include "sink/protobuf.h"

namespace spotter::notify {
namespace {

using net::body_of;
using net::http;
using Kind = Outcome::Kind;

constexpr const char* kKey = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";  // 24 bytes

class KindsTest : public NotifierTest {
 protected:
  std::unique_ptr<Notifier> bot() {
    return open("slack", {{"token_file", secret("token", "xoxb-1-secret")},
                          {"channel", "C1"},
                          {"url", receiver_.url() + "/api"}});
  }
  std::unique_ptr<Notifier> webhook() {
    return open("webhook", {{"key_file", secret("key", kKey)}, {"url", receiver_.url() + "/hook"}});
  }
};

// Section 9 of the design, once for all that go by HTTP.
TEST_F(KindsTest, OutcomesByStatus) {
  const auto notifier = pager();
  const std::pair<const char*, Kind> cases[] = {
      {"202 Accepted", Kind::done},      {"400 Bad Request", Kind::for_good}, {"401 Who", Kind::for_good},
      {"429 Slow", Kind::again},         {"500 Broken", Kind::again},         {"503 Busy", Kind::again},
      {"301 Elsewhere", Kind::for_good}, {"410 Gone", Kind::for_good}};
  for (const auto& [status, kind] : cases) {
    receiver_.answer(http(status, "words"));
    const Outcome outcome = tell(*notifier, Occasion::verdict);
    EXPECT_EQ(outcome.kind, kind) << status;
    EXPECT_EQ(outcome.says.empty(), kind == Kind::done) << status;
  }
}

TEST_F(KindsTest, PausesAreTheReceivers) {
  receiver_.answer(http("429 Slow", "", "Retry-After: 7\r\n"));
  EXPECT_EQ(tell(*pager(), Occasion::verdict).pause, 7 * kSecond);
  receiver_.answer(http("429 Slow"));
  EXPECT_EQ(tell(*pager(), Occasion::verdict).pause, 30 * kSecond);
  EXPECT_EQ(tell(*webhook(), Occasion::verdict).pause, 0);
}

TEST_F(KindsTest, NobodyThereIsNoDoubtAndALostAnswerIsOne) {
  const u16 port = net::Receiver().port();
  const auto nobody = open("pagerduty", {{"key_file", secret("routing", "R0UT1NG")},
                                         {"url", fmt::format("http://127.0.0.1:{}", port)}});
  Outcome outcome = tell(*nobody, Occasion::opened);
  EXPECT_EQ(outcome.kind, Kind::again);
  EXPECT_FALSE(outcome.in_doubt);
  receiver_.answer("");
  const auto mute =
      open("pagerduty",
           {{"key_file", secret("routing", "R0UT1NG")}, {"url", receiver_.url()}, {"timeout", "50ms"}});
  outcome = tell(*mute, Occasion::opened);
  EXPECT_EQ(outcome.kind, Kind::again);
  EXPECT_TRUE(outcome.in_doubt) << outcome.says;
}

TEST_F(KindsTest, SecretsAreInNothingThatIsSaid) {
  const std::string url = receiver_.url() + "/services/T0/B0/hush";
  auto slack = open("slack", {{"url_file", secret("url", url)}});
  receiver_.answer(http("404 None", "no route /services/T0/B0/hush at " + url));
  Outcome outcome = tell(*slack, Occasion::opened);
  EXPECT_EQ(outcome.says.find("hush"), outcome.says.npos) << outcome.says;
  slack.reset();  // the receiver has one connection at a time
  receiver_.answer(http("401 Who", "bad token xoxb-1-secret\r\nx: y"));
  outcome = tell(*bot(), Occasion::opened);
  EXPECT_EQ(outcome.says, "http://127.0.0.1: 401: bad token …  x: y");
  receiver_.answer(http("400 Bad", "routing_key R0UT1NG is none"));
  EXPECT_EQ(tell(*pager(), Occasion::opened).says, "http://127.0.0.1: 400: routing_key … is none");
  const Error wrong = error_of("slack", {{"url_file", secret("bad", "hush-hush")}});
  EXPECT_EQ(wrong.message.find("hush"), wrong.message.npos) << wrong.message;
}

TEST_F(KindsTest, FilesOfSecretsAreForNobodyElse) {
  for (const mode_t mode : {0640, 0604, 0644}) {
    const Error error = error_of("pagerduty", {{"key_file", secret("open", "R0UT1NG", mode)}});
    EXPECT_EQ(error.code, Code::denied) << error.message;
    EXPECT_EQ(error.message.find("R0UT1NG"), error.message.npos);
  }
  EXPECT_TRUE(open("pagerduty", {{"key_file", secret("read", "R0UT1NG", 0400)}}));
  EXPECT_EQ(error_of("pagerduty", {{"key_file", folder_ + "/none"}}).code, Code::not_found);
  EXPECT_EQ(error_of("pagerduty", {{"key_file", secret("empty", "")}}).code, Code::invalid);
  EXPECT_EQ(error_of("pagerduty", {{"key_file", secret("two", "a\nb: c")}}).code, Code::invalid);
  EXPECT_EQ(error_of("pagerduty", {{"key_file", folder_}}).code, Code::invalid);
}

TEST_F(KindsTest, AddressesOfTheOwnLinkAreRefused) {
  for (const char* url : {"http://169.254.169.254/latest", "http://[fe80::1]/", "http://[fd00:ec2::254]/",
                          "http://[::ffff:169.254.169.254]/"}) {
    const auto notifier =
        open("webhook", {{"key_file", secret("key", kKey)}, {"url", url}, {"timeout", "5s"}});
    const Outcome outcome = tell(*notifier, Occasion::opened);
    EXPECT_NE(outcome.kind, Kind::done);
    EXPECT_NE(outcome.says.find("of this link"), outcome.says.npos) << outcome.says;
  }
}

TEST_F(KindsTest, AReceiverThatSendsElsewhereIsNotFollowed) {
  net::Receiver other;
  receiver_.answer(http("302 Found", "", "Location: " + other.url() + "/\r\n"));
  EXPECT_EQ(tell(*webhook(), Occasion::opened).kind, Kind::for_good);
  EXPECT_TRUE(other.requests().empty());
}

TEST_F(KindsTest, InterruptedItReturns) {
  receiver_.answer("");
  const auto notifier = webhook();
  std::thread ender([&] {
    while (receiver_.requests().empty()) std::this_thread::yield();
    notifier->interrupt();
  });
  EXPECT_EQ(tell(*notifier, Occasion::opened).kind, Kind::again);
  ender.join();
}

// Beside the incident the event itself says who sends it.
TEST_F(KindsTest, WhereHostsAreLeftOutTheSenderIsAsWell) {
  const std::pair<const char*, Settings> kinds[] = {
      {"webhook", {{"key_file", secret("key", kKey)}, {"url", receiver_.url()}, {"redact", "hosts"}}},
      {"otlp", {{"url", receiver_.url()}, {"redact", "hosts"}}}};
  receiver_.answer(http("200 OK"));
  for (const auto& [kind, settings] : kinds) {
    const auto notifier = open(kind, settings);
    for (const Occasion occasion : {Occasion::verdict, Occasion::test}) {
      Telling telling = test_telling("step_time_up", occasion);
      redact(telling.incident, {.hosts = true});
      std::string none;
      ASSERT_EQ(notifier->tell(telling, none).kind, Kind::done);
      const std::string sent = receiver_.requests().back();
      EXPECT_EQ(sent.find("gpu01"), sent.npos) << sent;
      EXPECT_NE(sent.find(redacted_host("gpu01")), sent.npos) << sent;
    }
  }
}

TEST_F(KindsTest, UnknownKindsAndSettingsAreNamed) {
  EXPECT_EQ(error_of("smoke", {}).message.find("there is no notifier \"smoke\"; there are slack"), 0U);
  EXPECT_NE(error_of("file", {{"pth", "x"}}).message.find("no setting pth; it has path, name, redact"),
            std::string::npos);
  EXPECT_EQ(error_of("webhook", {{"url", "x"}}).code, Code::invalid);
  EXPECT_EQ(error_of("webhook", {{"url", "http://a"}}).code, Code::invalid);  // no key
  EXPECT_NE(
      error_of("otlp", {{"url", "http://a"}, {"proxy", "http://p:3128"}}).message.find("https:// alone"),
      std::string::npos);
  EXPECT_EQ(error_of("file", {{"redact", "everything"}}).code, Code::invalid);
  EXPECT_TRUE(redaction_of({{"redact", "hosts,users"}}).users);
  EXPECT_EQ(what_is_left_out(redaction_of({{"redact", "users,hosts"}})), ", without hosts, users");
  EXPECT_EQ(what_is_left_out({}), "");
  EXPECT_EQ(name_of("file", {{"name", "log"}}), "log");
  for (const Settings& settings : {Settings{}, Settings{{"channel", "C"}},
                                   Settings{{"token_file", "/a"}, {"url_file", "/b"}, {"channel", "C"}}})
    EXPECT_EQ(error_of("slack", settings).code, Code::invalid);
}

TEST_F(KindsTest, WebhookSignsTheBytesThatItSends) {
  const std::string old_key = "whsec_" + to_base64(std::string(32, 'k'));
  const auto notifier = open("webhook", {{"key_file", secret("key", kKey)},
                                         {"old_key_file", secret("old", old_key)},
                                         {"url", receiver_.url() + "/hook?x=1"}});
  receiver_.answer(http("204 Taken"));
  EXPECT_EQ(tell(*notifier, Occasion::verdict).kind, Kind::done);
  const std::string request = receiver_.requests().back();
  EXPECT_TRUE(request.starts_with("POST /hook?x=1 HTTP/1.1\r\n")) << request;
  const std::string signed_text = "4711-speed-2.2.1795409251." + body_of(request);
  const auto signature = [&](const std::string& key) {
    return "v1," + to_base64(net::hmac_sha256(from_base64(key.substr(6)).value(), signed_text));
  };
  const auto has = [&](const std::string& line) {
    return request.find("\r\n" + line + "\r\n") != request.npos;
  };
  EXPECT_TRUE(has("webhook-id: 4711-speed-2.2")) << request;
  EXPECT_TRUE(has("webhook-timestamp: 1795409251")) << request;
  EXPECT_TRUE(has("webhook-signature: " + signature(kKey) + " " + signature(old_key))) << request;
  EXPECT_TRUE(has("content-type: application/cloudevents+json; charset=utf-8")) << request;
  EXPECT_EQ(text_at(last_body(), "/type"), "dev.spotter.incident.verdict.v1");
  EXPECT_EQ(text_at(last_body(), "/source"), "/spotter/a/gpu01");
  EXPECT_EQ(text_at(last_body(), "/data/verdict/cause"), "slow_device");
  receiver_.answer(http("410 Gone"));
  EXPECT_EQ(tell(*notifier, Occasion::resolved).kind, Kind::gone);
}

TEST_F(KindsTest, WebhookRefusesAKeyThatIsNone) {
  for (const char* key : {"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ=", "whsec_%%%%"})
    EXPECT_EQ(error_of("webhook", {{"url", "http://a"}, {"key_file", secret("key", key)}}).code,
              Code::invalid);
}

TEST_F(KindsTest, WebhookBodiesAreBounded) {
  receiver_.answer(http("200 OK"));
  Telling telling = test_telling("log_error", Occasion::verdict);
  telling.incident.job.name = std::string(1 << 20, 'n');
  telling.incident.conditions.resize(5000, telling.incident.conditions[0]);
  telling.incident.logs.resize(100, {std::string(5000, '"'), "/x", 1, 2});
  std::string kept;
  EXPECT_EQ(webhook()->tell(telling, kept).kind, Kind::done);
  EXPECT_LE(body_of(receiver_.requests().back()).size(), 20'000U);
  EXPECT_GE(last_body().at("data").at("left_out").as_int64(), 5000);
  EXPECT_EQ(text_at(last_body(), "/data/verdict/cause"), "slow_device");
}

constexpr const char* kTaken = R"({"ok":true,"channel":"C1","ts":"1732337206.123456"})";

TEST_F(KindsTest, SlackAmendsItsMessageAndHasDetailsInTheThread) {
  receiver_.answer(http("200 OK", kTaken));
  auto notifier = bot();
  std::string kept;
  EXPECT_EQ(tell(*notifier, Occasion::opened, &kept).kind, Kind::done);
  ASSERT_EQ(asked(), 1U);
  EXPECT_TRUE(receiver_.requests()[0].starts_with("POST /api/chat.postMessage ")) << receiver_.requests()[0];
  EXPECT_NE(receiver_.requests()[0].find("authorization: Bearer xoxb-1-secret\r\n"), std::string::npos);
  EXPECT_EQ(text_at(last_body(), "/channel"), "C1");
  // As after a restart.
  notifier.reset();
  const auto other = bot();
  tell(*other, Occasion::verdict, &kept);
  ASSERT_EQ(asked(), 3U);
  EXPECT_TRUE(receiver_.requests()[1].starts_with("POST /api/chat.update "));
  EXPECT_NE(receiver_.requests()[1].find(R"("ts":"1732337206.123456")"), std::string::npos);
  EXPECT_TRUE(receiver_.requests()[2].starts_with("POST /api/chat.postMessage "));
  EXPECT_EQ(text_at(last_body(), "/thread_ts"), "1732337206.123456");
  tell(*other, Occasion::verdict, &kept);
  EXPECT_EQ(asked(), 4U);  // the same details are not said again
  tell(*other, Occasion::resolved, &kept);
  EXPECT_EQ(asked(), 5U);
  EXPECT_EQ(text_at(last_body(), "/blocks/0/text/text").find("✓ Resolved · Job 4711"), 0U);
}

TEST_F(KindsTest, SlackHasThreeRepliesAtMost) {
  receiver_.answer(http("200 OK", kTaken));
  const auto notifier = bot();
  std::string kept;
  Telling telling = test_telling("step_time_up", Occasion::changed);
  for (int i = 0; i < 6; ++i) {
    telling.incident.not_known = {std::to_string(i)};
    notifier->tell(telling, kept);
  }
  EXPECT_EQ(asked(), 6U + 3U);
}

TEST_F(KindsTest, SlackCallsTheChannelWhenItBecomesWorse) {
  receiver_.answer(http("200 OK", kTaken));
  const auto notifier = bot();
  std::string kept;
  Telling telling = test_telling("step_time_up", Occasion::opened);
  notifier->tell(telling, kept);
  telling.incident.urgency = respond::Urgency::critical;
  for (int i = 0; i < 2; ++i) notifier->tell(telling, kept);
  ASSERT_EQ(asked(), 4U);  // posted, amended, called once, amended
  const boost::json::object call = wire::read_object(body_of(receiver_.requests()[2])).value();
  EXPECT_TRUE(call.at("reply_broadcast").as_bool());
  EXPECT_EQ(text_at(call, "/thread_ts"), "1732337206.123456");
  EXPECT_EQ(text_at(call, "/text").find("■ Critical"), 0U);
}

// It may well be, since it comes right behind the message that is amended.
TEST_F(KindsTest, SlackCallsTheChannelOnceMoreWhereThatWasTooSoon) {
  const std::string too_soon = http("200 OK", R"({"ok":false,"error":"ratelimited"})", "Retry-After: 1\r\n");
  const std::string taken = http("200 OK", kTaken);
  receiver_.answer_in_turn({taken, taken, too_soon, taken, taken, taken});
  const auto notifier = bot();
  std::string kept;
  Telling telling = test_telling("step_time_up", Occasion::opened);
  notifier->tell(telling, kept);
  telling.incident.urgency = respond::Urgency::critical;
  const Outcome outcome = notifier->tell(telling, kept);
  EXPECT_EQ(outcome.kind, Kind::again);
  EXPECT_EQ(outcome.pause, kSecond);
  EXPECT_EQ(notifier->tell(telling, kept).kind, Kind::done);
  ASSERT_EQ(asked(), 5U);  // posted; amended, called in vain; amended, called
  EXPECT_TRUE(wire::read_object(body_of(receiver_.requests()[4]))->contains("reply_broadcast"));
}

// The message that said "Resolved" is amended, which nobody hears.
TEST_F(KindsTest, SlackCallsTheChannelWhenItBeginsAgain) {
  receiver_.answer(http("200 OK", kTaken));
  const auto notifier = bot();
  std::string kept;
  tell(*notifier, Occasion::verdict, &kept);
  tell(*notifier, Occasion::resolved, &kept);
  const size_t before = asked();
  tell(*notifier, Occasion::changed, &kept);
  ASSERT_GE(asked(), before + 2);
  const boost::json::object call = wire::read_object(body_of(receiver_.requests()[before + 1])).value();
  ASSERT_TRUE(call.contains("reply_broadcast"));
  EXPECT_EQ(text_at(call, "/text").find("▲ Warning"), 0U);
  const size_t called = asked();
  tell(*notifier, Occasion::changed, &kept);
  EXPECT_EQ(asked(), called + 1) << "amended alone";
}

TEST_F(KindsTest, SlackPostsAnewWhatIsGone) {
  const auto notifier = bot();
  std::string kept;
  receiver_.answer(http("200 OK", kTaken));
  tell(*notifier, Occasion::opened, &kept);
  receiver_.answer_in_turn({http("200 OK", R"({"ok":false,"error":"message_not_found"})"),
                            http("200 OK", R"({"ok":true,"channel":"C1","ts":"2.0"})")});
  EXPECT_EQ(tell(*notifier, Occasion::resolved, &kept).kind, Kind::done);
  EXPECT_NE(kept.find("\"2.0\""), kept.npos) << kept;
}

TEST_F(KindsTest, SlackSaysErrorsWithStatus200) {
  const std::pair<const char*, Kind> cases[] = {{"invalid_auth", Kind::for_good},
                                                {"not_in_channel", Kind::for_good},
                                                {"ratelimited", Kind::again},
                                                {"internal_error", Kind::again},
                                                {"msg_too_long", Kind::for_good}};
  const auto notifier = bot();
  for (const auto& [error, kind] : cases) {
    receiver_.answer(
        http("200 OK", fmt::format(R"({{"ok":false,"error":"{}"}})", error), "Retry-After: 3\r\n"));
    std::string kept;
    const Outcome outcome = tell(*notifier, Occasion::verdict, &kept);
    EXPECT_EQ(outcome.kind, kind) << error;
    EXPECT_NE(outcome.says.find(error), outcome.says.npos);
    EXPECT_EQ(outcome.pause, 3 * kSecond);
    EXPECT_EQ(kept, "");
  }
  receiver_.answer(http("200 OK", "<html>welcome</html>"));
  EXPECT_EQ(tell(*notifier, Occasion::verdict).kind, Kind::for_good);
}

TEST_F(KindsTest, SlackTakesNoMentionsAndNoLinksOfOthers) {
  receiver_.answer(http("200 OK", kTaken));
  Telling telling = test_telling("log_error", Occasion::verdict);
  telling.incident.job.name = "<!channel> & <https://evil|x>";
  telling.incident.job.user.clear();
  telling.incident.verdict->suspects.clear();  // there is room for its name
  telling.incident.verdict->sentence = "kernel <!here> `x` is slow";
  telling.incident.evidence.clear();
  telling.incident.conditions[0].text = "``` <!channel> `";
  std::string kept;
  bot()->tell(telling, kept);
  for (const std::string& request : receiver_.requests()) {
    const std::string body = body_of(request);
    // The headline is plain text, where nothing is one.
    const std::string rest = body.substr(body.find(R"("type":"section")"));
    EXPECT_EQ(rest.find("<!channel>"), rest.npos) << body;
    EXPECT_EQ(rest.find("<!here>"), rest.npos) << body;
  }
  const std::string first = body_of(receiver_.requests()[0]);
  EXPECT_NE(first.find("`''' &lt;!channel&gt; '`"), first.npos) << first;
  EXPECT_NE(first.find(R"("text":"■ Critical · Job 4711 &lt;!channel&gt; &amp;)"), first.npos) << first;
  EXPECT_NE(first.find(R"("type":"plain_text","text":"■ Critical · Job 4711 <!channel>)"), first.npos)
      << first;
}

TEST_F(KindsTest, SlackBlocksStayWithinItsLimits) {
  Telling telling = test_telling("log_error", Occasion::verdict);
  const std::string amps(100'000, '&');
  telling.incident.verdict->sentence = telling.incident.verdict->remedy = amps;
  telling.incident.evidence.assign(50, {amps, amps, {}, amps});
  telling.incident.against = telling.incident.not_known = {amps};
  telling.incident.logs.resize(50, {amps, amps, 1, 2});
  const Message message = message_of(telling, {"1", "gpu01", "https://" + std::string(100, 'h')});
  const auto blocks = slack_blocks(message, kTestOpened);
  size_t all = 0;
  for (const auto& block : blocks) {
    const boost::json::value* text = block.as_object().if_contains("text");
    const auto& object = text ? text->as_object() : block.at("elements").at(0).as_object();
    const size_t size = object.at("text").as_string().size();
    EXPECT_LE(size, 3000U);
    all += size;
  }
  EXPECT_LE(all, kMostSlackBlocks);
  EXPECT_LE(slack_code(details_of(telling)).size(), 3000U);
  EXPECT_EQ(slack_escaped("a<b", 5), "a…");
  EXPECT_EQ(slack_escaped("a<b", 6), "a&lt;b");
}

TEST_F(KindsTest, SlacksIncomingWebhookIsToldEachWord) {
  const auto notifier = open("slack", {{"url_file", secret("url", receiver_.url() + "/services/x")}});
  receiver_.answer(http("200 OK", "ok"));
  EXPECT_EQ(tell(*notifier, Occasion::verdict).kind, Kind::done);
  EXPECT_TRUE(receiver_.requests()[0].starts_with("POST /services/x "));
  EXPECT_FALSE(last_body().contains("channel"));
  receiver_.answer(http("410 Gone", "channel_is_archived"));
  EXPECT_EQ(tell(*notifier, Occasion::verdict).kind, Kind::gone);
  receiver_.answer(http("403 No", "action_prohibited"));
  EXPECT_EQ(tell(*notifier, Occasion::verdict).kind, Kind::for_good);
}

class AlertmanagerTest : public NotifierTest {
 protected:
  boost::json::object last_alert(net::Receiver& receiver) {
    const auto all = receiver.requests();
    if (all.empty()) return {};
    return boost::json::parse(body_of(all.back())).as_array().at(0).as_object();
  }
};

TEST_F(AlertmanagerTest, IsToldAgainAndAtTheEnd) {
  const auto notifier = open("alertmanager", {{"url", receiver_.url() + "/prefix/"}});
  receiver_.answer(http("200 OK"));
  std::string kept;
  EXPECT_EQ(notifier->renewal(), kMinute);
  EXPECT_EQ(notifier->tell(test_telling("step_time_up", Occasion::opened), kept).kind, Kind::done);
  EXPECT_TRUE(receiver_.requests()[0].starts_with("POST /prefix/api/v2/alerts HTTP/1.1\r\n"));
  const boost::json::object first = last_alert(receiver_);
  EXPECT_EQ(wire::json_text(first.at("labels")),
            R"({"alertname":"SpotterStepTimeUp","cluster":"a","job_id":"4711","family":"speed",)"
            R"("incident":"4711-speed-2","severity":"warning"})");
  EXPECT_EQ(text_at(first, "/startsAt"), "2026-11-23T04:46:46.123Z");
  EXPECT_EQ(text_at(first, "/endsAt"), "2026-11-23T04:50:46.123Z");
  EXPECT_EQ(text_at(first, "/generatorURL"), "https://gpu01:1779/v1/incidents/4711-speed-2");
  notifier->tell(test_telling("step_time_up", Occasion::verdict), kept);
  EXPECT_EQ(last_alert(receiver_).at("labels"), first.at("labels"));
  EXPECT_EQ(text_at(last_alert(receiver_), "/annotations/suspect"), "rank 37 on gpu05 (GPU 5)");
  EXPECT_EQ(text_at(last_alert(receiver_), "/endsAt"), "2026-11-23T04:51:31.123Z");
  Telling over = test_telling("step_time_up", Occasion::resolved);
  over.at += 10 * kMinute;
  notifier->tell(over, kept);
  EXPECT_EQ(text_at(last_alert(receiver_), "/endsAt"), "2026-11-23T04:58:46.123Z");
}

TEST_F(AlertmanagerTest, WithAnotherSeverityTheFirstAlertIsOver) {
  const auto notifier = open("alertmanager", {{"url", receiver_.url()}});
  receiver_.answer(http("200 OK"));
  std::string kept;
  Telling telling = test_telling("step_time_up", Occasion::opened);
  notifier->tell(telling, kept);
  telling.incident.urgency = respond::Urgency::critical;
  telling.at += kMinute;
  notifier->tell(telling, kept);
  const auto requests = receiver_.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_NE(requests[1].find(R"("severity":"warning")"), std::string::npos);
  EXPECT_NE(requests[1].find(R"("endsAt":"2026-11-23T04:47:46.123Z")"), std::string::npos) << requests[1];
  EXPECT_NE(requests[2].find(R"("severity":"critical")"), std::string::npos);
  notifier->tell(telling, kept);
  EXPECT_EQ(asked(), 4U);
}

TEST_F(AlertmanagerTest, EachMemberOfAClusterIsToldAndOneIsEnough) {
  net::Receiver other;
  const auto notifier = open("alertmanager", {{"url", receiver_.url() + ", " + other.url()},
                                              {"authorization_file", secret("token", "hush")}});
  std::string kept;
  const Telling telling = test_telling("step_time_up", Occasion::opened);
  receiver_.answer(http("503 Down"));
  other.answer(http("200 OK"));
  Outcome outcome = notifier->tell(telling, kept);
  EXPECT_EQ(outcome.kind, Kind::done);
  EXPECT_NE(outcome.says.find("503"), outcome.says.npos);
  EXPECT_NE(other.requests()[0].find("authorization: Bearer hush\r\n"), std::string::npos);
  other.answer(http("400 Bad", "start time must be before end time"));
  EXPECT_EQ(notifier->tell(telling, kept).kind, Kind::again);
  receiver_.answer(http("400 Bad"));
  EXPECT_EQ(notifier->tell(telling, kept).kind, Kind::for_good);
}

TEST_F(KindsTest, OtlpSendsALogRecord) {
  const auto notifier = open("otlp", {{"url", receiver_.url()}});
  receiver_.answer(http("200 OK", "", "Content-Type: application/x-protobuf\r\n"));
  EXPECT_EQ(tell(*notifier, Occasion::verdict).kind, Kind::done);
  const std::string request = receiver_.requests()[0];
  EXPECT_TRUE(request.starts_with("POST /v1/logs ")) << request;
  for (const char* word :
       {"spotter.incident.verdict", "4711-speed-2", "slow_device", "WARN", "steps 3.10 → 4.42 s"})
    EXPECT_NE(request.find(word), request.npos) << word;
  sink::ProtobufWriter refusal;
  refusal.message(1, [&] {
    refusal.integer(1, 1);
    refusal.text(2, "too old");
  });
  receiver_.answer(http("200 OK", refusal.bytes(), "Content-Type: application/x-protobuf\r\n"));
  const Outcome outcome = tell(*notifier, Occasion::verdict);
  EXPECT_EQ(outcome.kind, Kind::for_good);
  EXPECT_EQ(outcome.says, "http://127.0.0.1: too old");
  // Of whoever else is there it is not delivered.
  receiver_.answer(http("200 OK", "<html>Sign in</html>", "Content-Type: text/html\r\n"));
  EXPECT_EQ(tell(*notifier, Occasion::verdict).kind, Kind::for_good);
}

TEST_F(KindsTest, FileHasTheMessageAsText) {
  const std::string path = folder_ + "/incidents.txt";
  const auto notifier = open("file", {{"path", path}});
  EXPECT_EQ(tell(*notifier, Occasion::verdict).kind, Kind::done);
  EXPECT_EQ(tell(*notifier, Occasion::resolved).kind, Kind::done);
  const std::string text = read_small_file(path, 100'000).value();
  EXPECT_TRUE(text.starts_with("-- 2026-11-23T04:47:31.123Z 4711-speed-2.2\n▲ Warning · Job 4711")) << text;
  EXPECT_NE(text.find("\n-- 2026-11-23T04:58:46.123Z 4711-speed-2.3\n✓ Resolved"), text.npos) << text;
  EXPECT_EQ(tell(*open("file", {{"path", folder_ + "/none/x"}}), Occasion::opened).kind, Kind::again);
}

TEST_F(KindsTest, SlackHasADigest) {
  receiver_.answer(http("200 OK", kTaken));
  const std::vector<Telling> many(30, test_telling("gpu_fault", Occasion::opened));
  EXPECT_EQ(bot()->tell_digest(many).kind, Kind::done);
  EXPECT_NE(text_at(last_body(), "/text").find("and 10 more"), std::string::npos);
  EXPECT_FALSE(pager()->has_digest());
}

}  // namespace
}  // namespace spotter::notify
