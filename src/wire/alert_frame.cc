#include "wire/alert_frame.h"

#include <boost/json.hpp>

#include "base/moment.h"
#include "base/text/printable_within.h"
#include "base/text/utf8.h"
#include "wire/json.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;

constexpr size_t kMostAlerts = 5000, kMostLabels = 100;
constexpr size_t kMostText = 256, kMostSummary = 200;  // bytes of a label and of what is shown of an alert

Result<const json::object*> object_of(const json::object& of, std::string_view name) {
  const json::value* value = of.if_contains(name);
  if (!value || value->is_null()) return nullptr;
  if (!value->is_object()) return fail(Code::invalid, "{} is no object", name);
  return &value->get_object();
}

Result<std::string> required(const json::object& of, std::string_view name) {
  TRY_ASSIGN(const auto text, text_of(of, name));
  if (!text || text->empty() || text->size() > kMostText)
    return fail(Code::invalid, "{} of an alert has 1 to {} bytes", name, kMostText);
  return *text;
}

// Labels that are longer than any name of a job, host or device are nobody's.
Result<std::map<std::string, std::string>> labels_of(const json::object& alert) {
  TRY_ASSIGN(const json::object* const object, object_of(alert, "labels"));
  std::map<std::string, std::string> labels;
  if (!object) return labels;
  for (const auto& [name, value] : *object) {
    if (!value.is_string()) return fail(Code::invalid, "labels: a value is no text");
    if (labels.size() >= kMostLabels) return fail(Code::invalid, "labels: more than {}", kMostLabels);
    if (name.size() <= kMostText && value.get_string().size() <= kMostText)
      labels.emplace(std::string(name), to_printable(std::string_view(value.get_string())));
  }
  return labels;
}

Result<respond::Alert> alert_of(const json::value& value) {
  if (!value.is_object()) return fail(Code::invalid, "alerts: one of them is no object");
  const json::object& object = value.get_object();
  respond::Alert alert;
  TRY_ASSIGN(const std::string status, required(object, "status"));
  if (status != "firing" && status != "resolved")
    return fail(Code::invalid, "status of an alert is firing or resolved");
  alert.is_firing = status == "firing";
  TRY_ASSIGN(const std::string fingerprint, required(object, "fingerprint"));
  alert.fingerprint = to_printable(fingerprint);
  TRY_ASSIGN(const std::string starts, required(object, "startsAt"));
  const auto moment = parse_moment(starts);
  if (!moment) return fail(Code::invalid, "startsAt: {}", moment.error().message);
  alert.starts = *moment;
  TRY_ASSIGN(alert.labels, labels_of(object));
  TRY_ASSIGN(const json::object* const notes, object_of(object, "annotations"));
  for (const char* name : {"summary", "description", "message"}) {
    const json::value* text = notes && alert.summary.empty() ? notes->if_contains(name) : nullptr;
    if (text && text->is_string())
      alert.summary = printable_within(std::string_view(text->get_string()), kMostSummary);
  }
  return alert;
}

}  // namespace

Result<respond::AlertFrame> read_alert_frame(std::string_view body) {
  TRY_ASSIGN(const json::object object, read_object(body));
  TRY_ASSIGN(const auto version, text_of(object, "version"));
  respond::AlertFrame frame;
  if (version == "4")
    frame.sender = "alertmanager";
  else if (version == "1")
    frame.sender = "grafana";
  else
    return fail(Code::invalid,
                "this is no body of Alertmanager's webhook, whose version is \"4\" (Grafana's: \"1\")");
  TRY_ASSIGN(const auto truncated, integer_of(object, "truncatedAlerts"));
  frame.truncated = truncated.value_or(0);
  const json::value* alerts = object.if_contains("alerts");
  if (!alerts || !alerts->is_array())
    return fail(Code::invalid, "this is no body of a webhook for alerts: it has no list of alerts");
  if (alerts->get_array().size() > kMostAlerts)
    return fail(Code::invalid, "alerts: more than {}", kMostAlerts);
  for (const json::value& value : alerts->get_array()) {
    TRY_ASSIGN(respond::Alert alert, alert_of(value));
    frame.alerts.push_back(std::move(alert));
  }
  return frame;
}

}  // namespace spotter::wire
