// What steps are made of, as parts that add up.
import type { Table } from "../../data/table.ts";
import type { BarPart } from "../../widgets/bars.tsx";

// Of step_breakdown, in the order in which a moment counts.
export const STEP_PARTS: [column: string, label: string, kind: string][] = [
  ["kernel_ns", "kernels", "compute"],
  ["copy_ns", "copies", "memory"],
  ["set_ns", "memory sets", "set"],
  ["communication_ns", "communication", "communication"],
  ["runtime_ns", "runtime calls", "runtime"],
  ["data_loader_ns", "data loading", "annotation"],
  ["host_ns", "host", "operator"],
  ["other_ns", "nothing recorded", "idle"],
];

export interface StepSum {
  number: number;
  rows: number; // ranks that have it
  parts: number[]; // mean over them, as STEP_PARTS
  total: number;
}

// Each step as the mean over the ranks that these rows are of.
export function stepSums(table: Table, rows: readonly number[]): StepSum[] {
  const steps = new Map<number, StepSum>();
  for (const row of rows) {
    const number = table.absolute("number", row);
    let step = steps.get(number);
    if (step === undefined) steps.set(number, (step = { number, rows: 0, parts: STEP_PARTS.map(() => 0), total: 0 }));
    ++step.rows;
    STEP_PARTS.forEach(([column], i) => (step.parts[i]! += table.absolute(column, row) || 0));
    step.total += table.absolute("dur_ns", row);
  }
  return [...steps.values()].sort((a, b) => a.number - b.number).map((step) => ({
    ...step, parts: step.parts.map((part) => part / step.rows), total: step.total / step.rows,
  }));
}

export const barParts = (step: StepSum): BarPart[] =>
  STEP_PARTS.map(([, label, kind], i) => ({ label, kind, value: step.parts[i]! })).filter((part) => part.value > 0);

export function meanStep(steps: readonly StepSum[]): StepSum | null {
  if (steps.length === 0) return null;
  const mean = (of: (step: StepSum) => number) => steps.reduce((sum, step) => sum + of(step), 0) / steps.length;
  return { number: -1, rows: steps.length, parts: STEP_PARTS.map((_, i) => mean((step) => step.parts[i]!)), total: mean((step) => step.total) };
}
