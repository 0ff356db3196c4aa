// Sums over the spans of a time window, and where a run stands among those of the same name.
import { KIND_NAMES } from "./kinds.ts";
import type { Lane, RankSpans } from "./lanes.ts";
import { lowerBound } from "./search_sorted.ts";

export interface NameTime {
  name: number;
  kind: number;
  count: number;
  time: number; // of it inside the window
  longest: number; // duration of the longest, whole
}

// What ran in [from, to) on some lanes, by name and kind, the most time first.
export function timeByName(lanes: Iterable<Lane>, from: number, to: number): NameTime[] {
  const sums = new Map<number, NameTime>();
  for (const lane of lanes) {
    for (let i = lowerBound(lane.ends, from); i < lane.starts.length && lane.starts[i] < to; ++i) {
      const time = Math.min(lane.ends[i], to) - Math.max(lane.starts[i], from);
      if (time < 0 || (time === 0 && lane.ends[i] > lane.starts[i])) continue;
      const key = lane.names[i] * KIND_NAMES.length + lane.kinds[i];
      let sum = sums.get(key);
      if (sum === undefined) {
        sum = { name: lane.names[i], kind: lane.kinds[i], count: 0, time: 0, longest: 0 };
        sums.set(key, sum);
      }
      ++sum.count;
      sum.time += time;
      sum.longest = Math.max(sum.longest, lane.ends[i] - lane.starts[i]);
    }
  }
  return [...sums.values()].sort((a, b) => b.time - a.time || a.name - b.name);
}

export interface Standing {
  count: number;
  total: number;
  median: number;
  longest: number;
  percentile: number; // share of the runs that last no longer than this one, in percent
}

// Among those of devices or of threads: an annotation is on both, and ran once.
export function standing(ranks: Iterable<RankSpans>, name: number, duration: number, onDevice: boolean): Standing {
  const durations: number[] = [];
  for (const { tracks } of ranks)
    for (const lane of tracks.flatMap((track) => (track.device >= 0 === onDevice ? track.lanes : [])))
      for (let i = 0; i < lane.names.length; ++i) if (lane.names[i] === name) durations.push(lane.ends[i] - lane.starts[i]);
  const sorted = Float64Array.from(durations).sort();
  const count = sorted.length;
  const upTo = lowerBound(sorted, duration + 1);
  return {
    count,
    total: sorted.reduce((a, b) => a + b, 0),
    median: count > 0 ? (sorted[(count - 1) >> 1] + sorted[count >> 1]) / 2 : 0,
    longest: count > 0 ? sorted[count - 1] : 0,
    percentile: count > 0 ? (100 * upTo) / count : 0,
  };
}

export interface RowsOfName {
  name: number;
  count: number;
  time: number;
  first: number; // row
}

// Some rows of a rank by name, the most time first.
export function timeOfRows({ all }: RankSpans, rows: readonly number[]): RowsOfName[] {
  const sums = new Map<number, RowsOfName>();
  for (const row of rows) {
    const name = all.names[row]!;
    const sum = sums.get(name) ?? { name, count: 0, time: 0, first: row };
    sums.set(name, sum);
    ++sum.count;
    sum.time += all.ends[row]! - all.starts[row]!;
  }
  return [...sums.values()].sort((a, b) => b.time - a.time || a.name - b.name);
}
