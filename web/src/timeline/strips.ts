// How busy each rank was, in buckets of time: what is shown of a rank before its spans are loaded, and the picture of
// the whole job.
import type { Table } from "../data/table.ts";
import { rankOf, runsOf, timesOf } from "../data/table_columns.ts";
import type { TimeWindow } from "./time_window.ts";

export const STRIP_PARTS = ["compute", "communication", "memory", "host"] as const;

export interface Strip {
  from: number;
  bucket: number; // ns
  busy: Float32Array;
  parts: Float32Array[]; // as STRIP_PARTS
  hasDevice: boolean; // something ran on a device
}

export function stripsOf(table: Table, startNs: bigint): Map<string, Strip> {
  const time = timesOf(table, "time_ns", startNs);
  const bucket = timesOf(table, "bucket_ns", 0n);
  const busy = timesOf(table, "busy_ratio", 0n);
  const parts = STRIP_PARTS.map((part) => timesOf(table, `${part}_ratio`, 0n));
  const strips = new Map<string, Strip>();
  for (const [begin, end] of runsOf(table, ["rank"])) {
    const width = bucket(begin);
    const count = Math.round((time(end - 1) - time(begin)) / width) + 1;
    const strip: Strip = {
      from: time(begin),
      bucket: width,
      busy: new Float32Array(count),
      parts: parts.map(() => new Float32Array(count)),
      hasDevice: false,
    };
    for (let row = begin; row < end; ++row) {
      const at = Math.round((time(row) - strip.from) / width);
      strip.busy[at] = busy(row);
      parts.forEach((part, p) => (strip.parts[p]![at] = part(row)));
    }
    strip.hasDevice = strip.busy.some((share) => share > 0);
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
export function meanOf(values: Float32Array, strip: { from: number; bucket: number }, from: number, to: number): number {
  const first = Math.max(0, Math.floor((from - strip.from) / strip.bucket));
  const last = Math.min(values.length - 1, Math.ceil((to - strip.from) / strip.bucket) - 1);
  let sum = 0;
  for (let i = first; i <= last; ++i) {
    const begin = strip.from + i * strip.bucket;
    sum += values[i]! * (Math.min(begin + strip.bucket, to) - Math.max(begin, from));
  }
  return to > from ? sum / (to - from) : 0;
}

// What a rank does most in a picture of one colour: device work, else operators.
const activityOf = (strip: Strip): Float32Array => (strip.hasDevice ? strip.busy : strip.parts[STRIP_PARTS.indexOf("host")]!);

// The mean of several ranks. All strips of a job have the same buckets.
export function meanStrip(strips: readonly (Strip | undefined)[]): { from: number; bucket: number; values: Float32Array } | undefined {
  const those = strips.filter((strip) => strip !== undefined);
  const all = extentOf(those);
  if (!all) return undefined;
  const { bucket } = those[0]!;
  const values = new Float32Array(Math.round((all.to - all.from) / bucket));
  for (const strip of those) {
    const first = Math.round((strip.from - all.from) / bucket);
    const activity = activityOf(strip);
    for (let i = 0; i < activity.length; ++i) values[first + i]! += activity[i]! / strips.length;
  }
  return { from: all.from, bucket, values };
}
