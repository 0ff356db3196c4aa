// Where findings are marked: at the steps and ranks that they are about.
import type { Table } from "../data/table.ts";
import { rangesHave } from "../ranges.ts";
import type { Step } from "./align.ts";

export interface Finding {
  sentence: string;
  remedy: string;
  kind: string;
  ranks: string;
  steps: string;
  subject: string;
  from: number;
  to: number;
}

// The first of these ranks that a fault names, of the first fault that names one of them.
export function faultyRank(table: Table, ranks: readonly string[]): string | undefined {
  for (let row = 0; row < table.rows; ++row) {
    const named = table.text("ranks", row);
    if (table.text("kind", row) !== "fault" || named === "") continue;
    const has = rangesHave(named);
    const rank = ranks.find((each) => has(Number(each)));
    if (rank !== undefined) return rank;
  }
  return undefined;
}

// `whole` is where a finding is that names no steps.
export function findingsOf(table: Table, steps: readonly Step[], whole: { from: number; to: number }): Finding[] {
  const text = (name: string, row: number): string => table.text(table.column(name), row);
  return Array.from({ length: table.rows }, (_, row) => {
    const named = text("steps", row);
    const mine = named === "" ? [] : steps.filter((step) => rangesHave(named)(step.number));
    return {
      sentence: text("finding", row),
      remedy: text("remedy", row),
      kind: text("kind", row),
      ranks: text("ranks", row),
      steps: named,
      subject: text("subject", row),
      from: mine.length > 0 ? Math.min(...mine.map((step) => step.start)) : whole.from,
      to: mine.length > 0 ? Math.max(...mine.map((step) => step.end)) : whole.to,
    };
  });
}
