// Steps as windows of the timeline.
import type { Table } from "../../data/table.ts";

// A step of a rank as the timeline's window; with "" for the rank or the step the longest there is.
export function stepWindow(steps: Table, rank: string, step: string, startNs: bigint):
  { step: string; params: { from: string; to: string } } | null {
  let found = -1;
  for (let row = 0; row < steps.rows; ++row) {
    if (rank !== "" && steps.exact("rank", row) !== rank) continue;
    if (step !== "" && steps.exact("number", row) !== step) continue;
    if (found < 0 || steps.absolute("dur_ns", row) > steps.absolute("dur_ns", found)) found = row;
  }
  return found < 0 ? null : windowOf(steps, found, startNs);
}

export function windowOf(steps: Table, row: number, startNs: bigint): { step: string; params: { from: string; to: string } } {
  const from = BigInt(steps.exact("start_ns", row)) - startNs;
  const to = from + BigInt(steps.exact("dur_ns", row));
  return { step: steps.exact("number", row), params: { from: from.toString(), to: to.toString() } };
}
