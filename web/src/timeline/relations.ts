// What a span has to do with others of its rank: who called it, what runs below it, what launched it.
import type { EventIndex } from "./event_index.ts";
import { NONE, type RankSpans, type Track } from "./lanes.ts";
import { spanAt } from "./painter.ts";
import { lowerBound } from "./search_sorted.ts";

export const trackOf = (spans: RankSpans, index: EventIndex, row: number): Track | undefined => {
  const name = index.lane(row).track;
  return spans.tracks.find((track) => track.name === name);
};

// Rows of the spans around one on its thread, the innermost first.
export function ancestors(spans: RankSpans, index: EventIndex, row: number): number[] {
  const own = index.lane(row);
  const track = trackOf(spans, index, row);
  if (!track || track.device >= 0) return [];
  const start = spans.all.starts[row];
  const end = spans.all.ends[row];
  const rows: number[] = [];
  for (let depth = own.depth - 1; depth >= 0; --depth) {
    for (const lane of track.lanes) {
      if (lane.depth !== depth) continue;
      const i = spanAt(lane, start);
      if (i >= 0 && lane.ends[i] >= end) rows.push(lane.first + i);
    }
  }
  return rows;
}

// The span on the host that a row's work comes from: itself, or what launched it.
export function hostRow(spans: RankSpans, index: EventIndex, row: number): number {
  const track = trackOf(spans, index, row);
  if (track && track.device < 0) return row;
  return spans.all.links[row] === NONE ? -1 : index.row(spans.all.links[row]);
}

// Rows of the device work that a span on the host and what is below it launch, at most `most` of them.
export function kernelsBelow(
  spans: RankSpans,
  index: EventIndex,
  row: number,
  most = 100_000,
): { rows: number[]; cut: boolean } {
  const own = index.lane(row);
  const track = trackOf(spans, index, row);
  const rows: number[] = [];
  if (!track || track.device >= 0) return { rows, cut: false };
  const start = spans.all.starts[row];
  const end = spans.all.ends[row];
  for (const lane of track.lanes) {
    if (lane.depth < own.depth) continue;
    for (let i = lowerBound(lane.starts, start); i < lane.starts.length && lane.starts[i] <= end; ++i) {
      if (lane.ends[i] > end || (lane.depth === own.depth && lane.first + i !== row)) continue;
      if (lane.events[i] === NONE) continue;
      for (const linked of index.linkedTo(lane.events[i])) {
        if (!onDevice(spans, index, linked)) continue;
        if (rows.length === most) return { rows, cut: true };
        rows.push(linked);
      }
    }
  }
  return { rows, cut: false };
}

function onDevice(spans: RankSpans, index: EventIndex, row: number): boolean {
  return index.lane(row).track.startsWith(`${spans.rank}/d`);
}

export interface Arrow {
  from: number; // rows
  to: number;
  kind: "launch" | "backward" | "path";
}

const arrowKind = (spans: RankSpans, index: EventIndex, row: number): Arrow["kind"] =>
  onDevice(spans, index, row) ? "launch" : "backward";

// What leads to a span and away from it, and in the same way of these neighbours; at most `most`.
export function arrowsOf(spans: RankSpans, index: EventIndex, path: readonly number[], row: number, most = 200): Arrow[] {
  const arrows = new Map<string, Arrow>();
  const add = (arrow: Arrow): void => {
    if (arrow.from >= 0 && arrow.to >= 0 && arrow.from !== arrow.to && arrows.size < most)
      arrows.set(`${arrow.from}-${arrow.to}`, arrow);
  };
  const addOf = (at: number): void => {
    for (const arrow of directArrows(spans, index, at)) add(arrow);
  };
  addOf(row);
  for (const arrow of [...arrows.values()]) addOf(arrow.from === row ? arrow.to : arrow.from);
  const at = path.indexOf(row);
  if (at > 0) add({ from: path[at - 1], to: row, kind: "path" });
  if (at >= 0 && at + 1 < path.length) add({ from: row, to: path[at + 1], kind: "path" });
  return [...arrows.values()];
}

function directArrows(spans: RankSpans, index: EventIndex, row: number): Arrow[] {
  const arrows: Arrow[] = [];
  const { links, events } = spans.all;
  if (links[row] !== NONE) arrows.push({ from: index.row(links[row]), to: row, kind: arrowKind(spans, index, row) });
  if (events[row] !== NONE)
    for (const linked of index.linkedTo(events[row]))
      arrows.push({ from: row, to: linked, kind: arrowKind(spans, index, linked) });
  return arrows;
}

// All arrows of which both ends are in [from, to); undefined if there are more than `most`.
export function arrowsWithin(
  spans: RankSpans,
  index: EventIndex,
  from: number,
  to: number,
  most = 2000,
): Arrow[] | undefined {
  const arrows: Arrow[] = [];
  const { starts, links } = spans.all;
  for (const lane of spans.lanes) {
    const end = lowerBound(lane.starts, to);
    for (let row = lane.first + lowerBound(lane.starts, from); row < lane.first + end; ++row) {
      if (links[row] === NONE) continue;
      const cause = index.row(links[row]);
      if (cause < 0 || starts[cause] < from || starts[cause] >= to) continue;
      if (arrows.length === most) return undefined;
      arrows.push({ from: cause, to: row, kind: arrowKind(spans, index, row) });
    }
  }
  return arrows;
}

// Along the arrows: what caused a span, or its first effect.
export function neighbour(spans: RankSpans, index: EventIndex, path: readonly number[], row: number, forward: boolean): number {
  const own = directArrows(spans, index, row).filter((arrow) => (forward ? arrow.from === row : arrow.to === row));
  const next = own.map((arrow) => (forward ? arrow.to : arrow.from)).find((other) => other >= 0);
  if (next !== undefined) return next;
  const at = path.indexOf(row);
  if (at >= 0) return path[forward ? at + 1 : at - 1] ?? -1;
  // What a span on the host leads to is what is launched below it.
  return forward ? (kernelsBelow(spans, index, row, 1).rows[0] ?? -1) : -1;
}

export interface Related {
  row: number;
  what: string;
}

// What launched a span, what it launched, its forward and backward operators.
export function relatedTo(spans: RankSpans, index: EventIndex, row: number): Related[] {
  return directArrows(spans, index, row).flatMap((arrow) => {
    const other = arrow.from === row ? arrow.to : arrow.from;
    if (other < 0) return [];
    if (arrow.kind === "launch") return { row: other, what: arrow.from === row ? "launches" : "launched by" };
    return { row: other, what: arrow.from === row ? "backward" : "forward" };
  });
}
