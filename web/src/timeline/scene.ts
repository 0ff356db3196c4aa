// All that one picture of the timeline shows, and where on the screen its parts are. Lengths are in pixels of CSS.
import type { Step } from "./align.ts";
import type { Finding } from "./findings.ts";
import type { Theme } from "./kinds.ts";
import type { Lane, RankSpans } from "./lanes.ts";
import type { Layout, Row } from "./layout.ts";
import { visible } from "./layout.ts";
import type { Mark } from "./marks.ts";
import type { Names } from "./names.ts";
import type { FoundLane } from "./search.ts";
import type { Strip } from "./strips.ts";
import type { TimeWindow } from "./time_window.ts";

export interface SelectedSpan {
  spans: RankSpans;
  row: number;
}

export interface ShownArrow {
  rank: string;
  fromLane: Lane;
  fromTime: number;
  toLane: Lane;
  toTime: number;
  kind: string;
}

export interface Scene {
  theme: Theme;
  width: number;
  height: number;
  headings: number; // width that headings take on the left
  window: TimeWindow;
  whole: TimeWindow;
  names: Names;
  pinned: Layout;
  rest: Layout;
  scrolled: number;
  overview: readonly (Strip | undefined)[]; // of all ranks
  steps: readonly Step[];
  marks: readonly Mark[];
  findings: readonly Finding[];
  shifts: ReadonlyMap<string, number>;
  range?: TimeWindow; // that the user has dragged
  selected?: SelectedSpan & { lane: Lane };
  found?: { names: Uint8Array; lane(lane: Lane): FoundLane };
  onPath: ReadonlyMap<string, Uint8Array>; // by rank, 1 for each row of its spans that is on the critical path
  arrows: readonly ShownArrow[];
}

export const RULER_HEIGHT = 22;
export const STEPS_HEIGHT = 18;
export const MARKS_HEIGHT = 16;

export interface Regions {
  overview: number; // where each begins
  ruler: number;
  steps: number;
  marks: number;
  pinned: number;
  rest: number;
}

export function overviewHeight(ranks: number): number {
  return Math.min(120, Math.max(24, ranks * 4));
}

export type Parts = Pick<Scene, "overview" | "steps" | "marks" | "findings" | "pinned" | "rest">;

export function regionsOf(scene: Parts): Regions {
  const ruler = overviewHeight(scene.overview.length) + 4;
  const steps = ruler + RULER_HEIGHT;
  const marks = steps + (scene.steps.length > 0 ? STEPS_HEIGHT : 0);
  const pinned = marks + (scene.marks.length + scene.findings.length > 0 ? MARKS_HEIGHT : 0);
  return { overview: 0, ruler, steps, marks, pinned, rest: pinned + scene.pinned.height };
}

export interface PlacedRow {
  row: Row;
  y: number;
  clip: number; // nothing of it is above
}

// The rows that are seen at least in part.
export function placedRows(scene: Scene): PlacedRow[] {
  const regions = regionsOf(scene);
  const rows = scene.pinned.rows.map((row) => ({ row, y: regions.pinned + row.top, clip: regions.pinned }));
  const offset = regions.rest - scene.scrolled;
  const [first, end] = visible(scene.rest.rows, scene.scrolled, scene.scrolled + scene.height - regions.rest);
  for (let i = first; i < end; ++i) {
    const row = scene.rest.rows[i]!;
    rows.push({ row, y: offset + row.top, clip: regions.rest });
  }
  return rows;
}

// Height of all that can be scrolled to.
export const scrollHeight = (scene: Parts): number => regionsOf(scene).rest + scene.rest.height;

export const lanesWidth = (scene: Scene): number => Math.max(1, scene.width - scene.headings);

export const timeAt = (scene: Scene, x: number): number =>
  scene.window.from + ((x - scene.headings) / lanesWidth(scene)) * (scene.window.to - scene.window.from);

export const xOf = (scene: Scene, time: number): number =>
  scene.headings + ((time - scene.window.from) / (scene.window.to - scene.window.from)) * lanesWidth(scene);

export const overviewTimeAt = (scene: Scene, x: number): number =>
  scene.whole.from + ((x - scene.headings) / lanesWidth(scene)) * (scene.whole.to - scene.whole.from);

export const overviewXOf = (scene: Scene, time: number): number =>
  scene.headings + ((time - scene.whole.from) / (scene.whole.to - scene.whole.from)) * lanesWidth(scene);

export const shiftOf = (scene: Scene, rank: string): number => scene.shifts.get(rank) ?? 0;
