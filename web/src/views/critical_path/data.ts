// What the critical paths of a job are made of, from critical_path, critical_path_names and job_critical_path.
import { largestOf, rowsOfRank, sumsBy } from "../../data/rows.ts";
import type { Table } from "../../data/table.ts";
import { rankOf } from "../../data/table_columns.ts";
import type { BarPart } from "../../widgets/bars.tsx";

// Columns of critical_path that add up to the length, with the colours and words of what they are.
const PARTS: [column: string, kind: string, label: string][] = [
  ["compute_ns", "compute", "compute"],
  ["communication_ns", "communication", "communication"],
  ["host_operators_ns", "operator", "operators on the host"],
  ["host_gaps_ns", "host-gaps", "host outside operators"],
  ["data_loading_ns", "annotation", "data loading"],
  ["memory_ns", "memory", "copies and sets"],
  ["kernel_gaps_ns", "idle", "gaps between device work"],
  ["launches_ns", "runtime", "launches"],
  ["synchronization_ns", "synchronization", "synchronization"],
  ["unknown_ns", "unrecorded", "launch not recorded"],
];

export interface PathBar {
  rank: string;
  step: string;
  length: number;
  whatIf: number; // NaN where nothing was asked
  parts: BarPart[];
}

const LEAST_SHARE = 0.001; // of all steps; what is less is one part

export function pathBars(table: Table, rank: string): PathBar[] {
  const rows = rowsOfRank(table, rank);
  const sumOf = (column: string) => rows.reduce((sum, row) => sum + table.absolute(column, row), 0);
  const sums = PARTS.map(([column]) => sumOf(column));
  const total = sums.reduce((a, b) => a + b, 0);
  const shown = PARTS.filter((_, i) => sums[i]! >= total * LEAST_SHARE && sums[i]! > 0);
  const rest = PARTS.filter((part, i) => !shown.includes(part) && sums[i]! > 0);
  return rows.map((row) => ({
    rank,
    step: table.exact("step", row),
    length: table.absolute("length_ns", row),
    whatIf: table.absolute("what_if_ns", row),
    parts: [
      ...shown.map(([column, kind, label]) => ({ kind, label, value: table.absolute(column, row) })),
      ...(rest.length > 0 ? [{ kind: "unknown", label: "all else", value: rest.reduce((sum, [column]) => sum + table.absolute(column, row), 0) }] : []),
    ],
  }));
}

export interface Share {
  label: string;
  ns: number;
  share: number;
}

// What takes most of some bars.
export function largestPart(bars: readonly PathBar[]): Share | null {
  const sums = new Map<string, number>();
  let total = 0;
  for (const { parts } of bars)
    for (const { label, value } of parts) {
      sums.set(label, (sums.get(label) ?? 0) + value);
      total += value;
    }
  const [label, ns] = [...sums].sort(([, a], [, b]) => b - a)[0] ?? ["", 0];
  return total > 0 ? { label, ns, share: ns / total } : null;
}

// Mean length, and what it would be; of all steps alike.
export function meanLengths(bars: readonly PathBar[]): { length: number; whatIf: number } {
  const mean = (value: (bar: PathBar) => number) => bars.reduce((sum, bar) => sum + value(bar), 0) / Math.max(1, bars.length);
  return { length: mean((bar) => bar.length), whatIf: mean((bar) => bar.whatIf) };
}

// The rank whose steps are the longest.
export const longestRank = (table: Table): string => largestOf(sumsBy(table, "length_ns", (row) => rankOf(table, row)));

const KINDS: Record<string, [kind: string, label: string]> = {
  device: ["compute", "device"],
  transfer: ["communication", "transfer"],
  host: ["operator", "host"],
  pause: ["host-gaps", "host launches nothing"],
  gap: ["idle", "gap between launched work"],
  absent: ["unknown", "waiting for ranks without a recording"],
  start: ["runtime", "begins later than the first rank"],
};

export interface RankShare {
  rank: string;
  ns: number;
  share: number; // of the steps
  parts: BarPart[];
}

// On whom the job's steps wait: of job_critical_path, the one that most is waited for first.
export function jobShares(table: Table): RankShare[] {
  const ranks = new Map<string, Map<string, number>>();
  let total = 0;
  for (let row = 0; row < table.rows; ++row) {
    const rank = rankOf(table, row), kind = table.text("kind", row), ns = table.absolute("dur_ns", row);
    const own = ranks.get(rank) ?? new Map<string, number>();
    ranks.set(rank, own);
    own.set(kind, (own.get(kind) ?? 0) + ns);
    total += ns;
  }
  return [...ranks].map(([rank, kinds]) => {
    const ns = [...kinds.values()].reduce((a, b) => a + b, 0);
    const parts = Object.entries(KINDS).filter(([kind]) => kinds.has(kind)).map(([kind, [colour, label]]) => ({ kind: colour, label, value: kinds.get(kind)! }));
    return { rank, ns, share: total > 0 ? ns / total : 0, parts };
  }).sort((a, b) => b.ns - a.ns);
}

export interface WhatIf {
  name: string;
  factor: string;
}

// "NAME=FACTOR" as the address and the command line have it; the last "=" divides.
export function parseWhatIf(text: string): WhatIf | null {
  const at = text.lastIndexOf("=");
  const factor = text.slice(at + 1);
  return at > 0 && /^\d{1,7}(\.\d+)?$/.test(factor) ? { name: text.slice(0, at), factor } : null;
}
