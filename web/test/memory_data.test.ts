// The view of memory: windows, pieces that are held, thinning and stacks, on small tables.
import assert from "node:assert/strict";
import { test } from "node:test";
import { categoriesOf, curveOf, devicesOf, heldAt, holdersTable, largestPieces, linesOf, movedIn, operatorsTable, operatorsThatHold, piecesWithLines, rowsOf, stacksAt } from "../src/views/memory/data.ts";
import { tableOfRows } from "./timeline_tables.ts";

const START = 1_000n;
const keys = ["rank", "device_type", "device_id"];
const events = tableOfRows(
  "memory_events",
  [...keys, "operator", "bytes", "allocated_ns", "released_ns", "held_ns", "category", "phase", "module"],
  [
    [0, "CUDA", 0, "aten::mm", 100, 1_010n, 1_050n, 40, "activations", "forward", "Linear_0"],
    [0, "CUDA", 0, "aten::mm", 50, 1_020n, 1_040n, 20, "activations", "forward", "Linear_0"],
    [0, "CUDA", 0, "aten::add", 30, 1_030n, null, null, "gradients", "backward", null],
    [0, "CUDA", 0, null, 7, null, 1_035n, null, "unknown", "before", null],
  ],
  { allocated_ns: 1_000n, released_ns: 1_000n },
);
const rows = [0, 1, 2, 3];
const cells = (table: ReturnType<typeof holdersTable>) =>
  Array.from({ length: table.rows }, (_, row) => table.columns.map((column) => table.exact(column, row)).join("|"));

test("what is held at a moment was allocated by then and is not released by then", () => {
  assert.deepEqual(heldAt(events, rows, 30, START), [0, 1, 2]);
  assert.deepEqual(heldAt(events, rows, 40, START), [0, 2]);
  assert.deepEqual(heldAt(events, rows, 9, START), []);
});

test("holders add up to what is in use; what no piece tells of is from before", () => {
  const table = holdersTable(events, [0, 1, 2], 200);
  assert.deepEqual(cells(table), [
    "activations|aten::mm|150|0.75|2|forward|Linear_0",
    "gradients|aten::add|30|0.15|1|backward|",
    "unknown||20|0.1||before|",
  ]);
  assert.deepEqual(categoriesOf(table).map((each) => [each.category, each.bytes]), [["activations", 150], ["gradients", 30], ["from before the recording", 20]]);
  assert.deepEqual(operatorsThatHold(events, [0, 1, 2]), [{ operator: "aten::mm", bytes: 150, pieces: 2 }, { operator: "aten::add", bytes: 30, pieces: 1 }]);
});

test("a chosen time has what came and went in it", () => {
  const span = { from: 20, to: 40 };
  assert.deepEqual(movedIn(events, rows, span, START), [1, 2, 3]);
  assert.deepEqual(cells(operatorsTable(events, rows, span, START)), ["aten::mm|1|50|1|50|0", "aten::add|1|30|0|0|30", "|0|0|1|7|-7"]);
});

const series = (values: number[]) =>
  tableOfRows("memory_timeline_series", [...keys, "time_ns", "allocated_bytes", "reserved_bytes"],
    values.flatMap((value, i) => [[0, "CUDA", 0, 1_000n + BigInt(i * 10), value, 500]]), { time_ns: 1_000n });

test("a curve of a part of the time begins with what was in use before it and goes on to its end", () => {
  const curve = curveOf(series([100, 300, 50, 80]), "0/CUDA/0", START, { from: 15, to: 25 });
  assert.deepEqual([...curve.x], [15, 20, 25]);
  assert.deepEqual([...curve.allocated], [300, 50, 50]);
  assert.deepEqual([curve.peak, curve.peakNs], [300, 15]);
});

test("who holds memory in a chosen time adds up to the most in use in it, also what came before it", () => {
  // As the pieces above tell it, with 7 bytes from before the recording until 35.
  const told: [number, number][] = [[0, 7], [10, 107], [20, 157], [30, 187], [35, 180], [40, 130], [50, 30]];
  const curve = tableOfRows("memory_timeline_series", [...keys, "time_ns", "allocated_bytes", "reserved_bytes"],
    told.map(([ns, bytes]) => [0, "CUDA", 0, START + BigInt(ns), bytes, 500]), { time_ns: START });
  const most = (span: { from: number; to: number } | null) => {
    const { peak, peakNs } = curveOf(curve, "0/CUDA/0", START, span);
    const table = holdersTable(events, heldAt(events, rows, peakNs, START), peak);
    return [peak, peakNs, cells(table).map((row) => row.split("|").slice(0, 3).join())];
  };
  assert.deepEqual(most(null), [187, 30, ["activations,aten::mm,150", "gradients,aten::add,30", "unknown,,7"]]);
  assert.deepEqual(most({ from: 42, to: 60 }), [130, 42, ["activations,aten::mm,100", "gradients,aten::add,30"]]);
  assert.deepEqual(most({ from: 0, to: 12 }), [107, 10, ["activations,aten::mm,100", "unknown,,7"]]);
});

