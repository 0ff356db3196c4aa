// Modules as users know them: by their name (Linear_0) or, where several have it, by the way to them through the modules
// around, as the program's tables of memory name them (src/analyze/memory/module_paths.h).
import { Pairs } from "./pairs.ts";
import { MODULE, type SpanTree } from "./span_tree.ts";

const DEEPEST = 100;
const NONE = -1;

interface Path { around: number; word: number; depth: number }

// By row of a module; "" with -1.
export function moduleNames(tree: SpanTree): (row: number) => string {
  const names = tree.table.column("name").values as ArrayLike<number>;
  const isModule = Uint8Array.from(tree.words, (word) => Number(word.startsWith(MODULE)));
  const pathOf = new Int32Array(tree.parent.length).fill(NONE); // the innermost module at or around
  const ids = new Pairs(), paths: Path[] = [];
  for (const row of tree.order) {
    const above = tree.parent[row]!;
    const around = above === NONE ? NONE : pathOf[above]!;
    pathOf[row] = around;
    if (tree.isDevice[row] || !isModule[names[row]!]) continue;
    const depth = around === NONE ? 1 : paths[around]!.depth + 1;
    if (depth > DEEPEST) continue;
    const id = ids.id(around, names[row]!);
    if (id === paths.length) paths.push({ around, word: names[row]!, depth });
    pathOf[row] = id;
  }
  const texts = textsOf(paths, tree.words);
  return (row) => (row === NONE || pathOf[row] === NONE ? "" : texts[pathOf[row]!]!);
}

function textsOf(paths: Path[], words: string[]): string[] {
  // By the names from the innermost one outwards: a path comes right before those that end with it.
  const compare = (a: number, b: number): number => {
    for (; a !== NONE && b !== NONE; a = paths[a]!.around, b = paths[b]!.around)
      if (paths[a]!.word !== paths[b]!.word) return paths[a]!.word - paths[b]!.word;
    return a === b ? 0 : a === NONE ? -1 : 1;
  };
  const endsWith = (path: number, end: number): boolean => {
    for (; end !== NONE; path = paths[path]!.around, end = paths[end]!.around)
      if (path === NONE || paths[path]!.word !== paths[end]!.word) return false;
    return true;
  };
  const nameOf = (path: number): string => words[paths[path]!.word]!.slice(MODULE.length);
  const textOf = (path: number): string => {
    const { around } = paths[path]!, name = nameOf(path).replace(/[\\/]/g, "\\$&");
    return around === NONE ? name : `${textOf(around)}/${name}`;
  };
  const order = paths.map((_, path) => path).sort(compare);
  const isWhole = order.map((path, i) => i + 1 === order.length || !endsWith(order[i + 1]!, path));
  const texts: string[] = new Array(paths.length);
  for (let begin = 0, end = 0; begin < order.length; begin = end) {
    let whole = 0;
    for (; end < order.length && paths[order[end]!]!.word === paths[order[begin]!]!.word; ++end) whole += Number(isWhole[end]);
    for (let i = begin; i < end; ++i) {
      // A path that one other alone ends with is of the same module, where less is around it.
      const ending: number[] = [];
      for (let j = i; j < end && ending.length < 2 && endsWith(order[j]!, order[i]!); ++j) if (isWhole[j]) ending.push(order[j]!);
      const path = ending.length === 1 ? ending[0]! : order[i]!;
      texts[order[i]!] = whole === 1 ? nameOf(path) : textOf(path);
    }
  }
  return texts;
}
