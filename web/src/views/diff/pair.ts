// Which two jobs are compared where the address does not say: what is most alike, the earlier one as the one before.
import { allRows } from "../../data/rows.ts";
import type { Table } from "../../data/table.ts";

export interface Pair {
  before: number; // rows of the jobs
  after: number;
  why: string; // a sentence where one of them was chosen here; else empty
}

// Jobs of one key are of the same worker, the surest first.
const KINSHIP: [key: (jobs: Table, row: number) => string, words: string][] = [
  // A span of recordings: its folder and its number.
  [(jobs, row) => /^(.*)#\d+$/.exec(jobs.text("folder", row))?.[1] ?? "", "spans of the same recordings"],
  [(jobs, row) => (jobs.text("host", row) === "" ? "" : `${jobs.text("host", row)} ${jobs.text("ranks", row)}`), "of the same ranks on the same host"],
  [() => "any", ""],
];

// Of at least two jobs; an id that is empty or of none is chosen here.
export function pairOf(jobs: Table, base: string, job: string): Pair {
  const rowOf = (id: string): number => (id === "" ? -1 : allRows(jobs).find((row) => jobs.exact("id", row) === id) ?? -1);
  const before = rowOf(base), after = rowOf(job);
  if (before >= 0 && after >= 0) return { before, after, why: "" };
  const byTime = allRows(jobs).sort((a, b) => jobs.absolute("changed_ns", a) - jobs.absolute("changed_ns", b) || a - b);
  const given = Math.max(before, after);
  for (const [keyOf, words] of KINSHIP) {
    const key = (row: number) => keyOf(jobs, row);
    const isAlike = (row: number, other: number) => row !== other && key(row) !== "" && key(row) === key(other);
    if (given < 0) {
      const first = byTime.find((row) => byTime.some((other) => isAlike(row, other)));
      if (first === undefined) continue;
      const second = byTime.find((row) => isAlike(row, first))!;
      return { before: first, after: second, why: `These two were chosen as ${words === "" ? "the first" : `the first that are ${words}`}, by when their files were written.` };
    }
    const alike = byTime.filter((row) => isAlike(row, given)), at = byTime.indexOf(given);
    if (alike.length === 0) continue;
    const earlier = alike.filter((row) => byTime.indexOf(row) < at).at(-1), later = alike.find((row) => byTime.indexOf(row) > at);
    const other = (after >= 0 ? earlier ?? later : later ?? earlier)!;
    const when = other === earlier ? "the last that was written before it" : "the first that was written after it";
    const why = `The other one was chosen as ${when}${words === "" ? "" : `, of those that are ${words}`}.`;
    return after >= 0 ? { before: other, after, why } : { before, after: other, why };
  }
  return { before: 0, after: 1, why: "" };
}
