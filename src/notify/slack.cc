// slack: as a bot one message for each incident, which is amended with what becomes known, details in its
// thread; by an incoming webhook, which can amend nothing, a message for each word.
#include <algorithm>
#include <array>

#include "net/digest.h"
#include "notify/endpoint.h"
#include "notify/endpoint_settings.h"
#include "notify/headline.h"
#include "notify/list.h"
#include "notify/secret.h"
#include "notify/slack_blocks.h"
#include "wire/json.h"

namespace spotter::notify {
namespace {

namespace json = boost::json;

constexpr const char* kUrl = "https://slack.com/api";
constexpr i64 kMostReplies = 3;  // whoever follows a thread hears of each
constexpr size_t kMostDigest = 20;

// Errors that may pass; all others are for good (docs.slack.dev/reference/methods/chat.postMessage).
constexpr std::string_view kPassing[] = {"ratelimited",      "rate_limited",    "internal_error",
                                         "fatal_error",      "request_timeout", "service_unavailable",
                                         "team_added_to_org"};
// Of a message that cannot be amended any more, so that there has to be a new one.
constexpr std::string_view kLost[] = {"message_not_found", "cant_update_message", "edit_window_closed"};

bool is_one_of(std::span<const std::string_view> all, std::string_view word) {
  return std::ranges::find(all, word) != all.end();
}

// Where the message of an incident is.
struct Kept {
  std::string channel, ts;
  std::string details;  // digest of those in the thread
  i64 replies = 0;
  i64 urgency = 0;  // as it was told; -1: that it is over

  static Kept of(const std::string& text) {
    Kept kept;
    const auto object = wire::read_object(text);
    if (!object) return kept;
    kept.channel = wire::text_of(*object, "channel").value_or(std::nullopt).value_or("");
    kept.ts = wire::text_of(*object, "ts").value_or(std::nullopt).value_or("");
    kept.details = wire::text_of(*object, "details").value_or(std::nullopt).value_or("");
    kept.replies = wire::integer_of(*object, "replies").value_or(std::nullopt).value_or(0);
    kept.urgency = wire::integer_of(*object, "urgency").value_or(std::nullopt).value_or(0);
    return kept;
  }
  std::string text() const {
    return wire::json_text(
        {{"channel", channel}, {"ts", ts}, {"details", details}, {"replies", replies}, {"urgency", urgency}});
  }
};

struct Said {
  Outcome outcome;
  std::string error;  // of its answer's
  std::string channel, ts;
};

class SlackBot : public Notifier {
 public:
  SlackBot(std::unique_ptr<Endpoint> endpoint, std::string token, std::string channel,
           Surroundings surroundings)
      : endpoint_(std::move(endpoint)),
        channel_(std::move(channel)),
        headers_({{"authorization", "Bearer " + token}, {"content-type", "application/json; charset=utf-8"}}),
        surroundings_(std::move(surroundings)) {}

  Outcome tell(const Telling& telling, std::string& kept_text) override {
    const Message message = message_of(telling, surroundings_);
    const json::object content = {
        {"text", slack_fallback(message)},
        {"mrkdwn", false},
        {"unfurl_links", false},
        {"unfurl_media", false},
        {"blocks", slack_blocks(message, telling.occasion == Occasion::test ? 0 : began(telling.incident))}};
    Kept kept = Kept::of(kept_text);
    Said said = amend(kept, content, telling.at);
    const bool is_amended = !kept.ts.empty() && !is_one_of(kLost, said.error);
    if (!is_amended) {
      kept = {};
      said = post(content, {}, telling.at);
      kept.channel = said.channel;
      kept.ts = said.ts;
    }
    if (said.outcome.kind != Outcome::Kind::done) return said.outcome;
    if (is_amended && is_worse(kept, telling)) {
      const Outcome called = call(kept, telling, message);
      if (called.kind == Outcome::Kind::again) return called;  // to amend it once more changes nothing
      if (called.kind != Outcome::Kind::done) said.outcome.says = called.says;
    }
    kept.urgency = telling.occasion == Occasion::resolved ? -1 : static_cast<i64>(telling.incident.urgency);
    reply(kept, telling, said.outcome);
    if (telling.occasion != Occasion::test) kept_text = kept.text();
    return said.outcome;
  }

