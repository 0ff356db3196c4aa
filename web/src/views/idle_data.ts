// Why the devices were idle: shares of device_idle_breakdown, and the gaps themselves, told by the same rule from a rank's
// spans. Times are ns since the job's first span.
import type { Table } from "../data/table.ts";
import { integersOf, rankOf, timesOf } from "../timeline/table_columns.ts";
import type { BarPart } from "../widgets/bars.tsx";

export const CAUSES: Record<string, { kind: string; label: string; means: string }> = {
  host_wait: { kind: "host-gaps", label: "waits for the host", means: "the work was launched only after the devices had run dry" },
  kernel_wait: { kind: "runtime", label: "between kernels", means: "a short pause between work that was launched in time" },
  other: { kind: "other", label: "other", means: "launched in time, and yet nothing ran: an event, another process, a slow launch" },
  unknown: { kind: "unrecorded", label: "launch not recorded", means: "the launch is not in the trace" },
};

export interface IdleRank {
  rank: string;
  idle: number;
  parts: BarPart[]; // without what is nowhere
  largest: string; // name of the cause with the most time; "" if there is none
  share: number; // of it
}

export function idleRanks(table: Table): IdleRank[] {
  const names = Object.keys(CAUSES);
  const rows = Array.from({ length: table.rows }, (_, row) => row);
  const there = names.filter((name) => rows.some((row) => table.absolute(`${name}_ns`, row) > 0));
  return rows.map((row) => {
    const idle = table.absolute("idle_ns", row);
    const times = new Map(there.map((name) => [name, table.absolute(`${name}_ns`, row)]));
    const [largest, most] = [...times].sort(([, a], [, b]) => b - a)[0] ?? ["", 0];
    return {
      rank: rankOf(table, row),
      idle,
      parts: there.map((name) => ({ kind: CAUSES[name]!.kind, label: CAUSES[name]!.label, value: times.get(name)! })),
      largest: most > 0 ? largest : "",
      share: idle > 0 ? most / idle : 0,
    };
  });
}

export interface Gap {
  start: number;
  end: number;
  cause: string;
  next: string; // what ends it
}

const BETWEEN_KERNELS_NS = 30_000; // the analyses' consecutive_kernel_delay_ns
const ANNOTATION = /^(nccl|gloo|mpi|ucc|xccl|hccl):/; // around a kernel on its stream, and no work of its own
const WORK = new Set(["compute", "communication", "memory"]);

// Times in which no device of the rank has work, between its first and its last.
export function gapsOf(spans: Table, startNs: bigint): Gap[] {
  const start = timesOf(spans, "start_ns", startNs), duration = timesOf(spans, "dur_ns", 0n);
  const event = integersOf(spans, "event"), link = integersOf(spans, "link");
  const isWork = spans.column("kind").words.map((word) => WORK.has(word));
  const isDevice = spans.column("side").words.map((word) => word === "device");
  const kinds = spans.column("kind").values, sides = spans.column("side").values, names = spans.column("name");
  const rows: number[] = [];
  const starts = new Map<number, number>(); // of events on the host
  for (let row = 0; row < spans.rows; ++row) {
    if (!isDevice[Number(sides[row])]) {
      const own = event(row);
      if (own !== null && !starts.has(own)) starts.set(own, start(row));
    } else if (isWork[Number(kinds[row])] && !ANNOTATION.test(spans.text(names, row))) {
      rows.push(row);
    }
  }
  const launched = (row: number) => starts.get(link(row) ?? -1);
  // Of several that end a gap the one that was launched first tells why it is there.
  rows.sort((a, b) => start(a) - start(b) || (launched(a) ?? Infinity) - (launched(b) ?? Infinity));
  const latest = latestLaunches(rows, launched, spans);
  const gaps: Gap[] = [];
  let busyUntil = rows.length > 0 ? start(rows[0]!) : 0;
  for (const row of rows) {
    if (start(row) > busyUntil) {
      const at = launched(row), length = start(row) - busyUntil;
      const wasInTime = latest.get(row)! <= busyUntil;
      const cause = at !== undefined && at > busyUntil ? "host_wait" : length < BETWEEN_KERNELS_NS ? "kernel_wait" : wasInTime ? "other" : "unknown";
      gaps.push({ start: busyUntil, end: start(row), cause, next: spans.text("name", row) });
    }
    busyUntil = Math.max(busyUntil, start(row) + duration(row));
  }
  return gaps;
}

// When each was launched at the latest: a stream runs in the order of the launches, so that what is not recorded of one was
// not after those of what follows it there.
function latestLaunches(rows: readonly number[], launched: (row: number) => number | undefined, spans: Table): Map<number, number> {
  const device = integersOf(spans, "device"), stream = integersOf(spans, "stream");
  const latest = new Map<number, number>(), next = new Map<string, number>();
  for (let i = rows.length - 1; i >= 0; --i) {
    const row = rows[i]!, key = `${device(row)}/${stream(row)}`;
    const bound = Math.min(launched(row) ?? Infinity, next.get(key) ?? Infinity);
    next.set(key, bound);
    latest.set(row, launched(row) ?? bound);
  }
  return latest;
}

export interface Bucket {
  from: number; // ns, inclusive
  to: number; // exclusive
  counts: Map<string, number>;
  times: Map<string, number>;
}

// Lengths in steps of 1, 2, 5, 10, ...; from the shortest gap's to the longest one's.
export function histogram(gaps: readonly Gap[]): Bucket[] {
  const buckets = new Map<number, Bucket>();
  for (const gap of gaps) {
    const length = gap.end - gap.start;
    const at = stepOf(length);
    let bucket = buckets.get(at);
    if (bucket === undefined) buckets.set(at, (bucket = { from: edge(at), to: edge(at + 1), counts: new Map(), times: new Map() }));
    bucket.counts.set(gap.cause, (bucket.counts.get(gap.cause) ?? 0) + 1);
    bucket.times.set(gap.cause, (bucket.times.get(gap.cause) ?? 0) + length);
  }
  const places = [...buckets.keys()];
  if (places.length === 0) return [];
  const first = Math.min(...places), last = Math.max(...places);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    buckets.get(first + i) ?? { from: edge(first + i), to: edge(first + i + 1), counts: new Map(), times: new Map() });
}

const edge = (place: number): number => [1, 2, 5][place % 3]! * 10 ** Math.floor(place / 3);

function stepOf(length: number): number {
  let place = Math.max(0, Math.floor(Math.log10(Math.max(1, length))) * 3 - 3);
  while (edge(place + 1) <= length) ++place;
  return place;
}
