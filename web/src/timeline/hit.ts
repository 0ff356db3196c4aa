// What is at a place of the screen.
import type { Finding } from "./findings.ts";
import type { Lane } from "./lanes.ts";
import type { Row } from "./layout.ts";
import type { Mark } from "./marks.ts";
import { findingPlaces } from "./overlay.ts";
import { lowerBound } from "./search_sorted.ts";
import { lanesWidth, overviewHeight, type PlacedRow, placedRows, regionsOf, type Scene, shiftOf, timeAt, xOf } from "./scene.ts";

export type Hit =
  | { at: "overview"; rank: number } // among those that are shown
  | { at: "head"; finding?: Finding; mark?: Mark; step?: number }
  | { at: "row"; row: Row; span: number } // -1: none
  | { at: "nothing" };

const REACH = 3; // pixels

export function hitAt(scene: Scene, x: number, y: number): Hit {
  const regions = regionsOf(scene);
  const ranks = scene.overview.length;
  if (y < overviewHeight(ranks)) return { at: "overview", rank: Math.floor((Math.max(0, y) / overviewHeight(ranks)) * ranks) };
  const time = timeAt(scene, x);
  if (y < regions.pinned) {
    if (y < regions.marks || scene.marks.length + scene.findings.length === 0) {
      const step = scene.steps.findIndex((each) => time >= each.start && time < each.end);
      return { at: "head", ...(y >= regions.steps && step >= 0 ? { step } : {}) };
    }
    const places = findingPlaces(scene);
    const finding = scene.findings.find((_, i) => Math.abs(places[i]! - x) <= 8);
    const mark = scene.marks.find((each) => x >= xOf(scene, each.from) - REACH && x <= xOf(scene, each.to) + REACH);
    return { at: "head", finding, mark };
  }
  const placed = placedRows(scene).find((each) => rowHas(each, y));
  if (!placed) return { at: "nothing" };
  const { row } = placed;
  if (!row.lane) return { at: "row", row, span: -1 };
  const pixel = (scene.window.to - scene.window.from) / lanesWidth(scene);
  return { at: "row", row, span: spanNear(row.lane, time - shiftOf(scene, row.rank), REACH * pixel) };
}

const rowHas = ({ row, y, clip }: PlacedRow, at: number): boolean => at >= Math.max(y, clip) && at < y + row.height;

// The span at a time, else the longest of those that are nearer than `reach`.
export function spanNear(lane: Lane, time: number, reach: number): number {
  let best = -1;
  for (let i = lowerBound(lane.ends, time - reach); i < lane.starts.length && lane.starts[i]! <= time + reach; ++i) {
    if (lane.starts[i]! <= time && time < lane.ends[i]!) return i;
    if (best < 0 || lane.ends[i]! - lane.starts[i]! > lane.ends[best]! - lane.starts[best]!) best = i;
  }
  return best;
}
