// The calls of a rank merged by path, and of one name its callers and what it calls.
import type { TreeNode } from "../../widgets/icicle.tsx";
import { Pairs } from "../shared/pairs.ts";
import type { SpanTree } from "../shared/span_tree.ts";

export type Measure = "host" | "device";

// Nodes by number; what calls comes before what it calls.
export interface Paths {
  words: string[];
  word: number[];
  kind: number[]; // place in kinds
  kinds: string[];
  above: number[]; // -1
  below: number[][];
  calls: number[];
  host: number[]; // ns, with what is below
  hostSelf: number[];
  device: number[];
  deviceSelf: number[]; // launched directly; of device work its own
  roots: number[];
}

// `lasting`: how much of a row of the host counts, 0: nothing, nor what it launched; absent: all of it.
export function pathsOf(tree: SpanTree, lasting: (row: number) => number = (row) => tree.durations[row]!): Paths {
  const kindColumn = tree.table.column("kind"), names = tree.table.column("name").values as ArrayLike<number>;
  const merged = mergedWords(tree.words);
  const paths: Paths = {
    words: merged.words, kinds: kindColumn.words, word: [], kind: [], above: [], below: [], calls: [], host: [], hostSelf: [], device: [], deviceSelf: [], roots: [],
  };
  const known = new Pairs();
  const thread = tree.table.column("thread").values;
  const sums = [paths.calls, paths.host, paths.hostSelf, paths.device, paths.deviceSelf];
  const nodeOf = new Int32Array(tree.table.rows).fill(-1);
  for (const row of tree.order) {
    const parent = tree.parent[row]!;
    const caller = parent < 0 ? -1 : nodeOf[parent]!;
    const onDevice = tree.isDevice[row] === 1;
    const duration = onDevice ? tree.durations[row]! : lasting(row);
    // An instant counts where its caller does.
    if (onDevice ? parent >= 0 && caller < 0 : duration === 0 && (caller < 0 || tree.durations[row]! > 0)) continue;
    const word = merged.of[names[row]!]!;
    const node = known.id(caller, word);
    if (node === paths.word.length) {
      paths.word.push(word);
      paths.kind.push(Number(kindColumn.values[row]!));
      paths.above.push(caller);
      for (const list of sums) list.push(0);
      paths.below.push([]);
      (caller < 0 ? paths.roots : paths.below[caller]!).push(node);
    }
    nodeOf[row] = node;
    ++paths.calls[node]!;
    if (onDevice) {
      paths.device[node]! += duration;
      paths.deviceSelf[node]! += duration;
    } else {
      paths.host[node]! += duration;
      paths.hostSelf[node]! += duration;
      // A thread that runs the backward pass for another is beside it, and takes nothing of its time.
      if (caller >= 0 && thread[row] === thread[parent]) paths.hostSelf[caller]! -= duration;
    }
  }
  for (let node = paths.word.length; node-- > 0; ) if (paths.above[node]! >= 0) paths.device[paths.above[node]!]! += paths.device[node]!;
  return paths;
}

