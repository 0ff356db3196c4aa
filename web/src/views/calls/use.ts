// The calls of the rank that is shown, made from its spans once.
import { useSpans, useTable, useJob, type Loaded } from "../../data/use.ts";
import type { Table } from "../../data/table.ts";
import { param } from "../../state.ts";
import { chosenRank } from "../here.ts";
import { firstNumber } from "../overview/parts.ts";
import { rangesHave } from "../steps_data.ts";
import { pathsOf, type Paths } from "./call_tree.ts";
import { spanTree, type SpanTree } from "./span_tree.ts";

const trees = new WeakMap<Table, SpanTree>();
const merged = new WeakMap<SpanTree, Map<string, Paths>>();

export function treeOf(spans: Table): SpanTree {
  let tree = trees.get(spans);
  if (tree === undefined) trees.set(spans, (tree = spanTree(spans)));
  return tree;
}

// The chosen rank, else the job's first.
export function useOneRank(): { rank: string; ranks: string[] } {
  const job = useJob();
  const ranks = job.state === "here" ? [...new Set(job.value.ranks.map((each) => each.rank))] : [];
  return { ranks, rank: chosenRank() || (ranks.find((rank) => rank === firstNumber(param("ranks"))) ?? ranks[0] ?? "") };
}

export function useTree(rank: string): Loaded<SpanTree> {
  const spans = useSpans(rank);
  return spans.state === "here" ? { state: "here", value: treeOf(spans.value) } : spans;
}

// Of the steps that the address names, else of all of them and what is around.
export function usePaths(tree: SpanTree, rank: string): Paths {
  const steps = useTable("steps", { all: true });
  const chosen = steps.state === "here" ? param("steps") : "";
  let kept = merged.get(tree);
  if (kept === undefined) merged.set(tree, (kept = new Map()));
  let paths = kept.get(chosen);
  if (paths === undefined) kept.set(chosen, (paths = steps.state !== "here" || chosen === "" ? pathsOf(tree) : pathsOf(tree, within(steps.value, rank, chosen, tree))));
  return paths;
}

// The part of a span that is in the windows of these steps.
function within(steps: Table, rank: string, chosen: string, tree: SpanTree): (row: number) => number {
  const has = rangesHave(chosen), start = tree.table.column("start_ns");
  const windows: [number, number][] = [];
  for (let row = 0; row < steps.rows; ++row) {
    if ((steps.exact("rank", row) || "none") !== rank || !has(steps.absolute("number", row))) continue;
    const from = Number(BigInt(steps.exact("start_ns", row)) - start.base);
    windows.push([from, from + steps.absolute("dur_ns", row)]);
  }
  return (row) => {
    const begin = Number(start.values[row]!), end = begin + tree.durations[row]!;
    return windows.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(end, to) - Math.max(begin, from)), 0);
  };
}
