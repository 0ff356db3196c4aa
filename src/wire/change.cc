#include "wire/change.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "base/moment.h"
#include "base/text/quantity.h"
#include "base/text/utf8.h"
#include "wire/json.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;

constexpr std::string_view kNames[] = {"summary", "time", "source", "kind", "link", "job", "hosts"};
constexpr size_t kMostName = 256, kMostLink = 1024, kMostHosts = 64;
constexpr Ns kKept = 30 * kDay, kAhead = kMinute;  // clocks differ

constexpr Field kColumns[] = {
    {"time_ns", Type::integer, Unit::ns, Role::time, "When it was made, Unix time."},
    {"kind", Type::text, Unit::none, Role::key,
     "code, environment, driver, kernel, power, boot, deployment ..."},
    whole({"what", Type::text, Unit::none, Role::value, "What was changed."}),
    {"before", Type::text, Unit::none, Role::value, "What it was."},
    {"after", Type::text, Unit::none, Role::value, "What it is."},
    {"job", Type::text, Unit::none, Role::key, "Of this job; null: not of one alone."},
    {"hosts", Type::text, Unit::none, Role::detail, "On these hosts; null: it is not said."},
    {"by", Type::text, Unit::none, Role::detail, "Who made it, or says so."},
    whole({"link", Type::text, Unit::none, Role::detail, "Where more is to be read."}),
};

Result<std::string> text_in(const json::object& object, std::string_view name, size_t most) {
  TRY_ASSIGN(const auto said, text_of(object, name));
  const std::string text = to_printable(said.value_or(""));
  if (text.size() > most) return fail(Code::invalid, "{}: more than {} bytes", name, most);
  return text;
}

bool is_link(const std::string& text) { return text.starts_with("https://") || text.starts_with("http://"); }

Result<respond::Change> change_of(const json::object& object, Ns unix_now) {
  TRY(check_names(object, kNames, "a change"));
  respond::Change change;
  respond::ChangeBefore& c = change.change;
  TRY_ASSIGN(c.what, text_in(object, "summary", respond::kMostChangeText));
  if (c.what.empty()) return fail(Code::invalid, "a change has a summary");
  TRY_ASSIGN(c.by, text_in(object, "source", kMostName));
  TRY_ASSIGN(c.kind, text_in(object, "kind", kMostName));
  if (c.kind.empty()) c.kind = "deployment";
  TRY_ASSIGN(c.link, text_in(object, "link", kMostLink));
  if (!c.link.empty() && !is_link(c.link))
    return fail(Code::invalid, "link: it begins with https:// or http://");
  TRY_ASSIGN(change.job, text_in(object, "job", kMostName));
  TRY_ASSIGN(const auto hosts, texts_of(object, "hosts"));
  if (hosts && hosts->size() > kMostHosts) return fail(Code::invalid, "hosts: more than {}", kMostHosts);
  for (const std::string& host : hosts.value_or(std::vector<std::string>())) {
    if (host.empty() || host.size() > kMostName)
      return fail(Code::invalid, "hosts: a name has 1 to {} bytes", kMostName);
    change.hosts.push_back(to_printable(host));
  }
  TRY_ASSIGN(const auto time, text_of(object, "time"));
  c.at = unix_now;
  if (time) {
    const auto moment = parse_moment(*time);
    if (!moment) return fail(Code::invalid, "time: {}", moment.error().message);
    c.at = *moment;
  }
  if (c.at > unix_now + kAhead) return fail(Code::invalid, "time: it is still to come");
  if (c.at < unix_now - kKept) return fail(Code::invalid, "time: changes are kept for 30 days");
  return change;
}

// As PagerDuty takes it; what it has beside these is left alone.
Result<respond::Change> pagerduty_change(const json::object& object, Ns unix_now) {
  const json::value& payload = object.at("payload");
  if (!payload.is_object()) return fail(Code::invalid, "payload is no object");
  json::object own;
  for (const auto& [theirs, ours] :
       {std::pair{"summary", "summary"}, {"timestamp", "time"}, {"source", "source"}}) {
    if (const json::value* value = payload.get_object().if_contains(theirs)) own[ours] = *value;
  }
  const json::value* links = object.if_contains("links");
  if (links && links->is_array() && !links->get_array().empty()) {
    const json::value& first = links->get_array()[0];
    const json::value* href = first.is_object() ? first.get_object().if_contains("href") : nullptr;
    if (href) own["link"] = *href;
  }
  return change_of(own, unix_now);
}

