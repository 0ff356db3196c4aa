// The spans of a rank in lanes, in which no span overlaps another, as the painter wants them: columns of numbers, with
// times relative to the job's start.
import type { Table } from "../data/table.ts";
import { integersOf, timesOf } from "../data/table_columns.ts";
import { kindCode } from "./kinds.ts";
import { Names } from "./names.ts";
import { type PrefixSums, prefixSums, type Timed } from "./prefix_sums.ts";

export const NONE = 0xffffffff; // where a span has no event or link

// Columns of spans. Lanes are parts of those of their rank.
export interface Spans extends Timed {
  names: Uint32Array;
  events: Uint32Array;
  links: Uint32Array;
}

export interface Lane extends Spans {
  track: string;
  depth: number;
  first: number; // its first span among those of the rank
  every: number;
  sums?: PrefixSums;
}

// A thread or a stream.
export interface Track {
  name: string; // stable: RANK/dDEVICE/sSTREAM or RANK/tTHREAD
  title: string;
  device: number; // -1 of threads
  lanes: Lane[];
}

export interface RankSpans {
  rank: string;
  all: Spans;
  tracks: Track[];
  lanes: Lane[]; // in the order of `all`
}

const MANY_SPANS = 2_000_000; // above, prefix sums are kept for every 16th span only

export function sumsOf(lane: Lane): PrefixSums {
  return (lane.sums ??= prefixSums(lane, lane.every));
}

export function laneOf(spans: Spans, begin: number, end: number, track: string, depth: number, every = 1): Lane {
  return {
    track,
    depth,
    first: begin,
    every,
    starts: spans.starts.subarray(begin, end),
    ends: spans.ends.subarray(begin, end),
    kinds: spans.kinds.subarray(begin, end),
    names: spans.names.subarray(begin, end),
    events: spans.events.subarray(begin, end),
    links: spans.links.subarray(begin, end),
  };
}

export function emptySpans(count: number): Spans {
  return {
    starts: new Float64Array(count),
    ends: new Float64Array(count),
    kinds: new Uint8Array(count),
    names: new Uint32Array(count),
    events: new Uint32Array(count).fill(NONE),
    links: new Uint32Array(count).fill(NONE),
  };
}

const ROWS_AT_ONCE = 500_000;

// `pause` is awaited now and then, so that a large rank does not keep the page from drawing.
export async function rankSpans(
  table: Table,
  rank: string,
  startNs: bigint,
  names: Names,
  pause: () => Promise<void> = async () => {},
): Promise<RankSpans> {
  const all = emptySpans(table.rows);
  const start = timesOf(table, "start_ns", startNs);
  const duration = timesOf(table, "dur_ns", 0n);
  const event = integersOf(table, "event");
  const link = integersOf(table, "link");
  const name = wordsOf(table, "name", (word) => names.id(word));
  const kind = wordsOf(table, "kind", kindCode);
  for (let begin = 0; begin < table.rows; begin += ROWS_AT_ONCE) {
    for (let row = begin; row < Math.min(begin + ROWS_AT_ONCE, table.rows); ++row) {
      all.starts[row] = start(row);
      all.ends[row] = start(row) + duration(row);
      all.names[row] = name(row);
      all.kinds[row] = kind(row);
      all.events[row] = event(row) ?? NONE;
      all.links[row] = link(row) ?? NONE;
    }
    await pause();
  }
  return inLanes(table, rank, all);
}

// The words of a column of texts, each converted once.
function wordsOf(table: Table, name: string, convert: (word: string) => number): (row: number) => number {
  const { values, words } = table.column(name);
  const converted = (words ?? []).map(convert);
  return (row) => converted[Number(values[row])];
}

function inLanes(table: Table, rank: string, all: Spans): RankSpans {
  const onDevice = wordsOf(table, "side", (word) => (word === "device" ? 1 : 0));
  const keys = ["process", "thread", "device", "stream", "depth", "lane"].map((key) => integersOf(table, key));
  const every = table.rows > MANY_SPANS ? 16 : 1;
  const result: RankSpans = { rank, all, tracks: [], lanes: [] };
  const seen = new Map<string, string>(); // by stable name, the process or device that has it
  const changed = changes([onDevice, ...keys], table.rows);
  let track: Track | undefined;
  let begin = 0;
  while (begin < table.rows) {
    const [process, thread, device, stream, depth] = keys.map((key) => key(begin) ?? 0);
    let end = begin + 1;
    while (end < table.rows && changed[end] === 0) ++end;
    const device_ = onDevice(begin) === 1;
    let name = device_ ? `${rank}/d${device}/s${stream}` : `${rank}/t${thread}`;
    // The number of a thread is that of one process only; a second one says whose it is.
    if (!device_ && (seen.get(name) ?? `${process}`) !== `${process}`) name += `/p${process}`;
    seen.set(name, `${process}`);
    if (track?.name !== name) {
      track = { name, title: device_ ? `stream ${stream}` : `thread ${thread}`, device: device_ ? device : -1, lanes: [] };
      result.tracks.push(track);
    }
    const lane = laneOf(all, begin, end, name, depth, every);
    track.lanes.push(lane);
    result.lanes.push(lane);
    begin = end;
  }
  return result;
}

// 1 for each row whose keys are not those of the row before.
function changes(keys: ((row: number) => number | null)[], rows: number): Uint8Array {
  const changed = new Uint8Array(rows);
  for (const key of keys) {
    let before = rows > 0 ? key(0) : null;
    for (let row = 1; row < rows; ++row) {
      const now = key(row);
      if (now !== before) changed[row] = 1;
      before = now;
    }
  }
  return changed;
}
