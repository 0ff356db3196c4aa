// The calls of a rank, of the steps that are chosen.
import type { Table } from "../../data/table.ts";
import { rankOf } from "../../data/table_columns.ts";
import { useTable } from "../../data/use.ts";
import { rangesHave } from "../../ranges.ts";
import { param } from "../../state.ts";
import type { SpanTree } from "../shared/span_tree.ts";
import { pathsOf, type Paths } from "./paths.ts";

const kept = new WeakMap<SpanTree, Map<string, Paths>>(); // by the steps

// Of the steps that the address names, else of all of them and what is around.
export function usePaths(tree: SpanTree, rank: string): Paths {
  const steps = useTable("steps", { all: true });
  const chosen = steps.state === "here" ? param("steps") : "";
  let ofTree = kept.get(tree);
  if (ofTree === undefined) kept.set(tree, (ofTree = new Map()));
  let paths = ofTree.get(chosen);
  if (paths === undefined) {
    paths = steps.state !== "here" || chosen === "" ? pathsOf(tree) : pathsOf(tree, within(steps.value, rank, chosen, tree));
    ofTree.set(chosen, paths);
  }
  return paths;
}

// The part of a span that is in the windows of these steps.
function within(steps: Table, rank: string, chosen: string, tree: SpanTree): (row: number) => number {
  const has = rangesHave(chosen), start = tree.table.column("start_ns");
  const windows: [number, number][] = [];
  for (let row = 0; row < steps.rows; ++row) {
    if (rankOf(steps, row) !== rank || !has(steps.absolute("number", row))) continue;
    const from = Number(BigInt(steps.exact("start_ns", row)) - start.base);
    windows.push([from, from + steps.absolute("dur_ns", row)]);
  }
  return (row) => {
    const begin = Number(start.values[row]!), end = begin + tree.durations[row]!;
    return windows.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(end, to) - Math.max(begin, from)), 0);
  };
}