Result<respond::Change> cloud_event_change(const json::object& object, Ns unix_now) {
  const json::value* data = object.if_contains("data");
  if (!data || !data->is_object()) return fail(Code::invalid, "a CloudEvent of a change has it as its data");
  json::object own = data->get_object();
  for (const char* name : {"time", "source"}) {
    const json::value* value = object.if_contains(name);
    if (value && !own.contains(name)) own[name] = *value;
  }
  return change_of(own, unix_now);
}

}  // namespace

Result<respond::Change> read_change(std::string_view body, Ns unix_now) {
  TRY_ASSIGN(const json::object object, read_object(body));
  if (object.contains("specversion")) return cloud_event_change(object, unix_now);
  return object.contains("payload") ? pagerduty_change(object, unix_now) : change_of(object, unix_now);
}

std::string change_text(const respond::Change& change) {
  json::object object;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) object[name] = mended(text);
  };
  add("summary", change.change.what);
  add("source", change.change.by);
  add("kind", change.change.kind);
  add("link", change.change.link);
  add("job", change.job);
  if (change.change.at != 0) object["time"] = utc_text(change.change.at);
  if (!change.hosts.empty()) {
    json::array& hosts = object["hosts"].emplace_array();
    for (const std::string& host : change.hosts) hosts.push_back(mended(host));
  }
  return json::serialize(object);
}

std::span<const Field> changes_columns() { return kColumns; }

Table changes_table(std::span<const respond::Change> changes) {
  Table table("changes", kColumns);
  for (size_t i = changes.size(); i-- > 0;) {
    const respond::Change& change = changes[i];
    const respond::ChangeBefore& c = change.change;
    const std::string hosts = fmt::format("{}", fmt::join(change.hosts, ","));
    const auto text = [](const std::string& t) { return or_null(std::string_view(t)); };
    table.append({c.at, std::string_view(c.kind), std::string_view(c.what), text(c.before), text(c.after),
                  text(change.job), text(hosts), text(c.by), text(c.link)});
  }
  return table;
}

std::vector<respond::Change> read_changes(const Table& table) {
  const auto column = [&](std::string_view name) {
    const auto schema = table.schema();
    const auto it = std::ranges::find_if(schema, [&](const Field& field) { return name == field.name; });
    return it == schema.end() ? std::nullopt : std::optional(static_cast<size_t>(it - schema.begin()));
  };
  const auto time = column("time_ns");
  std::vector<respond::Change> changes;
  for (size_t row = 0; time && row < table.rows(); ++row) {
    const auto text = [&](const char* name, size_t most) {
      const auto place = column(name);
      const Value value = place ? table.at(row, *place) : Value();
      const auto* said = std::get_if<std::string_view>(&value);
      return said ? to_printable(said->substr(0, most)) : std::string();
    };
    const Value at = table.at(row, *time);
    const auto* ns = std::get_if<i64>(&at);
    if (!ns) continue;
    respond::Change& change = changes.emplace_back();
    change.change = {.at = *ns,
                     .kind = text("kind", kMostName),
                     .what = text("what", respond::kMostChangeText),
                     .before = text("before", respond::kMostChangeText),
                     .after = text("after", respond::kMostChangeText),
                     .by = text("by", kMostName),
                     .link = text("link", kMostLink)};
    if (!is_link(change.change.link)) change.change.link.clear();
    change.job = text("job", kMostName);
    for (std::string& host : split_commas(text("hosts", kMostHosts * kMostName))) {
      if (change.hosts.size() < kMostHosts) change.hosts.push_back(std::move(host));
    }
  }
  return changes;
}

}  // namespace spotter::wire
