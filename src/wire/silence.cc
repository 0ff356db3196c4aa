#include "wire/silence.h"

#include <boost/json.hpp>

#include "wire/json.h"

namespace spotter::wire {
namespace {

constexpr std::string_view kNames[] = {"rule", "job", "host", "user", "for_ms", "until_ms", "reason"};

constexpr Field kColumns[] = {
    {"rule", Type::text, Unit::none, Role::key, "Of this rule; null: of any."},
    {"job", Type::text, Unit::none, Role::key, "Of this job."},
    {"host", Type::text, Unit::none, Role::key, "Of this host."},
    {"user", Type::text, Unit::none, Role::key, "Of this user's jobs."},
    {"until_ns", Type::integer, Unit::ns, Role::time, "When it ends, Unix time."},
    whole({"reason", Type::text, Unit::none, Role::value, "Why."}),
    {"by", Type::text, Unit::none, Role::detail, "Who made it."},
};

}  // namespace

Result<respond::Silence> read_silence(std::string_view body, Ns unix_now) {
  TRY_ASSIGN(const boost::json::object object, read_object(body));
  TRY(check_names(object, kNames, "a silence"));
  respond::Silence silence;
  const auto text = [&](std::string_view name, std::string& to) -> Result<void> {
    TRY_ASSIGN(const auto said, text_of(object, name));
    to = said.value_or("");
    constexpr size_t kMost = 512;
    if (to.size() > kMost) return fail(Code::invalid, "{}: more than {} bytes", name, kMost);
    return {};
  };
  TRY(text("rule", silence.rule));
  TRY(text("job", silence.job));
  TRY(text("host", silence.host));
  TRY(text("user", silence.user));
  TRY(text("reason", silence.reason));
  TRY_ASSIGN(const auto duration, integer_of(object, "for_ms"));
  TRY_ASSIGN(const auto until, integer_of(object, "until_ms"));
  if (duration.has_value() == until.has_value())
    return fail(Code::invalid, "a silence has either for_ms or until_ms");
  constexpr i64 kMostUntilMs = i64{1} << 42, kMostForMs = 30 * kDay / kMillisecond;  // far from an overflow
  const i64 ms = duration ? *duration : *until;
  if (ms <= 0 || ms > (duration ? kMostForMs : kMostUntilMs))
    return fail(Code::invalid, "a silence ends within 30 days");
  silence.until = (duration ? unix_now : 0) + ms * kMillisecond;
  return silence;
}

std::string silence_text(const respond::Silence& silence) {
  boost::json::object object;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) object[name] = mended(text);
  };
  add("rule", silence.rule);
  add("job", silence.job);
  add("host", silence.host);
  add("user", silence.user);
  add("reason", silence.reason);
  object["until_ms"] = silence.until / kMillisecond;
  return boost::json::serialize(object);
}

std::span<const Field> silences_columns() { return kColumns; }

Table silences_table(std::span<const respond::Silence> silences) {
  Table table("silences", kColumns);
  for (const respond::Silence& s : silences)
    table.append({or_null(std::string_view(s.rule)), or_null(std::string_view(s.job)),
                  or_null(std::string_view(s.host)), or_null(std::string_view(s.user)), s.until,
                  or_null(std::string_view(s.reason)), or_null(std::string_view(s.by))});
  return table;
}

}  // namespace spotter::wire
