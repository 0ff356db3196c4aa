#include "wire/incident.h"

#include <cmath>
#include <stdexcept>

#include "base/moment.h"
#include "base/words.h"
#include "wire/json.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;
using namespace respond;

constexpr i64 kVersion = 1;
constexpr i64 kMostCount = i64{1} << 53;
constexpr std::string_view kUrgencies[] = {"info", "warning", "critical"};

// Each kind of object names its members once, for both ways: fields(way, object).
template <class Way>
void fields(Way& way, Condition& c) {
  way.text("rule", c.rule);
  way.text("family", c.family);
  way.word("severity", c.urgency, kUrgencies);
  way.text("job", c.job);
  way.text("user", c.user);
  way.text("host", c.host);
  way.integer("rank", c.rank);
  way.text("device", c.device);
  way.flag("firing", c.is_firing);
  way.flag("flapping", c.is_flapping);
  way.time("since", c.since);
  way.time("at", c.at);
  way.real("value", c.value);
  way.real("baseline", c.baseline);
  way.text("unit", c.unit);
  way.real("z", c.spreads);
  way.integer("step", c.step);
  way.text("source", c.source);
  way.text("text", c.text);
  way.flag("no_capture", c.no_capture);
}

template <class Way>
void fields(Way& way, JobOfIncident& job) {
  way.text("id", job.id);
  way.text("name", job.name);
  way.text("user", job.user);
  way.count("world_size", job.world_size);
  way.count("hosts", job.hosts);
}

template <class Way>
void fields(Way& way, Symptom& s) {
  way.text("rule", s.rule);
  way.text("source", s.source);
  way.text("unit", s.unit);
  way.real("before", s.before);
  way.real("now", s.now);
  way.real("z", s.spreads);
  way.integer("since_step", s.since_step);
  way.time("since", s.since);
  way.count("hosts", s.hosts);
}

template <class Way>
void fields(Way& way, Suspect& s) {
  way.integer("rank", s.rank);
  way.text("host", s.host);
  way.integer("gpu", s.gpu);
}

template <class Way>
void fields(Way& way, Verdict& v) {
  way.text("cause", v.cause);
  way.word("confidence", v.confidence, kConfidenceNames);
  way.list("suspects", v.suspects);
  way.real("at_stake_s_per_step", v.at_stake_s_per_step);
  way.text("sentence", v.sentence);
  way.text("remedy", v.remedy);
}

template <class Way>
void fields(Way& way, Evidence& e) {
  way.text("says", e.says);
  way.text("table", e.table);
  way.row("row", e.row);
  way.text("command", e.command);
}

template <class Way>
void fields(Way& way, ChangeBefore& c) {
  way.time("at", c.at);
  way.text("kind", c.kind);
  way.text("what", c.what);
  way.text("before", c.before);
  way.text("after", c.after);
  way.text("by", c.by);
  way.text("link", c.link);
}

template <class Way>
void fields(Way& way, LogLine& line) {
  way.text("text", line.text);
  way.text("file", line.file);
  way.count("offset", line.offset);
  way.integer("rank", line.rank);
}

template <class Way>
void fields(Way& way, CaptureOfIncident& c) {
  way.text("id", c.id);
  way.text("ranks", c.ranks);
  way.text("path", c.path);
  way.count("steps", c.steps);
  way.real("overhead_ratio", c.overhead_ratio);
  way.real("aftermath_ratio", c.aftermath_ratio);
  way.real("cost_s", c.cost_s);
}

template <class Way>
void fields(Way& way, Acknowledgement& a) {
  way.text("by", a.by);
  way.text("where", a.where);
  way.time("at", a.at);
}

