// How busy each rank was, in buckets of time: what is shown of a rank before its spans are loaded, and the picture of
// the whole job.
import type { Table } from "../data/table.ts";
import type { TimeWindow } from "./time_window.ts";
import { rankOf, runsOf, timesOf } from "./table_columns.ts";

export const stripParts = ["compute", "communication", "memory", "host"] as const;

export interface Strip {
  from: number;
  bucket: number; // ns
  busy: Float32Array;
  parts: Float32Array[]; // as stripParts
}

export function stripsOf(table: Table, startNs: bigint): Map<string, Strip> {
  const time = timesOf(table, "time_ns", startNs);
  const bucket = timesOf(table, "bucket_ns", 0n);
  const busy = timesOf(table, "busy_ratio", 0n);
  const parts = stripParts.map((part) => timesOf(table, `${part}_ratio`, 0n));
  const strips = new Map<string, Strip>();
  for (const [begin, end] of runsOf(table, ["rank"])) {
    const width = bucket(begin);
    const count = Math.round((time(end - 1) - time(begin)) / width) + 1;
    const strip: Strip = {
      from: time(begin),
      bucket: width,
      busy: new Float32Array(count),
      parts: parts.map(() => new Float32Array(count)),
    };
    for (let row = begin; row < end; ++row) {
      const at = Math.round((time(row) - strip.from) / width);
      strip.busy[at] = busy(row);
      parts.forEach((part, p) => (strip.parts[p][at] = part(row)));
    }
    strips.set(rankOf(table, begin), strip);
  }
  return strips;
}

export function extentOf(strips: Iterable<Strip>): TimeWindow | undefined {
  let from = Infinity;
  let to = -Infinity;
  for (const strip of strips) {
    from = Math.min(from, strip.from);
    to = Math.max(to, strip.from + strip.bucket * strip.busy.length);
  }
  return from < to ? { from, to } : undefined;
}

// Mean of the buckets over [from, to), with each counted by how much of it is inside.
export function meanOf(values: Float32Array, strip: Strip, from: number, to: number): number {
  const first = Math.max(0, Math.floor((from - strip.from) / strip.bucket));
  const last = Math.min(values.length - 1, Math.ceil((to - strip.from) / strip.bucket) - 1);
  let sum = 0;
  for (let i = first; i <= last; ++i) {
    const begin = strip.from + i * strip.bucket;
    sum += values[i] * (Math.min(begin + strip.bucket, to) - Math.max(begin, from));
  }
  return to > from ? sum / (to - from) : 0;
}
