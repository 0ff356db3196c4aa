#include "wire/report.h"

#include "base/text/number.h"
#include "base/text/utf8.h"
#include "wire/incident_fields.h"
#include "wire/json.h"
#include "wire/json_fields.h"

namespace spotter::wire {

template <class Way>
void fields(Way& way, respond::JobHere& job) {
  way.text("id", job.id);
  way.text("user", job.user);
  way.integers("ranks", job.ranks);
  way.count("world_size", job.world_size);
  way.milliseconds("age_ms", job.age);
  way.count("steps", job.steps);
  way.milliseconds("step_ms", job.step);
  way.milliseconds("wrote_ago_ms", job.wrote_ago);
}

template <class Way>
void fields(Way& way, respond::LedIncident& led) {
  way.text("key", led.key);
  way.count("n", led.n);
  way.count("sequence", led.sequence);
  way.flag("open", led.is_open);
  way.word("state", led.state, respond::kIncidentStateNames);
  way.time("opened", led.opened);
  way.time("closed", led.closed);
  way.time("told", led.told);
  way.word("severity", led.urgency, kUrgencyNames);
  way.milliseconds("silenced_ms", led.silenced);
  way.object("acknowledged", led.acknowledged);
}

template <class Way>
void fields(Way& way, respond::Report& report) {
  way.text("host", report.host);
  way.text("instance", report.instance);
  way.text("version", report.version);
  way.time("sent", report.sent);
  way.object("job", report.job);
  way.list("conditions", report.conditions);
  way.list("incidents", report.incidents);
  way.list("awaited", report.awaited);
}

template <class Way>
void fields(Way& way, respond::ReportAnswer& answer) {
  way.text("host", answer.host);
  way.text("instance", answer.instance);
  way.text("version", answer.version);
  way.list("incidents", answer.incidents);
  // As texts: numbers of 64 bits are not safe in JSON.
  std::vector<std::string> mended;
  for (const u64 key : answer.mended) mended.push_back(fmt::format("{:x}", key));
  const size_t written = mended.size();
  way.texts("mended", mended);
  for (size_t i = written; i < mended.size(); ++i)
    answer.mended.push_back(number_in<u64>(mended[i], 16).value_or(0));
}

namespace {

constexpr size_t kMostConditions = 1000, kMostIncidents = 32, kMostRanks = 10'000;
constexpr size_t kMostName = 256, kMostText = 1024, kMostSentence = 4096;

// What another host says goes to people's screens.
void clean(std::string& text, size_t most) { text = to_printable(text.substr(0, most)); }

void clean(std::optional<respond::Acknowledgement>& a) {
  if (!a) return;
  clean(a->by, kMostName);
  clean(a->where, kMostName);
}

void clean(respond::Condition& c) {
  for (std::string* text :
       {&c.rule, &c.family, &c.job, &c.user, &c.host, &c.device, &c.unit, &c.source, &c.shared_incident})
    clean(*text, kMostName);
  clean(c.text, kMostText);
  clean(c.kernel_wait, kMostSentence);
}

// Numbers that are counted on have to be far from the end of what JSON has.
Result<void> check_numbers(i64 n, i64 sequence) {
  constexpr i64 kMost = i64{1} << 48;
  if (n > kMost || sequence > kMost) return fail(Code::invalid, "an incident's number is beyond all");
  return {};
}

Result<void> clean(respond::Incident& i) {
  TRY(check_numbers(i.n, i.sequence));
  for (std::string* name :
       {&i.cluster, &i.family, &i.host, &i.led_by, &i.part_of, &i.shared_incident, &i.job.id, &i.job.name,
        &i.job.user, &i.symptom.rule, &i.symptom.source, &i.symptom.unit})
    clean(*name, kMostName);
  if (i.verdict) {
    clean(i.verdict->cause, kMostName);
    clean(i.verdict->sentence, kMostSentence);
    clean(i.verdict->remedy, kMostSentence);
    for (respond::Suspect& suspect : i.verdict->suspects) clean(suspect.host, kMostName);
  }
  for (respond::Evidence& evidence : i.evidence) {
    clean(evidence.says, kMostSentence);
    clean(evidence.table, kMostName);
    clean(evidence.command, kMostSentence);
  }
  clean(i.to_trace, kMostSentence);
  for (std::vector<std::string>* texts : {&i.against, &i.not_known})
    for (std::string& text : *texts) clean(text, kMostSentence);
  for (respond::ChangeBefore& change : i.changes)
    for (std::string* text :
         {&change.kind, &change.what, &change.before, &change.after, &change.by, &change.link})
      clean(*text, kMostText);
  for (respond::LogLine& line : i.logs) {
    clean(line.text, kMostText);
    clean(line.file, kMostSentence);
  }
  for (respond::CaptureOfIncident& capture : i.captures)
    for (std::string* text : {&capture.id, &capture.ranks, &capture.path, &capture.harm})
      clean(*text, kMostSentence);
  for (respond::Condition& condition : i.conditions) clean(condition);
  clean(i.acknowledged);
  return {};
}

Result<void> clean(respond::LedIncident& led) {
  clean(led.key, 4 * kMostName);
  clean(led.acknowledged);
  return check_numbers(led.n, led.sequence);
}

template <class T>
std::string text_of(const T& object) {
  JsonWriter writer;
  T copy = object;
  fields(writer, copy);
  return json_text(writer.out);
}

}  // namespace

std::string report_text(const respond::Report& report) { return text_of(report); }
std::string report_answer_text(const respond::ReportAnswer& answer) { return text_of(answer); }

Result<respond::Report> read_report(std::string_view text) {
  TRY_ASSIGN(const boost::json::object object, read_object(text));
  TRY_ASSIGN(respond::Report report, read_fields<respond::Report>(object, "report"));
  if (report.host.empty() || report.job.id.empty() || report.sent <= 0)
    return fail(Code::invalid, "a report names its host and its job, and when it was sent");
  if (report.conditions.size() > kMostConditions || report.incidents.size() > kMostIncidents ||
      report.awaited.size() > kMostConditions || report.job.ranks.size() > kMostRanks)
    return fail(Code::invalid,
                "a report has up to {} conditions and {} incidents of a job of up to {} ranks here",
                kMostConditions, kMostIncidents, kMostRanks);
  for (std::string* name :
       {&report.host, &report.instance, &report.version, &report.job.id, &report.job.user})
    clean(*name, kMostName);
  for (respond::Condition& condition : report.conditions) clean(condition);
  for (respond::Incident& incident : report.incidents) TRY(clean(incident));
  for (respond::LedIncident& led : report.awaited) TRY(clean(led));
  return report;
}

Result<respond::ReportAnswer> read_report_answer(std::string_view text) {
  TRY_ASSIGN(const boost::json::object object, read_object(text));
  TRY_ASSIGN(respond::ReportAnswer answer, read_fields<respond::ReportAnswer>(object, "answer to a report"));
  if (answer.host.empty() || answer.incidents.size() > kMostConditions)
    return fail(Code::invalid, "this is no answer to a report");
  for (std::string* name : {&answer.host, &answer.instance, &answer.version}) clean(*name, kMostName);
  for (respond::LedIncident& led : answer.incidents) TRY(clean(led));
  return answer;
}

}  // namespace spotter::wire
