// The record of an incident as data, the list of all, and what is asked of agents about one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { captureOf, ENDINGS, incidentList, incidentOf, sentenceOfAll, severityText, silenceOf, spanAround, stepTimesOf } from "../src/views/incidents/data.ts";
import { tableOfRows } from "./timeline_tables.ts";

const RECORD = {
  version: 1, id: "4711-speed-2", key: "a/4711/speed", state: "verdict", severity: "warning", family: "speed", opened: "2026-11-23T04:46:46.000Z",
  updated: "2026-11-23T04:47:12.000Z", closed: null, led_by: "gpu01", job: { id: "4711", name: "pretrain", user: "alice", world_size: 0 },
  symptom: { rule: "step_time_up", source: "profilerStep", before: 3.1, now: 4.42, since: "2026-11-23T04:46:40.000Z" },
  verdict: { cause: "slow_device", confidence: "high", sentence: "…" },
  evidence: [{ says: "they wait", table: "stragglers", row: { rank: 37, step: 4 }, command: "spotter analyze /tmp/x --table stragglers" }, "no object"],
  against: ["network", 7], not_known: ["992 ranks"], changes: [], logs: [{ text: "<b>oh</b>", file: "/x.log", offset: 12, rank: 3 }],
  report: { host: "gpu01", uid: null },
  captures: [{ id: "", ranks: "0-3", path: "/tmp/c", steps: 0, overhead_ratio: null, aftermath_ratio: 1.01 }],
  conditions: [{ rule: "step_time_up", rank: null, host: "gpu01", device: "", value: 4.42, unit: "s" }], condition_count: 3,
};

test("a record, in which what is not there is not known", () => {
  const incident = incidentOf(JSON.stringify(RECORD));
  assert.equal(incident.opened, Date.UTC(2026, 10, 23, 4, 46, 46) * 1e6);
  assert.ok(Number.isNaN(incident.closed) && Number.isNaN(incident.silencedUntil));
  // An agent of before says nothing of it.
  assert.equal(incident.ending, "");
  assert.ok("new_normal" in ENDINGS && "not_known" in ENDINGS && !("over" in ENDINGS));
  assert.deepEqual(incident.evidence, [{ says: "they wait", table: "stragglers", row: "rank 37, step 4", command: "spotter analyze /tmp/x --table stragglers" }]);
  assert.deepEqual(incident.against, ["network"]);
  assert.equal(incident.logs[0]!.place, "/x.log, byte 12, rank 3");
  assert.equal(incident.hasReport, true);
  const [traced] = incident.captures;
  assert.ok(Number.isNaN(traced!.overhead) && Number.isNaN(traced!.costS) && Number.isNaN(traced!.steps), "no number is not 0");
  assert.equal(traced!.aftermath, 1.01);
  assert.equal(incident.conditions[0]!.of, "gpu01");
  assert.equal(incident.acknowledgedBy, "");
  const older = incidentOf(JSON.stringify({ ...RECORD, verdict: null, report: undefined }));
  assert.ok(older.cause === "" && !older.hasReport);
  assert.ok(older.sharedIncident === "" && older.sharedBy === null);
  const shared = incidentOf(JSON.stringify({ ...RECORD, shared_incident: "gpu01-speed-1-shared", shared_by: { jobs: ["a", 3, "b"], job_count: 4, hosts: [] } }));
  assert.equal(shared.sharedIncident, "gpu01-speed-1-shared");
  assert.deepEqual(shared.sharedBy, { jobs: ["a", "b"], count: 4 });
  for (const wrong of ["[]", "{}", "null"]) assert.throws(() => incidentOf(wrong), /no incident/);
});

const LIST = ["id", "job", "state", "severity", "opened", "updated", "sentence"];

test("those that are open come first, the newest first", () => {
  const list = incidentList([
    { host: "a", table: tableOfRows("incidents", LIST, [["1", "x", "resolved", "critical", 900, 1, "s"], ["2", "x", "firing", "critical", 100, 1, "s"]]) },
    { host: "b", table: tableOfRows("incidents", LIST, [["3", null, "verdict", "info", 200, 1, "s"]]) },
  ]);
  assert.deepEqual([0, 1, 2].map((row) => list.text("id", row)), ["3", "2", "1"]);
  assert.deepEqual([0, 1, 2].map((row) => list.text("host", row)), ["b", "a", "a"]);
  assert.ok(list.isNull("confidence", 0) && list.isNull("job", 0));
  const opened = 1795635470123456789n;
  const late = incidentList([{ host: "a", table: tableOfRows("incidents", LIST, [["1", "x", "firing", "info", opened, null, "s"]], { opened }) }]);
  assert.deepEqual([late.exact("opened", 0), late.exact("updated", 0)], ["1795635470123456789", ""], "each digit of a time");
  assert.equal(sentenceOfAll(list), "2 incidents are open, 1 of them critical.");
  assert.match(sentenceOfAll(incidentList([])), /^Nothing is wrong, as far as/);
  assert.equal(severityText("critical"), "■ critical");
  assert.equal(severityText(""), "? not known");
});

test("a silence is of the job and the rule, or of the host", () => {
  const incident = incidentOf(JSON.stringify(RECORD));
  assert.deepEqual(silenceOf(incident, 7_200_000, "noon"), { rule: "step_time_up", job: "4711", for_ms: 7_200_000, reason: "noon" });
  assert.deepEqual(silenceOf({ ...incident, job: "", host: "gpu05" }, 1, "x"), { rule: "step_time_up", host: "gpu05", for_ms: 1, reason: "x" });
});

test("the capture that is meant, if it is one alone", () => {
  const incident = incidentOf(JSON.stringify(RECORD));
  const after = incident.opened + 1e9;
  const captures = (rows: (string | number)[][]) => tableOfRows("captures", ["id", "job", "output", "began_ns"], rows);
  const mine = ["c1", "4711", "/tmp/c", after];
  assert.equal(captureOf(incident.captures[0]!, incident, captures([mine, ["c2", "5", "/tmp/c", after], ["c3", "4711", "/tmp/c", incident.opened - 1e9]])), "c1");
  assert.equal(captureOf(incident.captures[0]!, incident, captures([mine, ["c4", "4711", "/tmp/c", after]])), "");
  assert.equal(captureOf({ ...incident.captures[0]!, id: "c9" }, incident, captures([])), "c9");
});

test("step times of all ranks at a time", () => {
  const step = tableOfRows("step", ["time_ns", "rank", "step_ns"], [[0, 0, 10], [4, 1, 30], [0, 2, 20], [10, 0, null], [10, 1, 7]]);
  const times = stepTimesOf([step], 10);
  assert.deepEqual([...times.x], [0, 10]);
  assert.deepEqual([...times.slowest], [30, 7]);
  assert.deepEqual([...times.middle], [20, 7]);
  assert.equal(times.ranks, 3);
  assert.equal(stepTimesOf([], 10).x.length, 0);
});

test("samples from before it began, at most so many points", () => {
  const incident = incidentOf(JSON.stringify(RECORD));
  assert.deepEqual(spanAround(incident, incident.since + 60e9), { sinceMs: 360_000, untilMs: 0, stepMs: 1000 });
  const old = { ...incident, closed: incident.since + 100e9 };
  const { sinceMs, untilMs, stepMs } = spanAround(old, incident.since + 86_400e9);
  assert.equal(sinceMs - untilMs, 700_000);
  assert.equal(stepMs, 2000);
});
