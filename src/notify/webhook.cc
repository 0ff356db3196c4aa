// webhook: the incident as data, for programs: a CloudEvent 1.0 (cloudevents.io) with the headers of Standard
// Webhooks 1.0 (standardwebhooks.com), so that the receiver can tell who sent it and what came twice.
#include <algorithm>

#include "base/moment.h"
#include "base/text/base64.h"
#include "net/digest.h"
#include "notify/bounded_json.h"
#include "notify/endpoint.h"
#include "notify/endpoint_settings.h"
#include "notify/list.h"
#include "notify/message.h"
#include "notify/secret.h"
#include "notify/words.h"
#include "wire/incident.h"

namespace spotter::notify {
namespace {

constexpr size_t kMostBody = 20'000, kMostEnvelope = 2'000;  // bytes, as the specification asks for
constexpr int kGone = 410;

constexpr const char* kTypes[] = {"opened", "verdict", "changed", "resolved", "test"};

// "whsec_" and base64. Errors: invalid.
Result<std::string> key_in(const std::string& path) {
  constexpr size_t kLeast = 24, kMost = 64;
  constexpr std::string_view kPrefix = "whsec_";
  TRY_ASSIGN(const std::string text, read_secret(path));
  const auto key =
      text.starts_with(kPrefix) ? from_base64(std::string_view(text).substr(kPrefix.size())) : std::nullopt;
  if (!key || key->size() < kLeast || key->size() > kMost)
    return fail(Code::invalid, "the file {} must have whsec_ and {} to {} bytes as base64", path, kLeast,
                kMost);
  return *key;
}

// What ids and URIs may have without doubt: no dot of others can end an id early in what is signed.
std::string plain(std::string text) {
  constexpr size_t kMost = 128;
  text.resize(std::min(text.size(), kMost));
  std::ranges::replace_if(
      text,
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                 c == '_');
      },
      '-');
  return text;
}

class Webhook : public Notifier {
 public:
  Webhook(std::unique_ptr<Endpoint> endpoint, std::vector<std::string> keys, Surroundings surroundings)
      : endpoint_(std::move(endpoint)), keys_(std::move(keys)), surroundings_(std::move(surroundings)) {}

  Outcome tell(const Telling& telling, std::string& /*kept*/) override {
    const std::string id = id_of(telling);
    const std::string body = body_of(telling, id);
    const std::string stamp = std::to_string(telling.at / kSecond);
    std::string signatures;
    for (const std::string& key : keys_)
      signatures += (signatures.empty() ? "v1," : " v1,") +
                    to_base64(net::hmac_sha256(key, fmt::format("{}.{}.{}", id, stamp, body)));
    const auto answer =
        endpoint_->post(body, {{"content-type", "application/cloudevents+json; charset=utf-8"},
                               {"webhook-id", id},
                               {"webhook-timestamp", stamp},
                               {"webhook-signature", signatures}});
    Outcome outcome = endpoint_->outcome_of(answer, telling.at);
    if (answer && answer->status == kGone) outcome.kind = Outcome::Kind::gone;
    return outcome;
  }
  void interrupt() override { endpoint_->interrupt(); }

 private:
  std::string id_of(const Telling& telling) const {
    const respond::Incident& i = telling.incident;
    if (telling.occasion == Occasion::test)
      return fmt::format("test-{}-{}", plain(surroundings_.host_name), telling.at / kSecond);
    return fmt::format("{}.{}", plain(i.id()), i.sequence);
  }
  std::string body_of(const Telling& telling, const std::string& id) const {
    const respond::Incident& i = telling.incident;
    const char* type = kTypes[static_cast<size_t>(telling.occasion)];
    const boost::json::object event = {
        {"specversion", "1.0"},
        {"id", id},
        {"source", fmt::format("/spotter/{}/{}", plain(i.cluster), plain(surroundings_.host_name))},
        {"type", fmt::format("dev.spotter.incident.{}.v1", type)},
        {"subject",
         clean((i.job.id.empty() ? i.host : i.job.id) + "/" + i.family + (i.shared_by ? "/shared" : ""),
               200)},
        {"time", utc_text(i.updated > 0 ? i.updated : telling.at)},
        {"datacontenttype", "application/json"},
        {"data", bounded(wire::to_json(i), kMostBody - kMostEnvelope)}};
    return wire::json_text(event);
  }

  std::unique_ptr<Endpoint> endpoint_;
  std::vector<std::string> keys_;
  Surroundings surroundings_;
};

constexpr Setting kOwn[] = {
    {"key_file", nullptr, "File of mode 0600 with the key that it is signed with: whsec_ and base64.",
     is_path},
    {"old_key_file", nullptr, "The same with the key before, while receivers change: it is signed with both.",
     is_path},
};
constexpr auto kSettings = with_endpoint(kOwn);

}  // namespace

const NotifierKind kWebhook = {
    "webhook",
    "A program of yours: the incident as a signed CloudEvent.",
    kSettings,
    [](const Settings& settings, const Surroundings& surroundings) -> Result<std::unique_ptr<Notifier>> {
      if (!settings.contains("key_file")) return fail(Code::invalid, "it has no key_file");
      TRY_ASSIGN(std::unique_ptr<Endpoint> endpoint, Endpoint::open(settings));
      std::vector<std::string> keys;
      for (const char* name : {"key_file", "old_key_file"}) {
        const auto it = settings.find(name);
        if (it == settings.end()) continue;
        TRY_ASSIGN(std::string key, key_in(it->second));
        keys.push_back(std::move(key));
      }
      return std::make_unique<Webhook>(std::move(endpoint), std::move(keys), surroundings);
    },
};

}  // namespace spotter::notify
