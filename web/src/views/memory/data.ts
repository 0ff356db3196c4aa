// What the view of memory shows, from the tables of the allocators' events. Times are ns since the job's first span.
import { tableFrom, textsColumn, type Cell } from "../../data/made_table.ts";
import { allRows, rowsThat, sumsBy } from "../../data/rows.ts";
import { Table } from "../../data/table.ts";
import { timesOf } from "../../data/table_columns.ts";
import { parseFrame } from "../../frames.ts";
import type { TimeWindow } from "../../timeline/time_window.ts";

export interface Device {
  key: string; // rank/type/number, as the address has it
  label: string;
  peak: number;
  peakReserved: number; // NaN: not known
  peakNs: number;
  end: number; // in use after the last event
  capacity: number; // NaN: not known
}

const keyOf = (table: Table, row: number): string => ["rank", "device_type", "device_id"].map((name) => table.exact(name, row)).join("/");

function labelOf(table: Table, row: number): string {
  const rank = table.exact("rank", row), type = table.text("device_type", row);
  return `${rank === "" ? "" : `rank ${rank}, `}${type === "CPU" ? "CPU" : `${type} ${table.exact("device_id", row)}`}`;
}

// Of memory_timeline, with the sizes that device_summary tells; accelerators before CPUs, the fullest first.
export function devicesOf(timeline: Table, summary: Table | null, startNs: bigint): Device[] {
  const capacities = new Map<string, number>();
  for (let row = 0; row < (summary?.rows ?? 0); ++row)
    capacities.set(`${summary!.exact("rank", row)}/${summary!.exact("device", row)}`, summary!.absolute("memory_bytes", row));
  const peakAt = timesOf(timeline, "peak_time_ns", startNs);
  const isCpu = (device: Device) => Number(device.key.includes("/CPU/"));
  return allRows(timeline).map((row) => ({
    key: keyOf(timeline, row),
    label: labelOf(timeline, row),
    peak: timeline.absolute("peak_allocated_bytes", row),
    peakReserved: timeline.absolute("peak_reserved_bytes", row),
    peakNs: peakAt(row),
    end: timeline.absolute("end_allocated_bytes", row),
    capacity: timeline.text("device_type", row) === "CPU" ? Number.NaN : capacities.get(`${timeline.exact("rank", row)}/${timeline.exact("device_id", row)}`) ?? Number.NaN,
  })).sort((a, b) => isCpu(a) - isCpu(b) || b.peak - a.peak);
}

// By the values of the first row that it has, as there may be millions.
export function rowsOf(table: Table, device: string): number[] {
  const columns = ["rank", "device_type", "device_id"].map((name) => table.column(name));
  const is = (row: number) => keyOf(table, row) === device;
  let first = -1;
  for (let row = 0; row < table.rows && first < 0; ++row) {
    const isAsBefore = row > 0 && columns.every((column) => column.values[row] === column.values[row - 1]);
    if (!isAsBefore && is(row)) first = row;
  }
  return first < 0 ? [] : rowsThat(table, (row) => columns.every((column) => column.values[row] === column.values[first]) && (columns[0]!.nulls === null || is(row)));
}

export interface MemoryCurve {
  x: Float64Array;
  allocated: Float64Array;
  reserved: Float64Array;
  peak: number; // the most in use in this time, and when that was first so
  peakNs: number;
  isThinned: boolean;
}

const BUCKETS = 2000;

// What was in use within `span`, of one device. Where there are more points than can be seen, each part of the time
// keeps its first, least, most and last one.
export function curveOf(series: Table, device: string, startNs: bigint, span: TimeWindow | null): MemoryCurve {
  const time = timesOf(series, "time_ns", startNs);
  const number = (name: string) => timesOf(series, name, 0n);
  const allocated = number("allocated_bytes"), reserved = number("reserved_bytes");
  const all = rowsOf(series, device);
  const begin = span === null ? 0 : Math.max(0, all.findLastIndex((row) => time(row) <= span.from));
  const end = span === null ? all.length : all.findLastIndex((row) => time(row) <= span.to) + 1;
  const rows = all.slice(begin, Math.max(begin, end));
  let most = -1;
  rows.forEach((row, i) => {
    if (most < 0 || allocated(row) > allocated(rows[most]!)) most = i;
  });
  const kept = thinned(rows, allocated);
  // What is in use holds until the next event, and held since the one before.
  const x = kept.map((row) => Math.max(time(row), span?.from ?? -Infinity));
  const last = kept.at(-1);
  if (span !== null && last !== undefined) {
    kept.push(last);
    x.push(span.to);
  }
  return {
    x: Float64Array.from(x),
    allocated: Float64Array.from(kept, allocated),
    reserved: Float64Array.from(kept, reserved),
    peak: most < 0 ? Number.NaN : allocated(rows[most]!),
    peakNs: most < 0 ? Number.NaN : Math.max(time(rows[most]!), span?.from ?? -Infinity),
    isThinned: kept.length < rows.length,
  };
}

