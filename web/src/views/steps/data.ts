// Steps by rank and number, what is measured of each, and which stand out.
import { median } from "../../data/median.ts";
import { allRows } from "../../data/rows.ts";
import type { Table } from "../../data/table.ts";
import { inRanges } from "../../ranges.ts";
import { viewsOf } from "../overview/data.ts";

export interface StepGrid {
  ranks: string[];
  numbers: string[];
  value: (rank: number, step: number) => number; // NaN: this rank does not have that step, or nothing is known
  row: (rank: number, step: number) => number; // of the table; -1
}

export function stepGrid(table: Table, measure: string): StepGrid {
  const ranks = new Map<string, number>(), numbers = new Set<number>();
  for (let row = 0; row < table.rows; ++row) {
    const rank = table.exact("rank", row) || "none";
    if (!ranks.has(rank)) ranks.set(rank, ranks.size);
    numbers.add(table.absolute("number", row));
  }
  const order = [...numbers].sort((a, b) => a - b);
  const places = new Map(order.map((number, place) => [number, place]));
  const rows = new Int32Array(ranks.size * order.length).fill(-1);
  for (let row = 0; row < table.rows; ++row) {
    const at = ranks.get(table.exact("rank", row) || "none")! * order.length + places.get(table.absolute("number", row))!;
    if (rows[at]! < 0) rows[at] = row; // of several marks of one number the first
  }
  const row = (rank: number, step: number) => rows[rank * order.length + step] ?? -1;
  return {
    ranks: [...ranks.keys()], numbers: order.map(String), row,
    value: (rank, step) => (row(rank, step) < 0 ? Number.NaN : table.absolute(measure, row(rank, step))),
  };
}

export interface Oddity {
  rank: number; // -1: all of them alike
  step: number; // -1: all of them alike
  value: number;
  typical: number;
}

export interface Levels {
  typical: [low: number, high: number]; // the median of each
  count: [low: number, high: number];
  isHigh: boolean[]; // by step; what is not known is low
  alternate: boolean; // each step is of another level than the one before
}

const LEAST_RATIO = 1.5, LEAST_SHARE = 0.2;

// Whether steps are of two lengths, each of several steps, with nothing between: the gap between both is at least twice as
// wide as either. null: they are not.
export function levelsOf(steps: readonly number[]): Levels | null {
  const sorted = steps.filter(Number.isFinite).sort((a, b) => a - b);
  const least = Math.max(2, LEAST_SHARE * sorted.length);
  const gap = (at: number) => sorted[at]! - sorted[at - 1]!;
  let split = 0;
  for (let at = 1; at < sorted.length; ++at) if (split === 0 || gap(at) > gap(split)) split = at;
  const low = sorted.slice(0, split), high = sorted.slice(split);
  if (low.length < least || high.length < least || !(high[0]! >= LEAST_RATIO * low.at(-1)!)) return null;
  if ([low, high].some((level) => 2 * (level.at(-1)! - level[0]!) > gap(split))) return null;
  const isHigh = steps.map((step) => step >= high[0]!);
  return { typical: [median(low), median(high)], count: [low.length, high.length], isHigh, alternate: isHigh.every((is, step) => step === 0 || is !== isHigh[step - 1]) };
}

// Of each step over the ranks.
export const stepLengths = (grid: StepGrid): number[] =>
  grid.numbers.map((_, step) => median(grid.ranks.map((_, rank) => grid.value(rank, step))));

// What differs most from what is typical, of steps of two levels what is of its own: a step of all ranks, a rank in all steps, or one cell; null within 2 %.
export function oddest(grid: StepGrid): Oddity | null {
  const ranks = grid.ranks.map((_, rank) => rank), steps = grid.numbers.map((_, step) => step);
  const perStep = stepLengths(grid);
  const perRank = ranks.map((rank) => median(steps.map((step) => grid.value(rank, step))));
  const levels = levelsOf(perStep), typical = median(perStep);
  const typicalOf = (step: number) => levels?.typical[levels.isHigh[step] ? 1 : 0] ?? typical;
  let found: Oddity | null = null;
  const consider = (rank: number, step: number, value: number, than: number, weight: number) => {
    const much = (value / than - 1) * weight;
    if (!(much > 0.02)) return;
    if (found === null || much > found.value / found.typical - 1) found = { rank, step, value, typical: than };
  };
  if (steps.length > 2) steps.forEach((step) => consider(-1, step, perStep[step]!, typicalOf(step), 1));
  if (ranks.length > 1) ranks.forEach((rank) => consider(rank, -1, perRank[rank]!, median(perRank), 1));
  // What a rank or a step explains as a whole is not told again of each cell.
  for (const rank of ranks)
    for (const step of steps) {
      const expected = Math.max(perStep[step]!, perRank[rank]!);
      consider(rank, step, grid.value(rank, step), expected, 1);
    }
  return found;
}

// Ranks that are shown where there are too many, in their own order: the one whose steps are shown, and those that differ
// most from the others of a step.
export function mostDifferent(grid: StepGrid, most: number, chosen = ""): number[] {
  const ranks = grid.ranks.map((_, rank) => rank);
  if (ranks.length <= most) return ranks;
  const typical = grid.numbers.map((_, step) => median(ranks.map((rank) => grid.value(rank, step))));
  const distance = ranks.map((rank) => typical.reduce((worst, usual, step) =>
    Math.max(worst, Math.abs(grid.value(rank, step) / usual - 1) || 0), 0));
  const isOther = (rank: number): number => (grid.ranks[rank] === chosen ? 0 : 1);
  return ranks.sort((a, b) => isOther(a) - isOther(b) || distance[b]! - distance[a]! || a - b).slice(0, most).sort((a, b) => a - b);
}

export interface StepsFault {
  said: string;
  ranks: string; // that it names
  rank: string | undefined; // the first of them that is shown
}

// The first fault, thus the worst, that names ranks or is of steps.
export function faultOf(findings: Table, shown: readonly string[]): StepsFault | null {
  const row = allRows(findings).find((each) => findings.text("kind", each) === "fault" && (findings.text("ranks", each) !== "" || viewsOf(findings, each)[0] === "steps"));
  if (row === undefined) return null;
  const ranks = findings.text("ranks", row);
  return { said: findings.text("finding", row), ranks, rank: ranks === "" ? undefined : inRanges(ranks, shown)[0] };
}