  bool has_digest() const override { return true; }
  Outcome tell_digest(std::span<const Telling> tellings) override {
    const std::string text = digest_text(tellings, surroundings_, kMostDigest);
    const Ns at = tellings.empty() ? 0 : tellings.back().at;
    return post(
               {{"text", slack_escaped(text, kMostSlackSection)}, {"mrkdwn", false}, {"unfurl_links", false}},
               {}, at)
        .outcome;
  }
  void interrupt() override { endpoint_->interrupt(); }

 private:
  Said amend(const Kept& kept, json::object content, Ns now) {
    if (kept.ts.empty()) return {};
    content["channel"] = kept.channel;
    content["ts"] = kept.ts;
    return ask("chat.update", content, now);
  }
  Said post(json::object content, const std::string& thread, Ns now) {
    content["channel"] = channel_;
    if (!thread.empty()) content["thread_ts"] = thread;
    return ask("chat.postMessage", content, now);
  }

  static bool is_worse(const Kept& kept, const Telling& telling) {
    return static_cast<i64>(telling.incident.urgency) > kept.urgency &&
           telling.occasion != Occasion::resolved;
  }
  // Nobody is called by a message that is amended: what has become worse, or begins again, is told the
  // channel as well.
  Outcome call(const Kept& kept, const Telling& telling, const Message& message) {
    Outcome outcome = post({{"text", slack_fallback(message)}, {"mrkdwn", false}, {"reply_broadcast", true}},
                           kept.ts, telling.at)
                          .outcome;
    if (outcome.kind != Outcome::Kind::done)
      outcome.says = "that it is worse, in its thread: " + outcome.says;
    return outcome;
  }

  // Details once there is a verdict, or that there is none, and where they change. The message has arrived:
  // what becomes of them changes nothing of that.
  void reply(Kept& kept, const Telling& telling, Outcome& outcome) {
    const bool is_known = telling.occasion == Occasion::verdict || telling.occasion == Occasion::changed;
    const std::vector<std::string> details = is_known ? details_of(telling) : std::vector<std::string>();
    if (details.empty() || kept.replies >= kMostReplies) return;
    const std::string code = slack_code(details);
    const std::string digest = net::sha256(code).substr(0, 16);
    if (digest == kept.details) return;
    const json::object content = {
        {"text", "Details"},
        {"unfurl_links", false},
        {"blocks", json::array{json::object{
                       {"type", "section"},
                       {"text", json::object{{"type", "mrkdwn"}, {"text", code}, {"verbatim", true}}}}}}};
    const Said said = post(content, kept.ts, telling.at);
    if (said.outcome.kind != Outcome::Kind::done) {
      outcome.says = "the details in its thread: " + said.outcome.says;
      return;
    }
    kept.details = digest;
    ++kept.replies;
  }

  // Slack answers errors with status 200, too.
  Said ask(const std::string& method, const json::object& content, Ns now) {
    std::string target = endpoint_->url().path;
    if (!target.ends_with('/')) target += '/';
    const auto answer = endpoint_->post(wire::json_text(content), headers_, target + method);
    Said said{endpoint_->outcome_of(answer, now), {}, {}, {}};
    if (said.outcome.kind != Outcome::Kind::done) return said;
    const auto object = wire::read_object(answer->body);
    const auto ok = object ? wire::flag_of(*object, "ok") : Result<std::optional<bool>>(std::nullopt);
    if (!ok || !*ok) {
      said.outcome = {Outcome::Kind::for_good,
                      endpoint_->shown() + ": what it answers is not Slack's; is this its URL?"};
      return said;
    }
    if (**ok) {
      said.channel = wire::text_of(*object, "channel").value_or(std::nullopt).value_or("");
      said.ts = wire::text_of(*object, "ts").value_or(std::nullopt).value_or("");
      return said;
    }
    said.error = wire::text_of(*object, "error").value_or(std::nullopt).value_or("no reason");
    said.outcome.kind = is_one_of(kPassing, said.error) ? Outcome::Kind::again : Outcome::Kind::for_good;
    said.outcome.says = fmt::format("{}: {}: {}", endpoint_->shown(), method, endpoint_->said(said.error));
    said.outcome.pause = net::retry_after(answer->retry_after, now);
    return said;
  }