template <class Way>
void fields(Way& way, Incident& i) {
  way.text("cluster", i.cluster);
  way.text("family", i.family);
  way.count("n", i.n);
  way.count("sequence", i.sequence);
  way.text("host", i.host);
  way.word("state", i.state, kIncidentStateNames);
  way.word("severity", i.urgency, kUrgencies);
  way.time("opened", i.opened);
  way.time("updated", i.updated);
  way.time("closed", i.closed);
  way.text("led_by", i.led_by);
  way.object("job", i.job);
  way.object("symptom", i.symptom);
  way.object("verdict", i.verdict);
  way.list("evidence", i.evidence);
  way.texts("against", i.against);
  way.list("changes", i.changes);
  way.list("logs", i.logs);
  way.list("captures", i.captures);
  way.texts("not_known", i.not_known);
  way.list("conditions", i.conditions);
  way.count("condition_count", i.condition_count);
  way.object("acknowledged", i.acknowledged);
  way.time("silenced_until", i.silenced_until);
  way.time("fired", i.fired);
  way.time("told", i.told);
  way.text("part_of", i.part_of);
  way.word("before", i.before, kIncidentStateNames);
}

// A key of a row is a number where it can be one and nothing is lost.
std::optional<i64> number_of(const std::string& text) {
  const auto number = to_integer(text);
  return number && std::to_string(*number) == text ? number : std::nullopt;
}

class Writer {
 public:
  json::object out;

  void text(const char* name, const std::string& text) { out[name] = mended(text); }
  void integer(const char* name, const std::optional<i64>& value) { set(name, value); }
  void count(const char* name, i64 value) { out[name] = value; }
  void real(const char* name, const std::optional<double>& value) {
    set(name, value && std::isfinite(*value) ? value : std::nullopt);
  }
  void flag(const char* name, bool value) { out[name] = value; }
  void time(const char* name, Ns at) { out[name] = at > 0 ? json::value(utc_text(at)) : json::value(); }
  void time(const char* name, const std::optional<Ns>& at) { time(name, at.value_or(0)); }
  template <class Enum, class Name, size_t kNames>
  void word(const char* name, Enum value, const Name (&names)[kNames]) {
    out[name] = json::string_view(names[static_cast<size_t>(value)]);
  }
  void texts(const char* name, const std::vector<std::string>& all) {
    json::array list;
    for (const std::string& text : all) list.emplace_back(mended(text));
    out[name] = std::move(list);
  }
  void row(const char* name, const std::vector<std::pair<std::string, std::string>>& keys) {
    json::object row;
    for (const auto& [key, value] : keys) {
      const auto number = number_of(value);
      row[mended(key)] = number ? json::value(*number) : json::value(mended(value));
    }
    out[name] = std::move(row);
  }
  template <class T>
  void object(const char* name, T& object) {
    out[name] = written(object);
  }
  template <class T>
  void object(const char* name, std::optional<T>& object) {
    out[name] = object ? json::value(written(*object)) : json::value();
  }
  template <class T>
  void list(const char* name, std::vector<T>& all) {
    json::array list;
    for (T& one : all) list.emplace_back(written(one));
    out[name] = std::move(list);
  }

 private:
  template <class T>
  void set(const char* name, const std::optional<T>& value) {
    out[name] = value ? json::value(*value) : json::value();
  }
  template <class T>
  static json::object written(T& object) {
    Writer writer;
    fields(writer, object);
    return std::move(writer.out);
  }
};

// Throws std::invalid_argument, or what the library throws, where a value has another type or form.
class Reader {
 public:
  explicit Reader(const json::object& in) : in_(in) {}

