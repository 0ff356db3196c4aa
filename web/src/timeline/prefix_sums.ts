// Sums of time by kind over the spans of a lane, so that any run of them is summed by two look-ups per kind.
import { KIND_NAMES } from "./kinds.ts";

export interface Timed {
  starts: Float64Array;
  ends: Float64Array;
  kinds: Uint8Array;
}

export interface PrefixSums {
  every: number; // a sum for each so many spans
  kinds: number[]; // those that the lane has
  sums: Float64Array[]; // of each of these: time of the first i * every spans
}

export function prefixSums(lane: Timed, every: number): PrefixSums {
  const { starts, ends, kinds } = lane;
  const present = new Uint8Array(KIND_NAMES.length);
  for (let i = 0; i < kinds.length; ++i) present[kinds[i]] = 1;
  const codes = KIND_NAMES.map((_, kind) => kind).filter((kind) => present[kind] === 1);
  const entries = Math.floor(starts.length / every) + 1;
  const sums = codes.map(() => new Float64Array(entries));
  codes.forEach((code, k) => {
    const into = sums[k]!;
    let sum = 0;
    let entry = 0;
    let next = 0;
    for (let i = 0; i < starts.length; ++i) {
      if (i === next) {
        into[entry++] = sum;
        next += every;
      }
      if (kinds[i] === code) sum += ends[i]! - starts[i]!;
    }
    if (entry < entries) into[entry] = sum;
  });
  return { every, kinds: codes, sums };
}

function addBefore(lane: Timed, sums: PrefixSums, end: number, sign: number, times: Float64Array): void {
  const entry = Math.floor(end / sums.every);
  for (let k = 0; k < sums.kinds.length; ++k) times[sums.kinds[k]] += sign * sums.sums[k][entry];
  for (let i = entry * sums.every; i < end; ++i) times[lane.kinds[i]] += sign * (lane.ends[i] - lane.starts[i]);
}

// Adds the time by kind of the spans [begin, end).
export function addTimes(lane: Timed, sums: PrefixSums, begin: number, end: number, times: Float64Array): void {
  if (end - begin <= 8) {
    for (let i = begin; i < end; ++i) times[lane.kinds[i]] += lane.ends[i] - lane.starts[i];
    return;
  }
  addBefore(lane, sums, end, 1, times);
  addBefore(lane, sums, begin, -1, times);
}
