// pagerduty: Events API v2 (developer.pagerduty.com/docs/events-api-v2). One alert for each time an incident
// is opened: what becomes known later is added to it, and its end resolves it. What becomes worse is another
// alert, and the one before is over: events of an alert that somebody has acknowledged call nobody.
#include "base/moment.h"
#include "base/text/utf8.h"
#include "net/digest.h"
#include "notify/endpoint.h"
#include "notify/endpoint_settings.h"
#include "notify/list.h"
#include "notify/message.h"
#include "notify/secret.h"
#include "notify/words.h"
#include "wire/json.h"

namespace spotter::notify {
namespace {

namespace json = boost::json;
using respond::Incident;

constexpr const char* kUrl = "https://events.pagerduty.com/v2/enqueue";
constexpr size_t kMostKey = 255, kMostSummary = 1024;  // bytes; characters
constexpr Ns kBusyPause = 30 * kSecond;                // of about 120 events a minute

// The same whoever tells of it; another one each time it is opened, so that a late end closes no other.
// `worse`: the severity to which it has risen since it was told first; mostly empty.
std::string dedup_key(const Incident& i, const std::string& worse) {
  const std::string key =
      to_printable(fmt::format("spotter/{}/{}{}{}", i.key(), i.n, worse.empty() ? "" : "/", worse));
  if (key.size() <= kMostKey) return key;
  const std::string digest = net::sha256(key);
  std::string_view rest = key;
  std::string begin;
  while (begin.size() + first_code_point(rest).bytes + 1 + digest.size() <= kMostKey) {
    begin += rest.substr(0, first_code_point(rest).bytes);
    rest.remove_prefix(first_code_point(rest).bytes);
  }
  return begin + "/" + digest;
}

json::array texts(const std::vector<std::string>& all) {
  json::array list;
  for (const std::string& text : all) list.emplace_back(text);
  return list;
}

json::object details(const Telling& telling, const Message& m) {
  json::object all = {
      {"what", m.who}, {"evidence", texts(details_of(telling))}, {"commands", texts(m.commands)}};
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) all[name] = text;
  };
  add("confidence", m.confidence);
  add("but", m.doubts);
  add("not", m.against);
  add("not_known", m.not_known);
  add("cost", m.cost);
  add("do", m.remedy);
  add("commands_on", m.where);
  return all;
}

// What it was told of an incident.
struct Kept {
  std::string payload = {};  // digest of the last one; empty: it is resolved there
  i64 urgency = -1;          // the highest; -1: it was told of nothing
  std::string worse = {};    // of which alert it was told last
  Ns acknowledged = -1;      // when what it was told of last was said

  static Kept of(const std::string& text) {
    Kept kept;
    const auto object = wire::read_object(text);
    if (!object) return kept;
    kept.payload = wire::text_of(*object, "payload").value_or(std::nullopt).value_or("");
    kept.acknowledged = wire::integer_of(*object, "acknowledged").value_or(std::nullopt).value_or(-1);
    kept.urgency = wire::integer_of(*object, "urgency").value_or(std::nullopt).value_or(-1);
    kept.worse = wire::text_of(*object, "worse").value_or(std::nullopt).value_or("");
    return kept;
  }
  std::string text() const {
    return wire::json_text(
        {{"payload", payload}, {"acknowledged", acknowledged}, {"urgency", urgency}, {"worse", worse}});
  }
};

class PagerDuty : public Notifier {
 public:
  PagerDuty(std::unique_ptr<Endpoint> endpoint, std::string key, Surroundings surroundings)
      : endpoint_(std::move(endpoint)), key_(std::move(key)), surroundings_(std::move(surroundings)) {}

  Outcome tell(const Telling& telling, std::string& kept_text) override {
    if (telling.occasion == Occasion::test) return test(telling);
    Kept kept = Kept::of(kept_text);
    const Outcome outcome = tell(telling, kept);
    if (outcome.kind == Outcome::Kind::done) kept_text = kept.text();
    return outcome;
  }
  void interrupt() override { endpoint_->interrupt(); }

 private:
  // An acknowledgement alone changes nothing else of an alert, and is lost on one that is resolved.
  Outcome tell(const Telling& telling, Kept& kept) {
    const Incident& i = telling.incident;
    if (telling.occasion == Occasion::resolved) return resolve(telling, kept);
    const auto urgency = static_cast<i64>(i.urgency);
    const bool is_worse = !kept.payload.empty() && kept.urgency >= 0 && urgency > kept.urgency;
    const std::string before = dedup_key(i, kept.worse);
    if (is_worse) kept.worse = urgency_name(i.urgency);
    kept.urgency = std::max(kept.urgency, urgency);
    const std::string key = dedup_key(i, kept.worse);
    json::object event;
    add_payload(event, telling);
    const std::string payload = net::sha256(wire::json_text(event)).substr(0, 16);
    const bool is_known = payload == kept.payload;
    const bool is_new = i.acknowledged && i.acknowledged->at != kept.acknowledged;
    kept.payload = payload;
    if (i.acknowledged) kept.acknowledged = i.acknowledged->at;
    if (!is_known || !is_new) {
      Outcome outcome = send(telling, "trigger", key);
      if (is_worse && outcome.kind == Outcome::Kind::done) outcome = send(telling, "resolve", before);
      if (outcome.kind != Outcome::Kind::done || !is_new) return outcome;
    }
    return send(telling, "acknowledge", key);
  }