function thinned(rows: number[], value: (row: number) => number): number[] {
  if (rows.length <= 4 * BUCKETS) return rows.slice();
  const kept: number[] = [];
  const size = rows.length / BUCKETS;
  for (let bucket = 0; bucket < BUCKETS; ++bucket) {
    const first = Math.floor(bucket * size), last = Math.floor((bucket + 1) * size) - 1;
    let least = first, most = first;
    for (let i = first; i <= last; ++i) {
      if (value(rows[i]!) < value(rows[least]!)) least = i;
      if (value(rows[i]!) > value(rows[most]!)) most = i;
    }
    for (const place of [...new Set([first, least, most, last])].sort((a, b) => a - b)) kept.push(rows[place]!);
  }
  return kept;
}

// The pieces that are held at a moment, of rows of memory_events. What was in use before the recording is no piece.
export function heldAt(events: Table, rows: readonly number[], ns: number, startNs: bigint): number[] {
  const allocated = timesOf(events, "allocated_ns", startNs), released = timesOf(events, "released_ns", startNs);
  return rows.filter((row) => allocated(row) <= ns && !(released(row) <= ns));
}

// Pieces that are allocated or released within the time.
export function movedIn(events: Table, rows: readonly number[], span: TimeWindow, startNs: bigint): number[] {
  const allocated = timesOf(events, "allocated_ns", startNs), released = timesOf(events, "released_ns", startNs);
  const isIn = (ns: number) => ns >= span.from && ns <= span.to;
  return rows.filter((row) => isIn(allocated(row)) || isIn(released(row)));
}

// As memory_at_peak, of another moment: `total` is in use, and what no piece tells of it is of before.
export function holdersTable(events: Table, held: readonly number[], total: number): Table {
  const groups = new Map<string, { cells: [string | null, string | null, string | null, string | null]; bytes: number; pieces: number }>();
  const known = (name: string, row: number) => events.text(name, row) || null;
  let seen = 0;
  for (const row of held) {
    const cells: [string | null, string | null, string | null, string | null] =
      [known("category", row), known("operator", row), known("phase", row), known("module", row)];
    const key = JSON.stringify(cells);
    let group = groups.get(key);
    if (group === undefined) groups.set(key, (group = { cells, bytes: 0, pieces: 0 }));
    group.bytes += events.absolute("bytes", row);
    group.pieces += 1;
    seen += events.absolute("bytes", row);
  }
  const share = (bytes: number) => (total > 0 ? bytes / total : null);
  const rows: Cell[][] = [...groups.values()].map(({ cells, bytes, pieces }) => [cells[0], cells[1], bytes, share(bytes), pieces, cells[2], cells[3]]);
  if (total - seen > 0) rows.push(["unknown", null, total - seen, share(total - seen), null, "before", null]);
  rows.sort((a, b) => (b[2] as number) - (a[2] as number));
  return tableFrom("memory_held", [
    { name: "category", type: "text", role: "key", help: "parameters, gradients, optimizer_state, activations, temporaries or unknown" },
    { name: "operator", type: "text", help: "Innermost operator around the allocation" },
    { name: "bytes", type: "integer", unit: "bytes", help: "Held at the moment of the most in use within the chosen time" },
    { name: "ratio", type: "real", unit: "ratio", help: "Share of what is in use at that moment" },
    { name: "pieces", type: "integer", unit: "count", help: "Number of allocations; not known of what is from before the recording" },
    { name: "phase", type: "text", help: "Phase of training that it was allocated in; before: not in the recording" },
    { name: "module", type: "text", help: "Innermost nn.Module around the allocation" },
  ], rows);
}

// What the pieces of each operator were within a time: allocated, released, and what that grew to.
export function operatorsTable(events: Table, rows: readonly number[], span: TimeWindow, startNs: bigint): Table {
  const allocated = timesOf(events, "allocated_ns", startNs), released = timesOf(events, "released_ns", startNs);
  const isIn = (ns: number) => ns >= span.from && ns <= span.to;
  const sums = new Map<string, [allocations: number, bytes: number, releases: number, released: number]>();
  for (const row of rows) {
    const came = isIn(allocated(row)), went = isIn(released(row));
    if (!came && !went) continue;
    const name = events.text("operator", row);
    const sum = sums.get(name) ?? [0, 0, 0, 0];
    sums.set(name, sum);
    const bytes = events.absolute("bytes", row);
    if (came) (sum[0] += 1), (sum[1] += bytes);
    if (went) (sum[2] += 1), (sum[3] += bytes);
  }
  const all = [...sums].sort(([, a], [, b]) => b[1] - a[1] || b[3] - a[3]);
  return tableFrom("memory_moved", [
    { name: "operator", type: "text", role: "key", help: "That allocated; empty: outside operators, or before the recording" },
    { name: "allocations", type: "integer", unit: "count", help: "Its allocations in the chosen time" },
    { name: "allocated_bytes", type: "integer", unit: "bytes", help: "Sum of their sizes" },
    { name: "releases", type: "integer", unit: "count", help: "How many of its pieces were released in the chosen time, wherever that was" },
    { name: "released_bytes", type: "integer", unit: "bytes", help: "Sum of their sizes" },
    { name: "increase_bytes", type: "integer", unit: "bytes", help: "allocated_bytes less released_bytes" },
  ], all.map(([name, [count, bytes, releases, gone]]) => [name || null, count, bytes, releases, gone, bytes - gone]));
}