// Marks of steps have a number in their name, and are one.
function mergedWords(words: string[]): { words: string[]; of: Uint32Array } {
  const all: string[] = [];
  const places = new Map<string, number>();
  const of = Uint32Array.from(words, (word) => {
    const name = word.replace(/^(ProfilerStep)#\d+$/, "$1");
    if (!places.has(name)) places.set(name, all.push(name) - 1);
    return places.get(name)!;
  });
  return { words: all, of };
}

const valuesOf = (paths: Paths, measure: Measure): number[] => (measure === "host" ? paths.host : paths.device);

// Several nodes of one name as one; what is below them is made when it is looked at.
class Merged implements TreeNode {
  readonly name: string;
  readonly kind: string;
  readonly value: number;
  private readonly paths: Paths;
  private readonly measure: Measure;
  private readonly nodes: number[];
  private made: TreeNode[] | undefined;

  constructor(paths: Paths, measure: Measure, nodes: number[], name: string, kind: string, value: number) {
    this.paths = paths;
    this.measure = measure;
    this.nodes = nodes;
    this.name = name;
    this.kind = kind;
    this.value = value;
  }

  get title(): string {
    const calls = this.nodes.reduce((sum, node) => sum + this.paths.calls[node]!, 0);
    return calls > 0 ? `${this.name}, ${calls} calls` : this.name;
  }

  get children(): TreeNode[] {
    return (this.made ??= mergedByName(this.paths, this.measure, this.nodes.flatMap((node) => this.paths.below[node]!)));
  }
}

function mergedByName(paths: Paths, measure: Measure, nodes: number[]): TreeNode[] {
  const byWord = new Map<number, number[]>();
  for (const node of nodes) {
    const list = byWord.get(paths.word[node]!);
    if (list === undefined) byWord.set(paths.word[node]!, [node]);
    else list.push(node);
  }
  const values = valuesOf(paths, measure);
  return [...byWord].map(([word, list]): TreeNode =>
    new Merged(paths, measure, list, paths.words[word]!, paths.kinds[paths.kind[list[0]!]!]!, sumOf(values, list))).filter((node) => node.value > 0);
}

const sumOf = (values: number[], nodes: number[]): number => nodes.reduce((sum, node) => sum + values[node]!, 0);

export function wholeTree(paths: Paths, measure: Measure, name: string): TreeNode {
  const children = mergedByName(paths, measure, paths.roots);
  return { name, children, value: children.reduce((sum, child) => sum + child.value, 0), kind: "other" };
}

// The nodes of a name that are in no other of that name.
function outermost(paths: Paths, word: number): number[] {
  const found: number[] = [];
  for (let node = 0; node < paths.word.length; ++node)
    if (paths.word[node] === word && !isWithin(paths, node)) found.push(node);
  return found;
}

function isWithin(paths: Paths, node: number): boolean {
  for (let above = paths.above[node]!; above >= 0; above = paths.above[above]!) if (paths.word[above] === paths.word[node]) return true;
  return false;
}

// What a name calls, wherever it is called.
export function calleesOf(paths: Paths, measure: Measure, name: string): TreeNode | null {
  const word = paths.words.indexOf(name);
  const nodes = word < 0 ? [] : outermost(paths, word);
  if (nodes.length === 0) return null;
  return new Merged(paths, measure, nodes, name, paths.kinds[paths.kind[nodes[0]!]!]!, sumOf(valuesOf(paths, measure), nodes));
}

// Who calls a name: callers below it, with the time that it takes for each.
export function callersOf(paths: Paths, measure: Measure, name: string): TreeNode | null {
  const word = paths.words.indexOf(name);
  const nodes = word < 0 ? [] : outermost(paths, word);
  if (nodes.length === 0) return null;
  const values = valuesOf(paths, measure);
  return callerNode(paths, nodes.map((node) => ({ at: node, value: values[node]! })));
}

interface Share { at: number; value: number }

function callerNode(paths: Paths, shares: Share[]): TreeNode {
  const { at } = shares[0]!;
  let made: TreeNode[] | undefined;
  return {
    name: paths.words[paths.word[at]!]!,
    kind: paths.kinds[paths.kind[at]!]!,
    value: shares.reduce((sum, share) => sum + share.value, 0),
    get children(): TreeNode[] {
      if (made !== undefined) return made;
      const byWord = new Map<number, Share[]>();
      for (const share of shares) {
        const above = paths.above[share.at]!;
        if (above < 0) continue;
        const list = byWord.get(paths.word[above]!) ?? [];
        list.push({ at: above, value: share.value });
        byWord.set(paths.word[above]!, list);
      }
      return (made = [...byWord.values()].map((list) => callerNode(paths, list)).filter((node) => node.value > 0));
    },
  };
}

export interface NameSum { word: number; kind: number; calls: number; host: number; hostSelf: number; device: number; deviceSelf: number }

// Each name with its sums; totals count a call within one of the same name once.
export function namesOf(paths: Paths): NameSum[] {
  const sums = new Map<number, NameSum>();
  for (let node = 0; node < paths.word.length; ++node) {
    const word = paths.word[node]!;
    let sum = sums.get(word);
    if (sum === undefined) sums.set(word, (sum = { word, kind: paths.kind[node]!, calls: 0, host: 0, hostSelf: 0, device: 0, deviceSelf: 0 }));
    sum.calls += paths.calls[node]!;
    sum.hostSelf += paths.hostSelf[node]!;
    sum.deviceSelf += paths.deviceSelf[node]!;
    if (isWithin(paths, node)) continue;
    sum.host += paths.host[node]!;
    sum.device += paths.device[node]!;
  }
  return [...sums.values()];
}
