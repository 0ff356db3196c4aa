// Which spans a search finds: by substring, whatever its case, or /expression/, over the names first and then over the
// lanes.
import { type Lane, laneOf, type RankSpans, emptySpans } from "./lanes.ts";

export interface Query {
  matches: (name: string) => boolean;
  error?: string;
}

export function parseQuery(text: string): Query | undefined {
  if (text.trim() === "") return undefined;
  const expression = /^\/(.+)\/(i?)$/.exec(text);
  if (expression === null) {
    const words = text.toLowerCase();
    return { matches: (name) => name.toLowerCase().includes(words) };
  }
  try {
    const compiled = new RegExp(expression[1], expression[2]);
    return { matches: (name) => compiled.test(name) };
  } catch (error) {
    return { matches: () => false, error: error instanceof Error ? error.message : String(error) };
  }
}

// 1 for each name that is found.
export function matchingNames(query: Query, words: readonly string[]): Uint8Array {
  return Uint8Array.from(words, (word) => (query.matches(word) ? 1 : 0));
}

export interface Found {
  count: number;
  time: number;
}

export function countFound(ranks: Iterable<RankSpans>, names: Uint8Array): Found {
  const found = { count: 0, time: 0 };
  for (const { all } of ranks) {
    for (let i = 0; i < all.names.length; ++i) {
      if (names[all.names[i]] !== 1) continue;
      ++found.count;
      found.time += all.ends[i] - all.starts[i];
    }
  }
  return found;
}

// The spans of a lane that are found, as a lane. Its positions are not those of the lane: `positions` has them.
export interface FoundLane extends Lane {
  positions: Uint32Array;
}

export function foundLane(lane: Lane, names: Uint8Array): FoundLane {
  let count = 0;
  for (let i = 0; i < lane.names.length; ++i) count += names[lane.names[i]] === 1 ? 1 : 0;
  const spans = emptySpans(count);
  const positions = new Uint32Array(count);
  for (let i = 0, to = 0; i < lane.names.length; ++i) {
    if (names[lane.names[i]] !== 1) continue;
    spans.starts[to] = lane.starts[i];
    spans.ends[to] = lane.ends[i];
    spans.kinds[to] = lane.kinds[i];
    spans.names[to] = lane.names[i];
    positions[to++] = i;
  }
  return { ...laneOf(spans, 0, count, lane.track, lane.depth, lane.every), positions };
}

export interface Hit {
  rank: string;
  row: number; // among the rank's spans
  start: number;
}

const before = (a: Hit, b: Hit, order: Map<string, number>): boolean =>
  a.start !== b.start ? a.start < b.start : (order.get(a.rank) ?? 0) !== (order.get(b.rank) ?? 0)
    ? (order.get(a.rank) ?? 0) < (order.get(b.rank) ?? 0)
    : a.row < b.row;

// The next one found in order of time, rank and place after `current` (or before it), around at the end.
export function nextHit(ranks: readonly RankSpans[], names: Uint8Array, current: Hit | undefined, forward: boolean): Hit | undefined {
  const order = new Map(ranks.map((spans, i) => [spans.rank, i]));
  const first = (a: Hit, b: Hit): boolean => (forward ? before(a, b, order) : before(b, a, order));
  let next: Hit | undefined;
  let around: Hit | undefined;
  for (const { rank, all } of ranks) {
    for (let row = 0; row < all.names.length; ++row) {
      if (names[all.names[row]] !== 1) continue;
      const hit = { rank, row, start: all.starts[row] };
      if (around === undefined || first(hit, around)) around = hit;
      if (current !== undefined && first(current, hit) && (next === undefined || first(hit, next))) next = hit;
    }
  }
  return next ?? around;
}
