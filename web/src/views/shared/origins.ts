// Where kernels and operators come from: the lines of Python, modules and operators around their launches and calls.
import { parseFrame, type Frame } from "../../frames.ts";
import { moduleNames } from "./module_names.ts";
import { Pairs } from "./pairs.ts";
import type { SpanTree } from "./span_tree.ts";

export interface Origin {
  inner: Frame | null; // the innermost line around the launch
  own: Frame | null; // the innermost that is of no library, where that is another
  module: string;
  operator: string;
  backward: boolean; // its line is that of the forward operator whose gradient it is of
  runs: number;
  sum: number; // ns
}

// Kernels by name; of each what took the most time first.
export function kernelOrigins(tree: SpanTree): Map<string, Origin[]> {
  return originsOf(tree, (row) => tree.isDevice[row] === 1 && tree.parent[row]! >= 0);
}

// Of one operator, by time of the host.
export function operatorOrigins(tree: SpanTree, name: string): Origin[] {
  const names = tree.table.column("name").values, word = tree.words.indexOf(name);
  return originsOf(tree, (row) => names[row] === word && tree.operator[row] === row).get(name) ?? [];
}

function originsOf(tree: SpanTree, takes: (row: number) => boolean): Map<string, Origin[]> {
  const names = tree.table.column("name").values as ArrayLike<number>;
  const around = new Pairs(), lines = new Pairs(), places = new Pairs(), whole = new Pairs(), passes = new Pairs();
  const found: (Origin & { kernel: number })[] = [];
  const moduleOf = moduleNames(tree);
  const modules: string[] = [], numberOf = new Map<string, number>();
  const numberOfModule = (row: number): number => {
    const name = moduleOf(row);
    const known = numberOf.get(name) ?? modules.length;
    if (known === modules.length) {
      modules.push(name);
      numberOf.set(name, known);
    }
    return known;
  };
  const nameOf = (row: number): number => (row < 0 ? -1 : names[row]!);
  for (const row of tree.order) {
    if (!takes(row)) continue;
    const inner = nameOf(tree.innerFrame[row]!), own = nameOf(tree.ownFrame[row]!);
    const module = numberOfModule(tree.module[row]!), operator = nameOf(tree.operator[row]!);
    const backward = tree.backward[row]!;
    const at = passes.id(whole.id(places.id(names[row]!, lines.id(inner, own)), around.id(module, operator)), backward);
    if (at === found.length) {
      const text = (word: number) => (word < 0 ? "" : tree.words[word]!);
      found.push({
        kernel: names[row]!, inner: parseFrame(text(inner)), own: own === inner ? null : parseFrame(text(own)), module: modules[module]!,
        operator: text(operator), backward: backward === 1, runs: 0, sum: 0,
      });
    }
    const origin = found[at]!;
    ++origin.runs;
    origin.sum += tree.durations[row]!;
  }
  const byKernel = new Map<string, Origin[]>();
  for (const { kernel, ...origin } of found) {
    const name = tree.words[kernel]!;
    if (!byKernel.has(name)) byKernel.set(name, []);
    byKernel.get(name)!.push(origin);
  }
  for (const origins of byKernel.values()) origins.sort((a, b) => b.sum - a.sum);
  return byKernel;
}

// `backward`: all that it launches is of the backward pass.
export interface Line { frame: Frame; backward: boolean; runs: number; sum: number }

// The innermost lines alone, whatever module and operator.
export function linesOf(origins: readonly Origin[]): Line[] {
  const lines = new Map<string, Line>();
  for (const origin of origins) {
    const frame = origin.inner;
    if (frame === null) continue;
    const key = `${frame.path}:${frame.line}`;
    const line = lines.get(key) ?? { frame, backward: origin.backward, runs: 0, sum: 0 };
    line.backward &&= origin.backward;
    line.runs += origin.runs;
    line.sum += origin.sum;
    lines.set(key, line);
  }
  return [...lines.values()].sort((a, b) => b.sum - a.sum);
}