// Of the pieces that are held, the largest one of each row of memory_at_peak; none of a row of which no piece is held.
export function largestPieces(events: Table, held: readonly number[], holders: Table): Map<number, number> {
  const names = ["category", "operator", "phase", "module"];
  const whose = (table: Table, row: number) => JSON.stringify(names.map((name) => table.text(name, row)));
  const largest = new Map<string, number>();
  for (const row of held) {
    const key = whose(events, row), before = largest.get(key);
    if (before === undefined || events.absolute("bytes", row) > events.absolute("bytes", before)) largest.set(key, row);
  }
  const found = allRows(holders).map((row) => [row, largest.get(whose(holders, row))] as const);
  return new Map(found.filter((each): each is [number, number] => each[1] !== undefined));
}

const MOST_LINES = 12;

// The largest rows of memory_at_peak whose line of Python can be told, each with its largest piece: what was allocated outside
// of operators is not known to be of a thread.
export const piecesWithLines = (events: Table, pieces: ReadonlyMap<number, number>, holders: Table): [holder: number, piece: number][] => [...pieces]
  .filter(([, piece]) => events.text("operator", piece) !== "")
  .sort(([a], [b]) => holders.absolute("bytes", b) - holders.absolute("bytes", a)).slice(0, MOST_LINES);

// By row of memory_at_peak the line of Python that allocated its piece.
export function linesOf(events: Table, wanted: readonly [holder: number, piece: number][], spans: Table, startNs: bigint): Map<number, string> {
  const allocated = timesOf(events, "allocated_ns", startNs);
  const stacks = stacksAt(spans, wanted.map(([, piece]) => ({ ns: allocated(piece), operator: events.text("operator", piece) })), startNs);
  const lines = new Map<number, string>();
  wanted.forEach(([holder], i) => {
    const line = stacks[i]!.find((frame) => frame.kind === "python" && parseFrame(frame.name) !== null);
    if (line !== undefined) lines.set(holder, line.name);
  });
  return lines;
}

// The same with a column of them.
export const withLines = (holders: Table, lines: ReadonlyMap<number, string>): Table => lines.size === 0 ? holders
  : new Table(holders.name, holders.rows, [...holders.columns, textsColumn("source_line", allRows(holders).map((row) => lines.get(row) ?? ""),
    { help: "The line of Python that allocated the largest of its pieces." })], holders.notes);

export interface OperatorHolds {
  operator: string;
  bytes: number;
  pieces: number;
}

// Who holds how much in all its pieces, the most first.
export function operatorsThatHold(events: Table, held: readonly number[]): OperatorHolds[] {
  const sums = new Map<string, OperatorHolds>();
  for (const row of held) {
    const operator = events.text("operator", row) || "outside operators";
    const sum = sums.get(operator) ?? { operator, bytes: 0, pieces: 0 };
    sums.set(operator, sum);
    sum.bytes += events.absolute("bytes", row);
    sum.pieces += 1;
  }
  return [...sums.values()].sort((a, b) => b.bytes - a.bytes);
}

export interface Holder {
  category: string;
  bytes: number;
}

export const BEFORE = "from before the recording";

// By what it is for, the largest first.
export function categoriesOf(holders: Table): Holder[] {
  const sums = sumsBy(holders, "bytes", (row) => {
    const isBefore = holders.text("category", row) === "unknown" && holders.text("phase", row) === "before";
    return isBefore ? BEFORE : holders.text("category", row).replace("_", " ");
  });
  return [...sums].map(([category, bytes]) => ({ category, bytes })).sort((a, b) => b.bytes - a.bytes);
}

export interface SpanAround {
  name: string;
  kind: string;
}

// The spans of the host that are around each of these moments, the innermost first, on the thread that is inside `operator`
// then; all in one pass, as there may be millions.
export function stacksAt(spans: Table, moments: readonly { ns: number; operator: string }[], startNs: bigint): SpanAround[][] {
  const start = timesOf(spans, "start_ns", startNs), duration = timesOf(spans, "dur_ns", 0n);
  const around: number[][] = moments.map(() => []);
  for (let row = 0; row < spans.rows; ++row) {
    const from = start(row), to = from + duration(row);
    for (let i = 0; i < moments.length; ++i) if (from <= moments[i]!.ns && moments[i]!.ns < to) around[i]!.push(row);
  }
  const has = (row: number, other: number, name: string) => spans.exact(name, row) === spans.exact(name, other);
  return moments.map(({ operator }, i) => {
    const host = around[i]!.filter((row) => spans.text("side", row) === "host").sort((a, b) => spans.number("depth", b) - spans.number("depth", a));
    const first = host.findIndex((row) => spans.text("name", row) === operator); // what it called itself is no caller
    return host.slice(first < 0 ? host.length : first)
      .filter((row) => has(row, host[first]!, "process") && has(row, host[first]!, "thread"))
      .map((row) => ({ name: spans.text("name", row), kind: spans.text("kind", row) }));
  });
}
