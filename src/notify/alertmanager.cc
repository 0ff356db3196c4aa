// alertmanager: Alertmanager's API v2 (prometheus.io/docs/alerting/latest/alerts_api). It is told again every
// minute, and forgets after four what nobody says any more; each member of a cluster of them is told.
#include <algorithm>

#include "base/moment.h"
#include "base/text/quantity.h"
#include "notify/endpoint.h"
#include "notify/endpoint_settings.h"
#include "notify/list.h"
#include "notify/message.h"
#include "notify/secret.h"
#include "notify/symptom.h"
#include "notify/words.h"
#include "wire/json.h"

namespace spotter::notify {
namespace {

namespace json = boost::json;
using respond::Incident;

constexpr const char* kTarget = "/api/v2/alerts";
constexpr Ns kRenewal = kMinute, kLasts = 4 * kMinute;
constexpr size_t kMostLabel = 200, kMostAnnotation = 2000;  // characters

// "step_time_up" as SpotterStepTimeUp.
std::string alert_name(const std::string& rule) {
  std::string name = "Spotter";
  bool begins = true;
  for (const char c : clean(rule, kMostLabel)) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_letter) name += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins = !is_letter;
  }
  return name;
}

// What an alert is known by; of the same labels it is the same alert, so that nothing that changes is here
// but how bad it is, by which people route.
json::object labels_of(const Telling& telling, const Surroundings& surroundings) {
  const Incident& i = telling.incident;
  json::object labels;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) labels[name] = clean(value, kMostLabel);
  };
  if (telling.occasion == Occasion::test) {
    add("alertname", "SpotterTest");
    add("host", surroundings.host_name);
    add("severity", "info");
    return labels;
  }
  add("alertname", alert_name(i.symptom.rule.empty() ? i.family : i.symptom.rule));
  add("cluster", i.cluster);
  add("job_id", i.job.id);
  if (i.job.id.empty()) add("host", i.host);
  add("family", i.family);
  add("incident", i.id());
  add("severity", urgency_name(i.urgency));
  return labels;
}

json::object annotations_of(const Telling& telling, const Message& m) {
  json::object all = {{"summary", m.what}};
  std::string lines;
  for (const std::string& line : lines_of(m)) lines += (lines.empty() ? "" : "\n") + line;
  all["description"] = cut_characters(lines, kMostAnnotation);
  const auto& verdict = telling.incident.verdict;
  if (!verdict) return all;
  all["verdict"] = clean(verdict->cause, kMostLabel);
  const std::string suspects = suspects_text(verdict->suspects);
  if (!suspects.empty()) all["suspect"] = clean(suspects, kMostLabel);
  return all;
}

bool is_wrong(int status) { return status == 400 || status == 422; }

class Alertmanager : public Notifier {
 public:
  Alertmanager(std::vector<std::unique_ptr<Endpoint>> members, net::Headers headers,
               Surroundings surroundings)
      : members_(std::move(members)), headers_(std::move(headers)), surroundings_(std::move(surroundings)) {
    headers_.emplace_back("content-type", "application/json");
  }

  Ns renewal() const override { return kRenewal; }

  // `kept`: the labels that were told last.
  Outcome tell(const Telling& telling, std::string& kept) override {
    const Incident& i = telling.incident;
    const bool is_over = telling.occasion == Occasion::resolved;
    const Ns starts = i.opened > 0 ? std::min(i.opened, telling.at) : telling.at;
    const Ns over =
        std::max(i.closed > 0 ? std::min(i.closed, telling.at) : telling.at, starts + kMillisecond);
    const Message m = message_of(telling, surroundings_);
    json::object alert = {{"labels", labels_of(telling, surroundings_)},
                          {"annotations", annotations_of(telling, m)},
                          {"startsAt", utc_text(starts)},
                          {"endsAt", utc_text(is_over ? over : telling.at + kLasts)}};
    if (!m.link.empty()) alert["generatorURL"] = m.link;
    const std::string labels = wire::json_text(alert["labels"]);
    // With other labels than before it is another alert: that one is over.
    if (const auto before = wire::read_object(kept); before && kept != labels) {
      const json::object ended = {{"labels", *before},
                                  {"startsAt", utc_text(starts)},
                                  {"endsAt", utc_text(std::max(telling.at, over))}};
      const Outcome outcome = tell_all(wire::json_text(json::array{ended}), telling.at);
      if (outcome.kind == Outcome::Kind::again) return outcome;
    }
    Outcome outcome = tell_all(wire::json_text(json::array{alert}), telling.at);
    if (outcome.kind == Outcome::Kind::done) kept = labels;
    return outcome;
  }
  void interrupt() override {
    for (const auto& member : members_) member->interrupt();
  }

 private:
  // One that has taken it is enough: the others are told again in a minute. An array has one alert, since of
  // a longer one with a wrong alert the right ones are taken all the same.
  Outcome tell_all(const std::string& body, Ns now) {
    Outcome best{Outcome::Kind::for_good, ""};
    std::string says;
    const auto rank = [](Outcome::Kind kind) {
      return kind == Outcome::Kind::done ? 0 : kind == Outcome::Kind::again ? 1 : 2;
    };
    for (const auto& member : members_) {
      const auto answer = member->post(body, headers_);
      Outcome outcome = member->outcome_of(answer, now);
      // Alertmanager itself refuses nothing else: a proxy, or a token that is being changed.
      if (outcome.kind == Outcome::Kind::for_good && !is_wrong(answer->status))
        outcome.kind = Outcome::Kind::again;
      if (!outcome.says.empty()) says += (says.empty() ? "" : "; ") + outcome.says;
      if (rank(outcome.kind) <= rank(best.kind)) best = std::move(outcome);
    }
    best.says = std::move(says);
    return best;
  }

  std::vector<std::unique_ptr<Endpoint>> members_;
  net::Headers headers_;
  Surroundings surroundings_;
};

Result<void> are_urls(const std::string& words) {
  if (split_commas(words).empty()) return fail(Code::invalid, "there is no URL");
  for (const std::string& word : split_commas(words)) TRY(is_url(word));
  return {};
}

constexpr Setting kSettings[] = {
    {"url", nullptr,
     "Of Alertmanager, without /api/v2/alerts; of each member of a cluster of them, by commas.", are_urls},
    {"authorization_file", nullptr,
     "File of mode 0600 with a token, for the header \"Authorization: Bearer\".", is_path},
    kEndpointSettings[2],  // proxy
    kEndpointSettings[3],  // ca
    kEndpointSettings[4],  // timeout
};

}  // namespace

const NotifierKind kAlertmanager = {
    "alertmanager",
    "Prometheus' Alertmanager, which has routes, silences and receivers of its own.",
    kSettings,
    [](const Settings& settings, const Surroundings& surroundings) -> Result<std::unique_ptr<Notifier>> {
      if (!settings.contains("url")) return fail(Code::invalid, "it has no url");
      std::string token;
      if (settings.contains("authorization_file")) {
        TRY_ASSIGN(token, read_secret(settings.at("authorization_file")));
      }
      std::vector<std::unique_ptr<Endpoint>> members;
      for (const std::string& url : split_commas(settings.at("url"))) {
        TRY_ASSIGN(std::unique_ptr<Endpoint> member, Endpoint::at(url, false, settings, kTarget));
        member->keep_secret(token);
        members.push_back(std::move(member));
      }
      net::Headers headers;
      if (!token.empty()) headers.emplace_back("authorization", "Bearer " + token);
      return std::make_unique<Alertmanager>(std::move(members), std::move(headers), surroundings);
    },
};

}  // namespace spotter::notify
