// Why the devices were idle: shares of device_idle_breakdown, and the gaps themselves, told by the same rule from a rank's
// spans. Times are ns since the job's first span.
import { allRows } from "../../data/rows.ts";
import type { Table } from "../../data/table.ts";
import { integersOf, rankOf, timesOf } from "../../data/table_columns.ts";
import type { BarPart } from "../../widgets/bars.tsx";
import { CAUSES } from "../shared/parts_of_time.ts";

export interface IdleRank {
  rank: string;
  idle: number;
  parts: BarPart[]; // without what is nowhere
  largest: string; // name of the cause with the most time; "" if there is none
  share: number; // of it
}

export function idleRanks(table: Table): IdleRank[] {
  const names = Object.keys(CAUSES);
  const rows = allRows(table);
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
  const { rows, starts, ends, launches } = workOf(spans, startNs);
  const latest = latestLaunches(rows, launches, spans);
  const gaps: Gap[] = [];
  let busyUntil = starts[0] ?? 0;
  for (let i = 0; i < rows.length; ++i) {
    const start = starts[i]!, launched = launches[i]!;
    if (start > busyUntil) {
      const cause = launched > busyUntil ? "host_wait" : start - busyUntil < BETWEEN_KERNELS_NS ? "kernel_wait" : latest[i]! <= busyUntil ? "other" : "unknown";
      gaps.push({ start: busyUntil, end: start, cause, next: spans.text("name", rows[i]!) });
    }
    busyUntil = Math.max(busyUntil, ends[i]!);
  }
  return gaps;
}

interface Work {
  rows: Uint32Array; // in order of start
  starts: Float64Array;
  ends: Float64Array;
  launches: Float64Array; // when each was launched; NaN: not known
}

// There may be millions, so that they are in columns.
function workOf(spans: Table, startNs: bigint): Work {
  const start = timesOf(spans, "start_ns", startNs), duration = timesOf(spans, "dur_ns", 0n);
  const event = integersOf(spans, "event"), link = integersOf(spans, "link");
  const isWork = spans.column("kind").words.map((word) => WORK.has(word));
  const isDevice = spans.column("side").words.map((word) => word === "device");
  const isAnnotation = spans.column("name").words.map((word) => ANNOTATION.test(word));
  const kinds = spans.column("kind").values, sides = spans.column("side").values, names = spans.column("name").values;
  const found: number[] = [];
  let events = 0;
  for (let row = 0; row < spans.rows; ++row) {
    events = Math.max(events, (event(row) ?? -1) + 1);
    if (isDevice[Number(sides[row])] && isWork[Number(kinds[row])] && !isAnnotation[Number(names[row])]) found.push(row);
  }
  const calls = new Float64Array(events).fill(Number.NaN); // starts of events on the host
  for (let row = 0; row < spans.rows; ++row) {
    const own = event(row);
    if (own !== null && !isDevice[Number(sides[row])] && Number.isNaN(calls[own]!)) calls[own] = start(row);
  }
  const allStarts = new Float64Array(spans.rows), allLaunches = new Float64Array(spans.rows);
  for (const row of found) {
    allStarts[row] = start(row);
    allLaunches[row] = calls[link(row) ?? events] ?? Number.NaN;
  }
  // Of several that end a gap the one that was launched first tells why it is there.
  const late = (row: number) => (Number.isNaN(allLaunches[row]!) ? Number.MAX_VALUE : allLaunches[row]!);
  const rows = Uint32Array.from(found).sort((a, b) => allStarts[a]! - allStarts[b]! || late(a) - late(b));
  return {
    rows,
    starts: Float64Array.from(rows, (row) => allStarts[row]!),
    ends: Float64Array.from(rows, (row) => allStarts[row]! + duration(row)),
    launches: Float64Array.from(rows, (row) => allLaunches[row]!),
  };
}

// When each was launched at the latest: a stream runs in the order of the launches, so that what is not recorded of one was
// not after those of what follows it there.
function latestLaunches(rows: Uint32Array, launches: Float64Array, spans: Table): Float64Array {
  const device = integersOf(spans, "device"), stream = integersOf(spans, "stream");
  const latest = new Float64Array(rows.length), next = new Map<number, Map<number, number>>();
  for (let i = rows.length - 1; i >= 0; --i) {
    const onDevice = device(rows[i]!) ?? -1, onStream = stream(rows[i]!) ?? -1;
    let streams = next.get(onDevice);
    if (streams === undefined) next.set(onDevice, (streams = new Map()));
    const bound = streams.get(onStream) ?? Infinity;
    const launched = launches[i]!;
    latest[i] = Number.isNaN(launched) ? bound : launched;
    streams.set(onStream, Math.min(bound, latest[i]!));
  }
  return latest;
}

export interface Bucket {
  from: number; // ns, inclusive
  to: number; // exclusive
  longest: Gap | null;
  counts: Map<string, number>;
  times: Map<string, number>;
}

// Lengths in steps of 1, 2, 5, 10, ...; from the shortest gap's to the longest one's.
export function histogram(gaps: readonly Gap[]): Bucket[] {
  const buckets = new Map<number, Bucket>();
  const empty = (place: number): Bucket => ({ from: edge(place), to: edge(place + 1), longest: null, counts: new Map(), times: new Map() });
  for (const gap of gaps) {
    const length = gap.end - gap.start;
    const at = stepOf(length);
    let bucket = buckets.get(at);
    if (bucket === undefined) buckets.set(at, (bucket = empty(at)));
    if (bucket.longest === null || length > bucket.longest.end - bucket.longest.start) bucket.longest = gap;
    bucket.counts.set(gap.cause, (bucket.counts.get(gap.cause) ?? 0) + 1);
    bucket.times.set(gap.cause, (bucket.times.get(gap.cause) ?? 0) + length);
  }
  const places = [...buckets.keys()];
  if (places.length === 0) return [];
  const first = Math.min(...places), last = Math.max(...places);
  return Array.from({ length: last - first + 1 }, (_, i) => buckets.get(first + i) ?? empty(first + i));
}

const edge = (place: number): number => [1, 2, 5][place % 3]! * 10 ** Math.floor(place / 3);

function stepOf(length: number): number {
  let place = Math.max(0, Math.floor(Math.log10(Math.max(1, length))) * 3 - 3);
  while (edge(place + 1) <= length) ++place;
  return place;
}