  // Of one that another host has told of, too, nobody here knows which alerts there are: the end of one that
  // is not there is nothing.
  Outcome resolve(const Telling& telling, Kept& kept) {
    const Incident& i = telling.incident;
    std::vector<std::string> all;
    if (kept.urgency < 0 || i.told_elsewhere) {
      for (const auto urgency : {respond::Urgency::warning, respond::Urgency::critical})
        if (i.urgency >= urgency) all.emplace_back(urgency_name(urgency));
    } else if (!kept.worse.empty()) {
      all.push_back(kept.worse);
    }
    all.emplace_back();
    Outcome outcome;
    for (const std::string& worse : all) {
      outcome = send(telling, "resolve", dedup_key(i, worse));
      if (outcome.kind != Outcome::Kind::done) return outcome;
    }
    kept = {.acknowledged = kept.acknowledged};
    return outcome;
  }

  // Nobody is to look for what is wrong: it is over at once.
  Outcome test(const Telling& telling) {
    const std::string key = fmt::format("spotter/test/{}", clean(surroundings_.host_name, kMostKey / 8));
    Outcome outcome = send(telling, "trigger", key);
    return outcome.kind == Outcome::Kind::done ? send(telling, "resolve", key) : outcome;
  }

  Outcome send(const Telling& telling, std::string_view action, const std::string& key) {
    json::object event = {{"routing_key", key_}, {"event_action", action}, {"dedup_key", key}};
    if (action == "trigger") add_payload(event, telling);
    const auto answer = endpoint_->post(wire::json_text(event), {{"content-type", "application/json"}});
    Outcome outcome = endpoint_->outcome_of(answer, telling.at);
    if (answer && answer->status == 429 && outcome.pause == 0) outcome.pause = kBusyPause;
    return outcome;
  }

  void add_payload(json::object& event, const Telling& telling) const {
    const Incident& i = telling.incident;
    const bool is_test = telling.occasion == Occasion::test;
    const Message m = message_of(telling, surroundings_);
    const respond::Suspect* suspect =
        i.verdict && !i.verdict->suspects.empty() ? &i.verdict->suspects.front() : nullptr;
    std::string source = suspect ? suspect->host : i.host;
    for (const std::string& other : {i.led_by, surroundings_.host_name, std::string("spotter")})
      if (source.empty()) source = other;
    json::object payload = {{"summary", cut_characters(m.what, kMostSummary)},
                            {"source", clean(source, kMostKey)},
                            {"severity", is_test ? "info" : urgency_name(i.urgency)},
                            {"timestamp", utc_text(i.opened > 0 ? i.opened : telling.at)},
                            {"custom_details", is_test ? json::object() : details(telling, m)}};
    if (suspect && suspect->rank) payload["component"] = fmt::format("rank {}", *suspect->rank);
    if (!i.job.id.empty()) payload["group"] = "job " + clean(i.job.id, kMostKey);
    const std::string& cause = i.verdict ? i.verdict->cause : i.symptom.rule;
    if (!cause.empty()) payload["class"] = clean(cause, kMostKey);
    event["payload"] = std::move(payload);
    event["client"] = "Spotter";
    if (m.link.empty()) return;
    event["client_url"] = m.link;
    event["links"] = json::array{json::object{{"href", m.link}, {"text", "Incident"}}};
  }

  std::unique_ptr<Endpoint> endpoint_;
  std::string key_;
  Surroundings surroundings_;
};

constexpr Setting kOwn[] = {
    {"key_file", nullptr, "File of mode 0600 with the integration key of a service (Events API v2).",
     is_path},
};
constexpr auto kSettings = with_endpoint(kOwn);

}  // namespace

const NotifierKind kPagerDuty = {
    "pagerduty",
    "PagerDuty: an alert that is resolved with the incident.",
    kSettings,
    [](const Settings& settings, const Surroundings& surroundings) -> Result<std::unique_ptr<Notifier>> {
      if (!settings.contains("key_file")) return fail(Code::invalid, "it has no key_file");
      TRY_ASSIGN(std::string key, read_secret(settings.at("key_file")));
      TRY_ASSIGN(std::unique_ptr<Endpoint> endpoint, Endpoint::open(settings, kUrl));
      endpoint->keep_secret(key);
      return std::make_unique<PagerDuty>(std::move(endpoint), std::move(key), surroundings);
    },
};

}  // namespace spotter::notify
