// Who called what, from the spans of a rank: the caller of each span on the host, the launch of device work, and the lines of
// Python and the module around both. One pass over columns of numbers for each; no document here.
import type { Table } from "../../data/table.ts";
import { parseFrame } from "../../frames.ts";

// Lines of PyTorch and of packages: beside them the reader wants his own.
export const isLibrary = (path: string): boolean =>
  path.startsWith("<") || /(^|[\\/])(site-packages|dist-packages|lib[\\/]python3[^\\/]*|torch)[\\/]/.test(path);

export interface SpanTree {
  table: Table;
  words: string[];
  isDevice: Uint8Array;
  order: Uint32Array; // rows of the host and of device work; callers come before what they call
  parent: Int32Array; // the caller; of device work its launch; -1
  innerFrame: Int32Array; // row of the innermost line of Python around, of backward operators around the forward one; -1
  ownFrame: Int32Array; // the innermost that is of no library
  module: Int32Array; // the innermost nn.Module
  operator: Int32Array; // the innermost operator
  backward: Uint8Array; // 1: in the backward pass, as far as its forward operator is known
  durations: Float64Array;
  unlaunched: number; // pieces of device work whose launch is not there
}

export const MODULE = "nn.Module: ";
const NONE = -1;

export function spanTree(table: Table): SpanTree {
  const rows = table.rows;
  const starts = numbers(table, "start_ns"), durations = numbers(table, "dur_ns");
  const words = table.column("name").words, names = table.column("name").values as ArrayLike<number>;
  const isDevice = flags(table, "side", (word) => word === "device");
  const isOperator = flags(table, "kind", (word) => word === "operator");
  const isStep = flags(table, "kind", (word) => word === "step");
  const isWork = flags(table, "kind", (word) => word === "compute" || word === "communication" || word === "memory");
  const rowOfEvent = eventRows(table);
  const parent = new Int32Array(rows).fill(NONE), forward = new Int32Array(rows).fill(NONE);
  const link = table.column("link"), depth = table.column("depth");
  let unlaunched = 0;
  for (let row = 0; row < rows; ++row) {
    const to = table.isNull(link, row) ? NONE : rowOfEvent(Number(link.values[row]!) + Number(link.base));
    // Annotations and waits on the device's timeline are no work of its own.
    if (isDevice[row] && table.absolute(depth, row) < 0) isWork[row] = 0;
    if (!isDevice[row]) forward[row] = to;
    else if (isWork[row]) {
      parent[row] = to;
      if (to === NONE) ++unlaunched;
    }
  }
  const threads = threadsOf(table, isDevice);
  for (const thread of threads) findParents(thread, starts, durations, parent);
  const main = mainThread(threads, isStep, forward);
  const others = threads.filter((thread) => thread !== main);
  if (main !== undefined)
    for (const thread of others)
      if (hasForward(thread, forward)) attach(thread, main, starts, durations, parent);
  const order = new Uint32Array(rows);
  let count = 0;
  for (const thread of main === undefined ? others : [main, ...others])
    for (let row = thread.begin; row < thread.end; ++row) order[count++] = row;
  for (let row = 0; row < rows; ++row) if (isDevice[row] && isWork[row]) order[count++] = row;
  const tree: SpanTree = {
    table, words, isDevice, order: order.subarray(0, count), parent, durations, unlaunched,
    innerFrame: new Int32Array(rows), ownFrame: new Int32Array(rows), module: new Int32Array(rows), operator: new Int32Array(rows), backward: new Uint8Array(rows),
  };
  findSurroundings(tree, names, forward, isOperator);
  return tree;
}

function findSurroundings(tree: SpanTree, names: ArrayLike<number>, forward: Int32Array, isOperator: Uint8Array): void {
  const PLAIN = 0, OF_MODULE = 1, LIBRARY = 2, OWN = 3;
  const sorts = Uint8Array.from(tree.words, (word) => {
    if (word.startsWith(MODULE)) return OF_MODULE;
    const frame = parseFrame(word);
    return frame === null ? PLAIN : isLibrary(frame.path) ? LIBRARY : OWN;
  });
  const { parent, innerFrame, ownFrame, module, operator } = tree;
  for (const row of tree.order) {
    // What a backward operator is of is where its forward operator is.
    const around = forward[row]! !== NONE ? forward[row]! : parent[row]!;
    const has = around !== NONE;
    tree.backward[row] = forward[row]! !== NONE ? 1 : parent[row]! !== NONE ? tree.backward[parent[row]!]! : 0;
    const sort = tree.isDevice[row] ? PLAIN : sorts[names[row]!]!;
    innerFrame[row] = sort === LIBRARY || sort === OWN ? row : has ? innerFrame[around]! : NONE;
    ownFrame[row] = sort === OWN ? row : has ? ownFrame[around]! : NONE;
    module[row] = sort === OF_MODULE ? row : has ? module[around]! : NONE;
    operator[row] = isOperator[row] && !tree.isDevice[row] ? row : parent[row]! !== NONE ? operator[parent[row]!]! : NONE;
  }
}

