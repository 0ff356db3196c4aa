// The members of incidents and conditions (incident.h), as json_fields.h wants them.
#pragma once
#include <string_view>

#include "respond/incidents/incident.h"

namespace spotter::wire {

inline constexpr std::string_view kUrgencyNames[] = {"info", "warning", "critical"};

template <class Way>
void fields(Way& way, respond::Condition& c) {
  way.text("rule", c.rule);
  way.text("family", c.family);
  way.word("severity", c.urgency, kUrgencyNames);
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
  way.text("kernel_wait", c.kernel_wait);
  way.flag("no_capture", c.no_capture);
  way.text("shared_incident", c.shared_incident);
  way.flag("new_normal", c.is_new_normal);
  way.flag("job_ended", c.has_job_ended);
  way.flag("unheard", c.is_unheard);
}

template <class Way>
void fields(Way& way, respond::JobOfIncident& job) {
  way.text("id", job.id);
  way.text("name", job.name);
  way.text("user", job.user);
  way.count("world_size", job.world_size);
  way.count("hosts", job.hosts);
  way.flag("has_gpus", job.has_gpus);
}

template <class Way>
void fields(Way& way, respond::Symptom& s) {
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
void fields(Way& way, respond::Suspect& s) {
  way.integer("rank", s.rank);
  way.text("host", s.host);
  way.integer("gpu", s.gpu);
}

template <class Way>
void fields(Way& way, respond::Verdict& v) {
  way.text("cause", v.cause);
  way.word("confidence", v.confidence, respond::kConfidenceNames);
  way.list("suspects", v.suspects);
  way.real("at_stake_s_per_step", v.at_stake_s_per_step);
  way.text("sentence", v.sentence);
  way.text("remedy", v.remedy);
}

template <class Way>
void fields(Way& way, respond::Evidence& e) {
  way.text("says", e.says);
  way.text("table", e.table);
  way.row("row", e.row);
  way.text("command", e.command);
}

template <class Way>
void fields(Way& way, respond::ChangeBefore& c) {
  way.time("at", c.at);
  way.text("kind", c.kind);
  way.text("what", c.what);
  way.text("before", c.before);
  way.text("after", c.after);
  way.text("by", c.by);
  way.text("link", c.link);
}

template <class Way>
void fields(Way& way, respond::LogLine& line) {
  way.text("text", line.text);
  way.text("file", line.file);
  way.count("offset", line.offset);
  way.integer("rank", line.rank);
}

template <class Way>
void fields(Way& way, respond::CaptureOfIncident& c) {
  way.text("id", c.id);
  way.text("ranks", c.ranks);
  way.text("path", c.path);
  way.count("steps", c.steps);
  way.real("overhead_ratio", c.overhead_ratio);
  way.real("aftermath_ratio", c.aftermath_ratio);
  way.real("cost_s", c.cost_s);
  way.text("harm", c.harm);
}

template <class Way>
void fields(Way& way, respond::ReportOfIncident& r) {
  way.text("host", r.host);
  way.integer("uid", r.uid);
}

template <class Way>
void fields(Way& way, respond::Acknowledgement& a) {
  way.text("by", a.by);
  way.text("where", a.where);
  way.time("at", a.at);
}

template <class Way>
void fields(Way& way, respond::SharedBy& s) {
  way.texts("jobs", s.jobs);
  way.count("job_count", s.job_count);
  way.texts("hosts", s.hosts);
}

template <class Way>
void fields(Way& way, respond::Incident& i) {
  way.text("cluster", i.cluster);
  way.text("family", i.family);
  way.count("n", i.n);
  way.count("sequence", i.sequence);
  way.text("host", i.host);
  way.word("state", i.state, respond::kIncidentStateNames);
  way.word("severity", i.urgency, kUrgencyNames);
  way.time("opened", i.opened);
  way.time("updated", i.updated);
  way.time("closed", i.closed);
  way.word("ending", i.ending, respond::kEndingNames);
  way.flag("job_ended", i.has_job_ended);
  way.text("resolved_by", i.resolved_by);
  way.time("over", i.over);
  way.time("fired_again", i.fired_again);
  way.time("repeated", i.repeated);
  way.text("led_by", i.led_by);
  way.object("job", i.job);
  way.object("symptom", i.symptom);
  way.object("verdict", i.verdict);
  way.list("evidence", i.evidence);
  way.texts("against", i.against);
  way.list("changes", i.changes);
  way.list("logs", i.logs);
  way.list("captures", i.captures);
  way.object("report", i.report);
  way.texts("not_known", i.not_known);
  way.text("to_trace", i.to_trace);
  way.list("conditions", i.conditions);
  way.count("condition_count", i.condition_count);
  way.object("acknowledged", i.acknowledged);
  way.time("silenced_until", i.silenced_until);
  way.time("fired", i.fired);
  way.time("told", i.told);
  way.flag("told_elsewhere", i.told_elsewhere);
  way.text("part_of", i.part_of);
  way.text("shared_incident", i.shared_incident);
  way.object("shared_by", i.shared_by);
  way.word("before", i.before, respond::kIncidentStateNames);
}

}  // namespace spotter::wire