  std::unique_ptr<Endpoint> endpoint_;
  std::string channel_;
  net::Headers headers_;
  Surroundings surroundings_;
};

class SlackWebhook : public Notifier {
 public:
  SlackWebhook(std::unique_ptr<Endpoint> endpoint, Surroundings surroundings)
      : endpoint_(std::move(endpoint)), surroundings_(std::move(surroundings)) {}

  Outcome tell(const Telling& telling, std::string& /*kept*/) override {
    const Message message = message_of(telling, surroundings_);
    return post(
        {{"text", slack_fallback(message)},
         {"blocks", slack_blocks(message, telling.occasion == Occasion::test ? 0 : began(telling.incident))}},
        telling.at);
  }
  bool has_digest() const override { return true; }
  Outcome tell_digest(std::span<const Telling> tellings) override {
    const std::string text = digest_text(tellings, surroundings_, kMostDigest);
    return post({{"text", slack_escaped(text, kMostSlackSection)}, {"mrkdwn", false}},
                tellings.empty() ? 0 : tellings.back().at);
  }
  void interrupt() override { endpoint_->interrupt(); }

 private:
  Outcome post(const json::object& content, Ns now) {
    constexpr int kGone = 410;
    const auto answer =
        endpoint_->post(wire::json_text(content), {{"content-type", "application/json; charset=utf-8"}});
    Outcome outcome = endpoint_->outcome_of(answer, now);
    if (answer && answer->status == kGone) outcome.kind = Outcome::Kind::gone;
    return outcome;
  }

  std::unique_ptr<Endpoint> endpoint_;
  Surroundings surroundings_;
};

constexpr Setting kOwn[] = {
    {"token_file", nullptr, "File of mode 0600 with a bot's token (xoxb-…), which has the scope chat:write.",
     is_path},
    {"channel", nullptr,
     "Of a bot: the ID of the channel that it posts to, such as C0123456789; it has to be a member.",
     nullptr},
};
constexpr auto kSettings = with_endpoint(kOwn);

}  // namespace

const NotifierKind kSlack = {
    "slack",
    "Slack: a message that is amended, as a bot (token_file, channel), or messages by an incoming webhook (url_file).",
    kSettings,
    [](const Settings& settings, const Surroundings& surroundings) -> Result<std::unique_ptr<Notifier>> {
      if (settings.contains("token_file") == settings.contains("url_file"))
        return fail(Code::invalid, "it needs token_file and channel, or url_file of an incoming webhook");
      if (settings.contains("url_file")) {
        if (settings.contains("channel"))
          return fail(Code::invalid, "channel is for a bot: an incoming webhook has one of its own");
        TRY_ASSIGN(std::unique_ptr<Endpoint> endpoint, Endpoint::open(settings));
        return std::make_unique<SlackWebhook>(std::move(endpoint), surroundings);
      }
      if (!settings.contains("channel")) return fail(Code::invalid, "it has no channel");
      TRY_ASSIGN(std::string token, read_secret(settings.at("token_file")));
      TRY_ASSIGN(std::unique_ptr<Endpoint> endpoint, Endpoint::open(settings, kUrl));
      endpoint->keep_secret(token);
      return std::make_unique<SlackBot>(std::move(endpoint), std::move(token), settings.at("channel"),
                                        surroundings);
    },
};

}  // namespace spotter::notify
