// otlp: each word of an incident as a record of a log by OTLP over HTTP, as protobuf
// (opentelemetry.io/docs/specs/otlp; opentelemetry/proto/logs/v1/logs.proto).
#include "notify/endpoint.h"
#include "notify/endpoint_settings.h"
#include "notify/list.h"
#include "notify/message.h"
#include "notify/secret.h"
#include "notify/words.h"
#include "sink/otlp_answer.h"
#include "sink/protobuf.h"

namespace spotter::notify {
namespace {

using respond::Incident;
using sink::ProtobufWriter;

constexpr const char* kUrl = "http://localhost:4318";
constexpr const char* kTarget = "/v1/logs";
constexpr size_t kMostText = 2000;  // characters

// Numbers of fields.
namespace request {
constexpr u32 kResourceLogs = 1;
}
namespace resource_logs {
constexpr u32 kResource = 1, kScopeLogs = 2;
}
namespace scope_logs {
constexpr u32 kScope = 1, kRecords = 2;
}
namespace scope {
constexpr u32 kName = 1, kVersion = 2;
}
namespace record {
constexpr u32 kTime = 1, kSeverity = 2, kSeverityText = 3, kBody = 5, kAttributes = 6, kObserved = 11,
              kEventName = 12;
}
constexpr u32 kAttributesOfResource = 1;
namespace key_value {
constexpr u32 kKey = 1, kValue = 2;
}
constexpr u32 kStringValue = 1;  // of AnyValue

struct Level {
  u64 number;
  const char* name;
};
Level level_of(const Telling& telling) {
  if (telling.occasion == Occasion::resolved || telling.occasion == Occasion::test) return {9, "INFO"};
  switch (telling.incident.urgency) {
    case respond::Urgency::critical:
      return {17, "ERROR"};
    case respond::Urgency::warning:
      return {13, "WARN"};
    case respond::Urgency::info:
      break;
  }
  return {9, "INFO"};
}

void attribute(ProtobufWriter& out, u32 field, std::string_view key, const std::string& value) {
  if (value.empty()) return;
  out.message(field, [&] {
    out.text(key_value::kKey, key);
    out.message(key_value::kValue, [&] { out.text(kStringValue, clean(value, kMostText)); });
  });
}

std::string encoded(const Telling& telling, const Surroundings& surroundings) {
  const Incident& i = telling.incident;
  const bool is_test = telling.occasion == Occasion::test;
  const Message m = message_of(telling, surroundings);
  const Level level = level_of(telling);
  ProtobufWriter out;
  const auto write_record = [&] {
    out.fixed(record::kTime, static_cast<u64>(i.updated > 0 ? i.updated : telling.at));
    out.integer(record::kSeverity, level.number);
    out.text(record::kSeverityText, level.name);
    out.message(record::kBody, [&] { out.text(kStringValue, clean(m.what + ". " + m.who, kMostText)); });
    const auto add = [&](const char* key, const std::string& value) {
      attribute(out, record::kAttributes, key, value);
    };
    if (!is_test) {
      add("spotter.incident.id", i.id());
      add("spotter.incident.family", i.family);
      add("spotter.incident.state", state_name(i.state));
      add("spotter.incident.severity", urgency_name(i.urgency));
      add("spotter.incident.rule", i.symptom.rule);
      add("spotter.incident.cause", i.verdict ? i.verdict->cause : "");
      add("spotter.incident.suspects", i.verdict ? suspects_text(i.verdict->suspects) : "");
      add("spotter.cluster", i.cluster);
      add("spotter.job", i.job.id);
    }
    out.fixed(record::kObserved, static_cast<u64>(telling.at));
    out.text(record::kEventName,
             is_test ? std::string("spotter.test") : fmt::format("spotter.incident.{}", state_name(i.state)));
  };
  out.message(request::kResourceLogs, [&] {
    out.message(resource_logs::kResource, [&] {
      attribute(out, kAttributesOfResource, "service.name", "spotter");
      attribute(out, kAttributesOfResource, "service.version", surroundings.version);
      attribute(out, kAttributesOfResource, "service.instance.id", surroundings.host_name);
      attribute(out, kAttributesOfResource, "host.name", surroundings.host_name);
    });
    out.message(resource_logs::kScopeLogs, [&] {
      out.message(scope_logs::kScope, [&] {
        out.text(scope::kName, "spotter.incidents");
        out.text(scope::kVersion, surroundings.version);
      });
      out.message(scope_logs::kRecords, write_record);
    });
  });
  return out.take();
}

// What speaks against that it has taken it; empty: nothing.
std::string refusal_in(const net::HttpAnswer& reply) {
  const auto answer = sink::read_otlp_answer(reply);
  if (!answer) return "what it answers is not OTLP's; is this its URL?";
  if (answer->rejected == 0) return {};
  return answer->message.empty() ? "it has rejected the record" : answer->message;
}

class Otlp : public Notifier {
 public:
  Otlp(std::unique_ptr<Endpoint> endpoint, net::Headers headers, Surroundings surroundings)
      : endpoint_(std::move(endpoint)), headers_(std::move(headers)), surroundings_(std::move(surroundings)) {
    headers_.emplace_back("content-type", "application/x-protobuf");
  }

  Outcome tell(const Telling& telling, std::string& /*kept*/) override {
    const auto answer = endpoint_->post(encoded(telling, surroundings_), headers_);
    Outcome outcome = endpoint_->outcome_of(answer, telling.at);
    if (outcome.kind != Outcome::Kind::done) return outcome;
    const std::string refusal = refusal_in(*answer);
    if (!refusal.empty())
      outcome = {Outcome::Kind::for_good,
                 fmt::format("{}: {}", endpoint_->shown(), endpoint_->said(refusal))};
    return outcome;
  }
  void interrupt() override { endpoint_->interrupt(); }

 private:
  std::unique_ptr<Endpoint> endpoint_;
  net::Headers headers_;
  Surroundings surroundings_;
};

constexpr Setting kOwn[] = {
    {"authorization_file", nullptr,
     "File of mode 0600 with a token, for the header \"Authorization: Bearer\".", is_path},
};
constexpr auto kSettings = with_endpoint(kOwn);

}  // namespace

const NotifierKind kOtlp = {
    "otlp",
    "OpenTelemetry's protocol by HTTP: a log record for each word.",
    kSettings,
    [](const Settings& settings, const Surroundings& surroundings) -> Result<std::unique_ptr<Notifier>> {
      TRY_ASSIGN(std::unique_ptr<Endpoint> endpoint, Endpoint::open(settings, kUrl, kTarget));
      net::Headers headers;
      if (settings.contains("authorization_file")) {
        TRY_ASSIGN(const std::string token, read_secret(settings.at("authorization_file")));
        endpoint->keep_secret(token);
        headers.emplace_back("authorization", "Bearer " + token);
      }
      return std::make_unique<Otlp>(std::move(endpoint), std::move(headers), surroundings);
    },
};

}  // namespace spotter::notify
