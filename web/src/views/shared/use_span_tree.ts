// The rank that a view of one rank shows, and who called what in it: made from its spans once.
import type { Table } from "../../data/table.ts";
import { useJob, useSpans, type Loaded } from "../../data/use.ts";
import { firstNumber } from "../../ranges.ts";
import { chosenRank, param } from "../../state.ts";
import { spanTree, type SpanTree } from "./span_tree.ts";

const trees = new WeakMap<Table, SpanTree>();

function treeOf(spans: Table): SpanTree {
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