  void text(const char* name, std::string& to) const {
    if (const json::value* value = find(name)) to = std::string(text_in(*value));
  }
  void integer(const char* name, std::optional<i64>& to) const {
    if (const json::value* value = find(name)) to = value->to_number<i64>();
  }
  void count(const char* name, i64& to) const {
    const json::value* value = find(name);
    if (!value) return;
    to = value->to_number<i64>();
    expect(0 <= to && to <= kMostCount, "a count");
  }
  void real(const char* name, std::optional<double>& to) const {
    const json::value* value = find(name);
    if (!value) return;
    to = real_in(*value);
    expect(std::isfinite(*to), "a number that is not beyond all");
  }
  void flag(const char* name, bool& to) const {
    if (const json::value* value = find(name)) to = value->as_bool();
  }
  void time(const char* name, Ns& to) const {
    if (const json::value* value = find(name)) to = moment_in(*value);
  }
  void time(const char* name, std::optional<Ns>& to) const {
    if (const json::value* value = find(name)) to = moment_in(*value);
  }
  template <class Enum, class Name, size_t kNames>
  void word(const char* name, Enum& to, const Name (&names)[kNames]) const {
    const json::value* value = find(name);
    if (!value) return;
    size_t i = 0;
    while (i < kNames && text_in(*value) != names[i]) ++i;
    expect(i < kNames, "a word that is known");
    to = static_cast<Enum>(i);
  }
  void texts(const char* name, std::vector<std::string>& to) const {
    const json::value* value = find(name);
    if (!value) return;
    for (const json::value& text : value->as_array()) to.emplace_back(text_in(text));
  }
  void row(const char* name, std::vector<std::pair<std::string, std::string>>& to) const {
    const json::value* value = find(name);
    if (!value) return;
    for (const auto& [key, cell] : value->as_object())
      to.emplace_back(std::string(key),
                      cell.is_string() ? std::string(text_in(cell)) : std::to_string(cell.to_number<i64>()));
  }
  template <class T>
  void object(const char* name, T& to) const {
    const json::value* value = find(name);
    if (!value) return;
    Reader reader(value->as_object());
    fields(reader, to);
  }
  template <class T>
  void object(const char* name, std::optional<T>& to) const {
    if (find(name)) object(name, to.emplace());
  }
  template <class T>
  void list(const char* name, std::vector<T>& to) const {
    const json::value* value = find(name);
    if (!value) return;
    for (const json::value& element : value->as_array()) {
      Reader reader(element.as_object());
      fields(reader, to.emplace_back());
    }
  }

 private:
  // nullptr: it is absent or null.
  const json::value* find(const char* name) const {
    const json::value* value = in_.if_contains(name);
    return value && !value->is_null() ? value : nullptr;
  }
  static Ns moment_in(const json::value& value) {
    const std::string_view text = text_in(value);
    expect(text.size() > 10 && text.ends_with('Z'), "a time in UTC");
    const auto moment = parse_moment(std::string(text));
    expect(moment.has_value(), "a time in UTC");
    return *moment;
  }

  const json::object& in_;
};

template <class T>
Result<T> read(const json::object& object, const char* what) {
  try {
    T read;
    Reader reader(object);
    fields(reader, read);
    return read;
  } catch (const std::invalid_argument& error) {
    return fail(Code::invalid, "this is no {}: {} was expected", what, error.what());
  } catch (const std::exception&) {
    return fail(Code::invalid, "this is no {}: a member is of another type", what);
  }
}

}  // namespace

json::object to_json(const Condition& condition) {
  Writer writer;
  Condition copy = condition;
  fields(writer, copy);
  return std::move(writer.out);
}

json::object to_json(const Incident& incident) {
  Writer writer;
  writer.out = {{"version", kVersion}, {"id", mended(incident.id())}, {"key", mended(incident.key())}};
  Incident copy = incident;
  fields(writer, copy);
  const Symptom& symptom = incident.symptom;
  const bool has_ratio = symptom.now && symptom.before && *symptom.before > 0;
  writer.out["symptom"].as_object()["ratio"] =
      has_ratio ? json::value(*symptom.now / *symptom.before) : json::value();
  return std::move(writer.out);
}

Result<Condition> condition_from(const json::object& object) { return read<Condition>(object, "condition"); }

Result<Incident> incident_from(const json::object& object) {
  const json::value* version = object.if_contains("version");
  if (version && *version != json::value(kVersion))
    return fail(Code::unsupported, "this is an incident of another version; it has to be {}", kVersion);
  return read<Incident>(object, "incident");
}

std::string incident_text(const Incident& incident) { return json_text(to_json(incident)); }
std::string condition_text(const Condition& condition) { return json_text(to_json(condition)); }

Result<Incident> read_incident(std::string_view text) {
  TRY_ASSIGN(const json::object object, read_object(text));
  return incident_from(object);
}

Result<Condition> read_condition(std::string_view text) {
  TRY_ASSIGN(const json::object object, read_object(text));
  return condition_from(object);
}

}  // namespace spotter::wire