test("a thinned curve keeps its most and its least", () => {
  const values = Array.from({ length: 50_000 }, (_, i) => 100 + (i % 7));
  values[31_234] = 9_000;
  values[41_234] = 1;
  const curve = curveOf(series(values), "0/CUDA/0", START, null);
  assert.equal(curve.isThinned, true);
  assert.ok(curve.x.length <= 8_000);
  assert.equal(Math.max(...curve.allocated), 9_000);
  assert.equal(Math.min(...curve.allocated), 1);
  assert.deepEqual([curve.peak, curve.peakNs], [9_000, 312_340]);
  for (let i = 1; i < curve.x.length; ++i) assert.ok(curve.x[i]! >= curve.x[i - 1]!);
});

test("devices: accelerators first, the fullest one before others, with their sizes", () => {
  const timeline = tableOfRows("memory_timeline", [...keys, "peak_allocated_bytes", "peak_reserved_bytes", "peak_time_ns", "end_allocated_bytes"], [
    [0, "CPU", -1, 900, 0, 1_005n, 1],
    [0, "CUDA", 0, 300, 400, 1_006n, 2],
    [1, "CUDA", 1, 350, 400, 1_007n, 3],
  ], { peak_time_ns: 1_000n });
  const summary = tableOfRows("device_summary", ["rank", "device", "memory_bytes"], [[0, 0, 1_000], [1, 1, 2_000]]);
  const devices = devicesOf(timeline, summary, START);
  assert.deepEqual(devices.map((each) => [each.label, each.peak, each.peakNs, each.capacity]),
    [["rank 1, CUDA 1", 350, 7, 2_000], ["rank 0, CUDA 0", 300, 6, 1_000], ["rank 0, CPU", 900, 5, Number.NaN]]);
  assert.deepEqual(rowsOf(timeline, "1/CUDA/1"), [2]);
  assert.deepEqual(rowsOf(timeline, "2/CUDA/0"), []);
});

const spans = tableOfRows("spans", ["side", "process", "thread", "start_ns", "dur_ns", "name", "kind", "depth"], [
  ["host", 1, 10, 1_000n, 100, "train.py(3): step", "python", 0],
  ["host", 1, 10, 1_010n, 20, "aten::mm", "operator", 1],
  ["host", 1, 10, 1_012n, 5, "cudaMalloc", "runtime", 2],
  ["host", 1, 10, 1_030n, 5, "aten::add", "operator", 1],
  ["host", 1, 11, 1_000n, 100, "other.py(5): serve", "python", 0],
  ["device", null, null, 1_000n, 100, "kernel", "compute", 0],
], { start_ns: 1_000n });

test("stacks are those of the thread that is inside the operator", () => {
  const at = (ns: number, operator: string) => ({ ns, operator });
  const stacks = stacksAt(spans, [at(15, "aten::mm"), at(40, "aten::mm"), at(30, "aten::add")], START);
  assert.deepEqual(stacks.map((stack) => stack.map((frame) => frame.name)), [["aten::mm", "train.py(3): step"], [], ["aten::add", "train.py(3): step"]]);
});

test("who holds memory has the line of its largest piece, but none of what no operator allocated", () => {
  const moved = tableOfRows("memory_events", [...keys, "operator", "bytes", "allocated_ns", "released_ns", "category", "phase", "module"], [
    [0, "CUDA", 0, "aten::mm", 50, 1_040n, null, "activations", "forward", "Linear_0"],
    [0, "CUDA", 0, "aten::mm", 100, 1_015n, null, "activations", "forward", "Linear_0"],
    [0, "CUDA", 0, null, 900, 1_015n, null, "unknown", "other", null],
  ], { allocated_ns: 1_000n, released_ns: 1_000n });
  const holders = tableOfRows("memory_at_peak", ["category", "operator", "bytes", "phase", "module"], [
    ["unknown", null, 900, "other", null],
    ["activations", "aten::mm", 150, "forward", "Linear_0"],
    ["activations", "others", 10, null, null],
  ]);
  const pieces = largestPieces(moved, [0, 1, 2], holders);
  assert.deepEqual([...pieces], [[0, 2], [1, 1]]);
  const wanted = piecesWithLines(moved, pieces, holders);
  assert.deepEqual(wanted, [[1, 1]]);
  assert.deepEqual([...linesOf(moved, wanted, spans, START)], [[1, "train.py(3): step"]]);
});
