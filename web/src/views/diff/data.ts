// What changed from one job to another: names, the tree of paths, and how long steps take.
import { median } from "../../data/median.ts";
import { allRows } from "../../data/rows.ts";
import type { Table } from "../../data/table.ts";
import { human } from "../../format.ts";
import type { TreeNode } from "../../widgets/icicle.tsx";

export interface Change {
  before: number;
  after: number;
}

const SAME = 0.01; // of what it was: less is no change

// Its sign, which is never told by colour alone.
export const arrow = ({ before, after }: Change): string => (after > before ? "▲" : after < before ? "▼" : "=");

// A class of style.css: faster or slower in three degrees, or on one side only.
export function changeKind({ before, after }: Change): string {
  if (before === 0 && after === 0) return "unchanged";
  if (before === 0) return "added";
  if (after === 0) return "removed";
  const ratio = (after - before) / before;
  if (Math.abs(ratio) < SAME) return "unchanged";
  const degree = Math.abs(ratio) >= 0.5 ? 3 : Math.abs(ratio) >= 0.1 ? 2 : 1;
  return `${ratio < 0 ? "faster" : "slower"}${degree}`;
}

export function changeText({ before, after }: Change, unit: "ns" | "count" = "ns"): string {
  const change = after - before;
  const share = before > 0 ? `, ${change < 0 ? "-" : "+"}${human(Math.abs(change) / before, "ratio")}` : ", only after";
  const ratio = after === 0 ? ", only before" : share;
  return `${human(before, unit)} before, ${human(after, unit)} after: ${change < 0 ? "-" : "+"}${human(Math.abs(change), unit)}${ratio}`;
}

interface Grown {
  node: TreeNode;
  change: Change;
}

// Of path_diff: a node is as wide as the longer of its two times, so that what is gone is seen beside what came. Paths are
// joined by "/", which names have too: a path is below the longest other one that it begins with.
export function changeTree(paths: Table): TreeNode {
  const known = new Map<string, Grown>();
  for (let row = 0; row < paths.rows; ++row) {
    const change = { before: paths.absolute("before_ns", row), after: paths.absolute("after_ns", row) };
    const path = paths.text("path", row);
    const title = `${path}: ${changeText(change)}; calls in a step: ${paths.exact("before_calls", row)} before, ${paths.exact("after_calls", row)} after`;
    known.set(path, { change, node: { name: path, value: Math.max(change.before, change.after), children: [], kind: changeKind(change), title, key: path } });
  }
  const roots: Grown[] = [];
  for (const [path, grown] of known) {
    const above = parentOf(path, known);
    grown.node.name = `${arrow(grown.change)} ${above === "" ? path : path.slice(above.length + 1)}`;
    if (above === "") roots.push(grown);
    else known.get(above)!.node.children.push(grown.node);
  }
  const sum = (side: "before" | "after") => roots.reduce((total, root) => total + root.change[side], 0);
  const whole = { before: sum("before"), after: sum("after") };
  const root: TreeNode = { name: `${arrow(whole)} a step`, value: Math.max(whole.before, whole.after), children: roots.map((each) => each.node), kind: changeKind(whole), title: `a step: ${changeText(whole)}` };
  grow(root);
  return root;
}

function parentOf(path: string, known: ReadonlyMap<string, unknown>): string {
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) if (known.has(path.slice(0, at))) return path.slice(0, at);
  return "";
}

// What is below a node, one side's beside the other's, may need more room than each side of it alone.
function grow(node: TreeNode): number {
  const below = node.children.reduce((sum, child) => sum + grow(child), 0);
  return (node.value = Math.max(node.value, below));
}

export interface OneSided {
  added: number;
  removed: number;
}

export function oneSided(diff: Table): OneSided {
  const found = { added: 0, removed: 0 };
  for (let row = 0; row < diff.rows; ++row) {
    const change = diff.text("change", row);
    if (change === "added" || change === "removed") found[change] += 1;
  }
  return found;
}

export interface StepTimes {
  times: number[]; // of every step of every rank, sorted
  median: number;
}

export function stepTimes(steps: Table): StepTimes {
  const times = allRows(steps).map((row) => steps.absolute("dur_ns", row)).sort((a, b) => a - b);
  return { times, median: median(times) };
}

// Counts in `bins` equal parts of [least, most].
export function histogramOf(times: readonly number[], least: number, most: number, bins: number): number[] {
  const counts = new Array<number>(bins).fill(0);
  const width = (most - least) / bins;
  for (const time of times) counts[width > 0 ? Math.min(bins - 1, Math.floor((time - least) / width)) : 0]! += 1;
  return counts;
}
