// What a capture is asked for, and what became of it: plain data for the view of captures.
import type { Host } from "../../data/agents.ts";
import type { Table } from "../../data/table.ts";

// One capture of one agent; a capture of several hosts is one of each.
export interface CaptureId {
  host: string;
  id: string;
}

// In the address: HOST=ID;HOST=ID
export const captureText = (ids: readonly CaptureId[]): string =>
  ids.map(({ host, id }) => `${encodeURIComponent(host)}=${encodeURIComponent(id)}`).join(";");

export function capturesOf(text: string): CaptureId[] {
  return text.split(";").flatMap((each) => {
    const [host, id, ...more] = each.split("=");
    return host && id && more.length === 0 ? [{ host: decode(host), id: decode(id) }] : [];
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export interface Wish {
  job: string;
  ranks: string; // 0,3-7; empty: all
  by: "duration" | "iterations";
  durationMs: number;
  iterations: number;
  roundup: number; // 0: none
  warmupMs: number;
  output: string; // empty: the agent's first
  shapes: boolean;
  stacks: boolean;
  memory: boolean;
  flops: boolean;
  modules: boolean;
  all: boolean; // launchers and workers, too
}

export const USUAL: Wish = {
  job: "", ranks: "", by: "duration", durationMs: 500, iterations: 3, roundup: 0, warmupMs: 5000, output: "",
  shapes: false, stacks: false, memory: false, flops: false, modules: false, all: false,
};

// What several hosts need to hear of it before they begin at one time.
const START_IN_MS = 15_000;
const MOST_RANKS = 100_000;

export function ranksIn(text: string): number[] | null {
  const ranks: number[] = [];
  for (const part of text.split(",").map((each) => each.trim()).filter((each) => each !== "")) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (match === null) return null;
    const first = Number(match[1]), last = Number(match[2] ?? match[1]);
    if (last < first || ranks.length + last - first >= MOST_RANKS) return null;
    for (let rank = first; rank <= last; ++rank) ranks.push(rank);
  }
  return ranks;
}

// As POST /v1/captures takes it (src/wire/capture_request.h). `hosts`: that are asked. Throws a sentence.
export function requestOf(wish: Wish, hosts: number, nowMs: number): Record<string, unknown> {
  const ranks = ranksIn(wish.ranks);
  if (ranks === null) throw new Error(`"${wish.ranks}" names no ranks; write them as 0,3-7`);
  const request: Record<string, unknown> = { warmup_ms: wish.warmupMs };
  if (ranks.length > 0) request["ranks"] = ranks;
  if (wish.job !== "") request["job"] = wish.job;
  if (wish.output !== "") request["output"] = wish.output;
  if (wish.by === "duration") request["duration_ms"] = wish.durationMs;
  else request["iterations"] = wish.iterations;
  if (wish.by === "iterations" && wish.roundup > 0) request["roundup"] = wish.roundup;
  // At an iteration each process begins by its own count; a time has to be one for all.
  if (wish.by === "duration" && hosts > 1) request["start_time_ms"] = Math.round(nowMs + START_IN_MS);
  for (const name of ["shapes", "stacks", "memory", "flops", "modules", "all"] as const) if (wish[name]) request[name] = true;
  return request;
}

// The hosts to ask: those that have a process of the job, where one is named.
export function hostsFor(wish: Wish, processes: readonly { host: string; table: Table }[], hosts: readonly Host[]): Host[] {
  return hosts.filter((host) => processes.some(({ host: name, table }) => name === host.name &&
    (wish.job === "" ? table.rows > 0 : table.rowsWhere("job", wish.job).length > 0)));
}

// The same command for a terminal. `where`: which agents.
export function commandOf(wish: Wish, where: string): string {
  const words = ["spotter trace"];
  if (wish.job !== "") words.push(`--job ${quoted(wish.job)}`);
  if (wish.ranks !== "") words.push(`--rank ${wish.ranks.replaceAll(" ", "")}`);
  words.push(wish.by === "duration" ? `--duration ${wish.durationMs}ms` : `--iterations ${wish.iterations}`);
  if (wish.by === "iterations" && wish.roundup > 0) words.push(`--roundup ${wish.roundup}`);
  if (wish.warmupMs !== USUAL.warmupMs) words.push(`--warmup ${wish.warmupMs}ms`);
  for (const name of ["shapes", "stacks", "memory", "flops", "modules", "all"] as const) if (wish[name]) words.push(`--${name}`);
  if (wish.output !== "") words.push(`--output ${quoted(wish.output)}`);
  if (where !== "") words.push(`--host ${quoted(where)}`);
  return `${words.join(" ")} --analyze`;
}

const quoted = (text: string): string => (/^[\w@%+=:,./[\]-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// What an agent has made of the files of a capture (src/wire/file_results.h), as far as it is shown: how long the steps of
// each rank are.
export interface FileSteps {
  path: string;
  rank: string;
  steps: number;
  meanStepNs: number; // NaN: no steps
  longestStepNs: number;
  busy: number; // part of the steps in which the device is busy; NaN: not known
  events: number;
}

interface Results {
  analyses: { name: string; columns: [string, string, string][] }[];
  files: { path: string; name_rank: number | null; contents_rank: number | null; receipt_rank: number | null; tables: { rows: unknown[][] }[] }[];
}

export function stepsOf(text: string): FileSteps[] {
  const results = JSON.parse(text) as Results;
  const columnOf = (analysis: string, name: string): [number, number] => {
    const at = results.analyses.findIndex((each) => each.name === analysis);
    return [at, at < 0 ? -1 : results.analyses[at]!.columns.findIndex(([each]) => each === name)];
  };
  return results.files.map((file) => {
    const values = (analysis: string, name: string): number[] => {
      const [at, column] = columnOf(analysis, name);
      const rows = file.tables[at]?.rows ?? [];
      return column < 0 ? [] : rows.map((row) => (typeof row[column] === "number" ? row[column] : Number.NaN));
    };
    const steps = values("steps", "dur_ns");
    const total = steps.reduce((sum, one) => sum + one, 0);
    const busy = values("steps", "device_busy_ns").reduce((sum, one) => sum + one, 0);
    return {
      path: file.path,
      rank: String(file.contents_rank ?? file.name_rank ?? file.receipt_rank ?? ""),
      steps: steps.length,
      meanStepNs: steps.length > 0 ? total / steps.length : Number.NaN,
      longestStepNs: steps.length > 0 ? Math.max(...steps) : Number.NaN,
      busy: total > 0 ? busy / total : Number.NaN,
      events: values("summary", "events")[0] ?? Number.NaN,
    };
  });
}

// Which rank is slower than the others, if one is by more than a twentieth.
export function slowestOf(files: readonly FileSteps[]): string {
  const known = files.filter((file) => !Number.isNaN(file.meanStepNs)).sort((a, b) => b.meanStepNs - a.meanStepNs);
  if (known.length < 2) return "";
  const [slowest, ...others] = known;
  const middle = others[others.length >> 1]!.meanStepNs;
  const more = slowest!.meanStepNs / middle - 1;
  const who = slowest!.rank === "" ? slowest!.path : `rank ${slowest!.rank}`;
  if (more < 0.05) return "The ranks' steps take about the same time.";
  return `The steps of ${who} take ${(more * 100).toFixed(0)} % more time than those of the others.`;
}
