// The steps of each rank, relative to the job's start.
import type { Table } from "../data/table.ts";
import { integersOf, rankOf, runsOf, timesOf } from "../data/table_columns.ts";
import type { Step } from "./align.ts";

export function stepsByRank(table: Table, startNs: bigint): Map<string, Step[]> {
  const number = integersOf(table, "number");
  const start = timesOf(table, "start_ns", startNs);
  const duration = timesOf(table, "dur_ns", 0n);
  const ranks = new Map<string, Step[]>();
  for (const [begin, end] of runsOf(table, ["rank"])) {
    const steps: Step[] = [];
    for (let row = begin; row < end; ++row)
      steps.push({ number: number(row) ?? 0, start: start(row), end: start(row) + duration(row) });
    ranks.set(rankOf(table, begin), steps);
  }
  return ranks;
}
