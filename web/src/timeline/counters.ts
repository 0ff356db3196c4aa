// Values over time that hold until the next one: queues, busy shares, memory, bandwidth.
import type { Table, Unit } from "../data/table.ts";
import { rankOf, runsOf, timesOf } from "../data/table_columns.ts";
import { gallop, lowerBound } from "./search_sorted.ts";

export interface Counter {
  table: string;
  track: string; // stable name
  title: string;
  unit: Unit;
  times: Float64Array;
  values: Float64Array;
  largest: number;
}

interface Kind {
  table: string;
  value: string;
  short: string;
  title: string;
  keys: string[]; // columns that tell one counter of the table from another
}

export const COUNTER_KINDS: Kind[] = [
  { table: "device_busy_series", value: "busy_ratio", short: "busy", title: "device busy", keys: ["device"] },
  { table: "sm_efficiency_series", value: "sm_efficiency_ratio", short: "sm", title: "multiprocessors", keys: ["device"] },
  { table: "queue_length_series", value: "queue_length", short: "queue", title: "queue", keys: ["device", "stream"] },
  { table: "memory_timeline_series", value: "allocated_bytes", short: "allocated", title: "allocated", keys: ["device_type", "device_id"] },
  { table: "memory_timeline_series", value: "reserved_bytes", short: "reserved", title: "reserved", keys: ["device_type", "device_id"] },
  { table: "memory_bandwidth_series", value: "bytes_per_s", short: "bandwidth", title: "bandwidth", keys: ["device", "type"] },
];

export const COUNTER_TABLES = [...new Set(COUNTER_KINDS.map((kind) => kind.table))];

// The counters of a rank in a table of it or of all ranks. What is null is not known, and keeps no value.
export function countersOf(table: Table, rank: string, startNs: bigint): Counter[] {
  return COUNTER_KINDS.filter((kind) => kind.table === table.name).flatMap((kind) => ofKind(table, kind, rank, startNs));
}

function ofKind(table: Table, kind: Kind, rank: string, startNs: bigint): Counter[] {
  const column = table.column(kind.value);
  const time = timesOf(table, "time_ns", startNs);
  const value = timesOf(table, kind.value, 0n);
  const counters: Counter[] = [];
  for (const [begin, end] of runsOf(table, ["rank", ...kind.keys])) {
    if (rankOf(table, begin) !== rank) continue;
    const words = kind.keys.map((key) => table.exact(key, begin));
    const times: number[] = [];
    const values: number[] = [];
    let largest = 0;
    for (let row = begin; row < end; ++row) {
      const number = value(row);
      if (Number.isNaN(number)) continue;
      times.push(time(row));
      values.push(number);
      largest = Math.max(largest, number);
    }
    if (times.length > 0)
      counters.push({
        table: kind.table,
        track: [rank, ...trackWords(kind, words)].join("/"),
        title: titleOf(kind, words),
        unit: column.unit,
        times: Float64Array.from(times),
        values: Float64Array.from(values),
        largest,
      });
  }
  return counters;
}

function trackWords(kind: Kind, words: string[]): string[] {
  if (kind.keys[0] === "device") return [`d${words[0]}`, kind.short, ...words.slice(1).map((word) => word.replaceAll(" ", "-"))];
  return [kind.short, ...words.map((word) => word.replaceAll(" ", "-"))];
}

function titleOf(kind: Kind, words: string[]): string {
  if (kind.short === "queue") return `queue of stream ${words[1]}`;
  if (kind.short === "bandwidth") return words[1];
  if (kind.keys[0] === "device_type") return `${kind.title}, ${words.join(" ").toLowerCase()}`;
  return kind.title;
}

// The value that holds at a time; NaN before the first.
export function valueAt(counter: Counter, time: number): number {
  const after = gallop(counter.times, time, 0);
  const i = counter.times[after] === time ? lastOf(counter.times, after) : after - 1;
  return i < 0 ? NaN : counter.values[i];
}

function lastOf(times: Float64Array, i: number): number {
  while (i + 1 < times.length && times[i + 1] === times[i]) ++i;
  return i;
}

// The least and the largest value in each column of pixels, with the one that holds as it begins; NaN before the first.
export function columnRanges(
  counter: Counter,
  from: number,
  scale: number,
  columns: number,
): { least: Float64Array; most: Float64Array } {
  const { times, values } = counter;
  const least = new Float64Array(columns).fill(NaN);
  const most = new Float64Array(columns).fill(NaN);
  let i = lowerBound(times, from);
  let held = i > 0 ? values[i - 1] : NaN;
  for (let c = 0; c < columns; ++c) {
    const end = from + (c + 1) * scale;
    let low = held;
    let high = held;
    for (; i < times.length && times[i] < end; ++i) {
      held = values[i];
      if (!(held >= low)) low = held;
      if (!(held <= high)) high = held;
    }
    least[c] = low;
    most[c] = high;
  }
  return { least, most };
}