function numbers(table: Table, name: string): Float64Array {
  const column = table.column(name), base = name === "start_ns" ? 0 : Number(column.base);
  const all = new Float64Array(table.rows);
  for (let row = 0; row < table.rows; ++row) all[row] = Number(column.values[row]!) + base;
  return all;
}

function flags(table: Table, name: string, test: (word: string) => boolean): Uint8Array {
  const column = table.column(name);
  const ofWords = column.words.map((word) => (test(word) ? 1 : 0));
  const all = new Uint8Array(table.rows);
  for (let row = 0; row < table.rows; ++row) all[row] = ofWords[Number(column.values[row]!)]!;
  return all;
}

function eventRows(table: Table): (event: number) => number {
  const column = table.column("event"), base = Number(column.base);
  let most = -1;
  for (let row = 0; row < table.rows; ++row) if (!table.isNull(column, row)) most = Math.max(most, Number(column.values[row]!) + base);
  const rows = new Int32Array(most + 1).fill(NONE);
  for (let row = 0; row < table.rows; ++row) if (!table.isNull(column, row)) rows[Number(column.values[row]!) + base] = row;
  return (event) => rows[event] ?? NONE;
}

interface Thread {
  begin: number;
  end: number;
  lanes: { depth: number; begin: number; end: number }[];
}

// Rows are by thread, depth, lane and start.
function threadsOf(table: Table, isDevice: Uint8Array): Thread[] {
  const [process, thread, depth, lane] = ["process", "thread", "depth", "lane"].map((name) => table.column(name).values);
  const threads: Thread[] = [];
  for (let row = 0; row < table.rows; ) {
    const isSame = (other: number) => process![other] === process![row] && thread![other] === thread![row];
    let end = row + 1;
    while (end < table.rows && isDevice[end] === isDevice[row] && depth![end] === depth![row] && lane![end] === lane![row] && isSame(end)) ++end;
    if (!isDevice[row]) {
      const last = threads[threads.length - 1];
      const run = { depth: table.absolute("depth", row), begin: row, end };
      if (last !== undefined && last.end === row && isSame(last.begin)) {
        last.lanes.push(run);
        last.end = end;
      } else threads.push({ begin: row, end, lanes: [run] });
    }
    row = end;
  }
  return threads;
}

// The place of the last row of [begin, end) that has begun by then; begin - 1: none.
function lastBegun(starts: Float64Array, begin: number, end: number, time: number): number {
  let low = begin, high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function findParents(thread: Thread, starts: Float64Array, durations: Float64Array, parent: Int32Array): void {
  for (const lane of thread.lanes) {
    const above = thread.lanes.filter((each) => each.depth === lane.depth - 1);
    for (let row = lane.begin; row < lane.end; ++row)
      for (const each of above) {
        const at = lastBegun(starts, each.begin, each.end, starts[row]!);
        if (at >= each.begin && starts[at]! + durations[at]! >= starts[row]! + durations[row]!) {
          parent[row] = at;
          break;
        }
      }
  }
}

const hasForward = (thread: Thread, forward: Int32Array): boolean => forward.subarray(thread.begin, thread.end).some((to) => to !== NONE);

// The one with the steps' marks; without them that of the forward operators, else the one with the most spans.
function mainThread(threads: Thread[], isStep: Uint8Array, forward: Int32Array): Thread | undefined {
  const steps = threads.map((thread) => isStep.subarray(thread.begin, thread.end).reduce((sum, is) => sum + is, 0));
  const most = Math.max(...steps);
  if (most > 0) return threads[steps.indexOf(most)];
  for (const to of forward)
    if (to !== NONE) return threads.find((thread) => thread.begin <= to && to < thread.end);
  return [...threads].sort((a, b) => b.end - b.begin - (a.end - a.begin))[0];
}

// The main thread waits in backward() for the threads that run it: its innermost span around each outermost one there is the
// caller.
function attach(thread: Thread, main: Thread, starts: Float64Array, durations: Float64Array, parent: Int32Array): void {
  for (let row = thread.begin; row < thread.end; ++row) {
    if (parent[row] !== NONE) continue;
    const end = starts[row]! + durations[row]!;
    for (let i = main.lanes.length; i-- > 0 && parent[row] === NONE; ) {
      const lane = main.lanes[i]!;
      const at = lastBegun(starts, lane.begin, lane.end, starts[row]!);
      if (at >= lane.begin && starts[at]! + durations[at]! >= end) parent[row] = at;
    }
  }
}
