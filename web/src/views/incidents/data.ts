// Incidents as data for their view: the record that an agent gives of one (its texts are a job's, and untrusted), the list of
// all, and what is asked of an agent about them. What a record does not have is not known.
import { exactColumn, textsColumn } from "../../data/made_table.ts";
import { Table } from "../../data/table.ts";
import type { Part } from "../captures/stacked.ts";

export interface Evidence {
  says: string;
  table: string;
  row: string; // "rank 37, step 4"
  command: string;
}
export interface Change {
  at: number;
  kind: string;
  what: string;
  before: string;
  after: string;
  by: string;
  link: string;
}
export interface LogLine {
  text: string;
  place: string; // "FILE, byte N, rank R"
}
export interface Traced {
  id: string;
  ranks: string;
  path: string;
  steps: number; // the numbers of one are NaN where they are not known
  overhead: number;
  aftermath: number;
  costS: number;
}
export interface Condition {
  rule: string;
  of: string; // "rank 3, gpu 5 on gpu05"
  since: number;
  value: number;
  baseline: number;
  unit: string;
  text: string;
}

export interface Incident {
  id: string;
  state: string;
  severity: string;
  family: string;
  host: string;
  opened: number; // times are Unix ns, NaN: not known, or not yet
  since: number;
  updated: number;
  closed: number;
  ending: string; // over, by_hand, job_ended, new_normal or not_known, of one that is closed
  ledBy: string;
  job: string;
  jobName: string;
  user: string;
  rule: string;
  source: string;
  cause: string; // empty: none is known
  confidence: string;
  evidence: Evidence[];
  against: string[];
  notKnown: string[];
  toTrace: string; // a command; mostly empty
  changes: Change[];
  logs: LogLine[];
  captures: Traced[];
  hasReport: boolean;
  conditions: Condition[];
  conditionCount: number;
  acknowledgedBy: string;
  acknowledgedAt: number;
  silencedUntil: number;
  partOf: string;
  // That jobs of one host have together, which theirs name.
  sharedIncident: string;
  sharedBy: { jobs: string[]; count: number } | null;
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const objectAt = (json: Json, name: string): Json => (isObject(json[name]) ? json[name] : {});
const textAt = (json: Json, name: string): string => (typeof json[name] === "string" ? json[name] : "");
const numberAt = (json: Json, name: string): number => (typeof json[name] === "number" ? json[name] : Number.NaN);
const timeAt = (json: Json, name: string): number => Date.parse(textAt(json, name)) * 1e6;
const listAt = (json: Json, name: string): Json[] => (Array.isArray(json[name]) ? json[name].filter(isObject) : []);
const textsAt = (json: Json, name: string): string[] => (Array.isArray(json[name]) ? json[name].filter((each) => typeof each === "string") : []);

const joined = (parts: readonly (string | false)[]): string => parts.filter((part) => part !== false && part !== "").join(", ");
const named = (name: string, value: number): string | false => !Number.isNaN(value) && `${name} ${value}`;

export function incidentOf(text: string): Incident {
  const json: unknown = JSON.parse(text);
  if (!isObject(json) || textAt(json, "id") === "") throw new Error("the agent's answer is no incident");
  const job = objectAt(json, "job"), symptom = objectAt(json, "symptom"), verdict = objectAt(json, "verdict");
  const acknowledged = objectAt(json, "acknowledged");
  return {
    id: textAt(json, "id"), state: textAt(json, "state"), severity: textAt(json, "severity"), family: textAt(json, "family"), host: textAt(json, "host"),
    opened: timeAt(json, "opened"), since: timeAt(symptom, "since"), updated: timeAt(json, "updated"), closed: timeAt(json, "closed"),
    ending: textAt(json, "resolved_by") !== "" ? "by_hand" : json["job_ended"] === true && textAt(json, "ending") === "over" ? "job_ended" : textAt(json, "ending"), ledBy: textAt(json, "led_by"),
    job: textAt(job, "id"), jobName: textAt(job, "name"), user: textAt(job, "user"),
    rule: textAt(symptom, "rule"), source: textAt(symptom, "source"), cause: textAt(verdict, "cause"), confidence: textAt(verdict, "confidence"),
    evidence: listAt(json, "evidence").map((one) => ({
      says: textAt(one, "says"), table: textAt(one, "table"), command: textAt(one, "command"),
      row: Object.entries(objectAt(one, "row")).map(([key, value]) => `${key} ${String(value)}`).join(", "),
    })),
    against: textsAt(json, "against"), notKnown: textsAt(json, "not_known"), toTrace: textAt(json, "to_trace"),
    changes: listAt(json, "changes").map((one) => ({
      at: timeAt(one, "at"), kind: textAt(one, "kind"), what: textAt(one, "what"), before: textAt(one, "before"), after: textAt(one, "after"),
      by: textAt(one, "by"), link: textAt(one, "link"),
    })),
    logs: listAt(json, "logs").map((one) => ({
      text: textAt(one, "text"), place: joined([textAt(one, "file"), textAt(one, "file") !== "" && named("byte", numberAt(one, "offset")), named("rank", numberAt(one, "rank"))]),
    })),
    captures: listAt(json, "captures").map((one) => ({
      id: textAt(one, "id"), ranks: textAt(one, "ranks"), path: textAt(one, "path"), steps: numberAt(one, "steps") || Number.NaN, // 0: not counted
      overhead: numberAt(one, "overhead_ratio"), aftermath: numberAt(one, "aftermath_ratio"), costS: numberAt(one, "cost_s"),
    })),
    hasReport: isObject(json["report"]),
    conditions: listAt(json, "conditions").map((one) => ({
      rule: textAt(one, "rule"), of: joined([named("rank", numberAt(one, "rank")), textAt(one, "device"), textAt(one, "host")]),
      since: timeAt(one, "since"), value: numberAt(one, "value"), baseline: numberAt(one, "baseline"), unit: textAt(one, "unit"), text: textAt(one, "text"),
    })),
    conditionCount: numberAt(json, "condition_count"),
    acknowledgedBy: textAt(acknowledged, "by"), acknowledgedAt: timeAt(acknowledged, "at"), silencedUntil: timeAt(json, "silenced_until"), partOf: textAt(json, "part_of"),
    sharedIncident: textAt(json, "shared_incident"),
    sharedBy: isObject(json["shared_by"]) ? { jobs: textsAt(json["shared_by"], "jobs"), count: numberAt(json["shared_by"], "job_count") } : null,
  };
}

// What its end was: not all that is resolved is mended.
export const ENDINGS: Readonly<Record<string, string>> = { new_normal: "not mended, but normal now, closed at", not_known: "seen no more, and not known to be over, closed at", by_hand: "resolved by hand, not seen to end, at", job_ended: "not known to be mended: the job ended or began anew; closed at" };

export const isOpen = (state: string): boolean => state !== "resolved";

// By shape and word, as messages have it: colour is not enough.
const SHAPES: Record<string, string> = { critical: "■", warning: "▲", info: "●" };
export const severityText = (severity: string): string => `${SHAPES[severity] ?? "?"} ${severity || "not known"}`;

const COLUMNS = [
  { name: "state", type: "text", help: "pending, firing, investigating, verdict, inconclusive, recovering or resolved." },
  { name: "severity", type: "text", help: "info, warning or critical." },
  { name: "id", type: "text", role: "key", help: "Its name, as messages of it show it." },
  { name: "job", type: "text", role: "key", help: "The job that it is of; none: of a host." },
  { name: "sentence", type: "text", help: "What is known of it: of the cause, else the rule that it began with." },
  { name: "opened", type: "integer", unit: "ns", role: "time", help: "When it began." },
  { name: "confidence", type: "text", help: "In the cause: low, medium or high." },
  { name: "suspects", type: "text", role: "detail", help: "Ranks, GPUs and hosts that it comes from." },
  { name: "mechanism", type: "text", role: "detail", help: "The cause: a mechanism of the findings, or a rule." },
  { name: "family", type: "text", role: "detail", help: "What kind of trouble." },
  { name: "updated", type: "integer", unit: "ns", role: "time", help: "When something of it changed last." },
  { name: "host", type: "text", role: "key", help: "Whose agent says so." },
] as const;

// Of all hosts: those that are open first, the newest first.
export function incidentList(parts: readonly Part[]): Table {
  const rows = parts.flatMap(({ host, table }) => Array.from({ length: table.rows }, (_, row) => ({
    isOpen: isOpen(table.text("state", row)),
    opened: table.absolute("opened", row),
    cells: COLUMNS.map(({ name }) => (name === "host" ? host : table.has(name) ? table.exact(name, row) : "")), // an older agent has not all
  })));
  rows.sort((a, b) => Number(b.isOpen) - Number(a.isOpen) || b.opened - a.opened);
  return new Table("incidents", rows.length, COLUMNS.map((column, c) =>
    (column.type === "text" ? textsColumn : exactColumn)(column.name, rows.map((row) => row.cells[c]!), column)));
}

export function sentenceOfAll(list: Table): string {
  const open = Array.from({ length: list.rows }, (_, row) => row).filter((row) => isOpen(list.text("state", row)));
  if (open.length === 0) return list.rows === 0 ? "Nothing is wrong, as far as the rules see." : "Nothing is wrong now, as far as the rules see; what is listed is over.";
  const critical = open.filter((row) => list.text("severity", row) === "critical").length;
  if (open.length === 1) return `1 incident is open${critical > 0 ? ", and is critical" : ""}.`;
  return `${open.length} incidents are open${critical > 0 ? `, ${critical} of them critical` : ""}.`;
}

// Nobody is told of what this incident is about; of a job by its rule, or of a host.
export const silenceOf = (incident: Incident, forMs: number, reason: string): Json => ({
  rule: incident.rule, ...(incident.job !== "" ? { job: incident.job } : { host: incident.host }), for_ms: forMs, reason,
});

// The capture of an agent's list that is meant: its id, or, where that is not told, of the job and in the same folder.
export function captureOf(traced: Traced, incident: Incident, captures: Table): string {
  if (traced.id !== "") return traced.id;
  if (traced.path === "") return "";
  const rows = captures.rowsWhere("output", traced.path).filter((row) => captures.text("job", row) === incident.job && captures.absolute("began_ns", row) >= incident.opened
    && (Number.isNaN(incident.closed) || captures.absolute("began_ns", row) <= incident.closed));
  return rows.length === 1 ? captures.text("id", rows[0]!) : "";
}

export interface StepTimes {
  x: Float64Array; // Unix ns
  slowest: Float64Array; // of the ranks at that time
  middle: Float64Array;
  ranks: number;
}

// From samples of the table `step`: of all ranks at a time the slowest and the median. A moment at which no step ended is none.
export function stepTimesOf(tables: readonly Table[], stepNs: number): StepTimes {
  const at = new Map<number, number[]>();
  const ranks = new Set<string>();
  for (const table of tables) {
    if (table.name !== "step" || !table.has("step_ns")) continue;
    for (let row = 0; row < table.rows; ++row) {
      const took = table.absolute("step_ns", row);
      if (Number.isNaN(took)) continue;
      ranks.add(table.has("rank") ? table.exact("rank", row) : "");
      const moment = Math.floor(table.absolute("time_ns", row) / stepNs) * stepNs;
      at.set(moment, [...at.get(moment) ?? [], took]);
    }
  }
  const moments = [...at.keys()].sort((a, b) => a - b);
  const sorted = moments.map((moment) => at.get(moment)!.sort((a, b) => a - b));
  return {
    x: Float64Array.from(moments), slowest: Float64Array.from(sorted, (all) => all[all.length - 1]!),
    middle: Float64Array.from(sorted, (all) => all[all.length >> 1]!), ranks: ranks.size,
  };
}

const AROUND_NS = 300e9, MOST_POINTS = 600;

// Which samples show it: from some minutes before it began until some after its end, at most so many points.
export function spanAround(incident: Incident, nowNs: number): { sinceMs: number; untilMs: number; stepMs: number } {
  const began = Number.isNaN(incident.since) ? incident.opened : incident.since;
  const from = Math.min(began, incident.opened) - AROUND_NS;
  const to = Number.isNaN(incident.closed) ? nowNs : Math.min(nowNs, incident.closed + AROUND_NS);
  const stepMs = Math.max(1, Math.ceil((to - from) / MOST_POINTS / 1e9)) * 1000;
  return { sinceMs: Math.max(1, Math.ceil((nowNs - from) / 1e6)), untilMs: Math.max(0, Math.floor((nowNs - to) / 1e6)), stepMs };
}
