// What the views of the whole job make of tables: sums over ranks, steps that stand out, trees of modules and calls, and the
// lines that launch kernels.
import assert from "node:assert/strict";
import { test } from "node:test";
import { groupsOf, means, numbersColumn, summed, sums, textsColumn } from "../src/data/made_table.ts";
import { rowsOfRank, pickRows } from "../src/data/rows.ts";
import { Table, type Column } from "../src/data/table.ts";
import { rangesHave } from "../src/ranges.ts";
import { piecesOf } from "../src/table_mentions.ts";
import { calleesOf, callersOf, namesOf, pathsOf, wholeTree } from "../src/views/call_tree/paths.ts";
import { kernelTable } from "../src/views/kernels/data.ts";
import { costliest, moduleTree, namesInPath, rowsInSight } from "../src/views/modules/data.ts";
import { largest, overRanks } from "../src/views/operators/data.ts";
import { devicePartsOf, evidenceOf, faultsByView, findingsByRank, withFindings } from "../src/views/overview/data.ts";
import { kernelOrigins, linesOf, operatorOrigins } from "../src/views/shared/origins.ts";
import { Pairs } from "../src/views/shared/pairs.ts";
import { isLibrary, spanTree } from "../src/views/shared/span_tree.ts";
import { meanStep, stepSums } from "../src/views/shared/step_parts.ts";
import { stepWindow } from "../src/views/shared/step_windows.ts";
import { faultOf, levelsOf, mostDifferent, oddest, stepGrid, stepLengths } from "../src/views/steps/data.ts";

type Cells = Record<string, (number | string | null)[]>;

function made(name: string, cells: Cells): Table {
  const columns = Object.entries(cells).map(([key, values]): Column => {
    const look = { help: key };
    if (values.some((value) => typeof value === "string")) return textsColumn(key, values.map((value) => String(value ?? "")), look);
    return numbersColumn(key, values.map((value) => (value === null ? Number.NaN : Number(value))), look);
  });
  return new Table(name, Object.values(cells)[0]!.length, columns);
}

test("rows are added up by their keys; what no row knows stays unknown", () => {
  const table = made("t", { rank: [0, 0, 1], name: ["a", "b", "a"], ns: [1, 2, 4], total: [null, null, null], part: [0.5, 1, 0] });
  const added = summed(table, ["name"], ["ns", "total"], rowsOfRank(table, ""));
  assert.deepEqual([added.text("name", 0), added.exact("ns", 0), added.exact("total", 0)], ["a", "5", ""]);
  assert.deepEqual([added.rows, added.exact("ns", 1)], [2, "2"]);
  const groups = groupsOf(table, ["name"], rowsOfRank(table, ""));
  assert.deepEqual([...means(table, groups, "part", "ns")], [0.5 / 5, 1]);
  assert.deepEqual([...sums(table, groupsOf(table, ["name"], rowsOfRank(table, "1")), "ns")], [4]);
  assert.equal(pickRows(table, [2, 0]).exact("ns", 0), "4");
});

test("operators over ranks: the rest comes last, and shares are of the sum", () => {
  const table = made("operators", {
    rank: [0, 0, 0, 1, 1], name: ["a", "b", "others", "b", "a"], calls: [1, 1, 9, 1, 1],
    host_total_ns: [1, 1, null, 1, 1], host_self_ns: [1, 1, 1, 1, 1], device_total_ns: [5, 3, null, 30, 6], device_self_ns: [5, 3, 99, 30, 6],
  });
  const sum = overRanks(table, "");
  assert.deepEqual([0, 1, 2].map((row) => sum.text("name", row)), ["b", "a", "others"]);
  assert.deepEqual([0, 1, 2].map((row) => sum.exact("device_self_ns", row)), ["33", "11", "99"]);
  assert.equal(sum.exact("device_total_ns", 2), "");
  const { shares, sum: all } = largest(sum, "device_self_ns", 1);
  assert.deepEqual(shares.map((share) => [share.name, share.value]), [["b", 33], ["others", 110]]);
  assert.equal(all, 143);
});

test("a rank's device time is in parts that add up to it", () => {
  const temporal = made("temporal_breakdown", { rank: [3], kernel_time_ns: [100], idle_ns: [10], compute_ns: [60], non_compute_ns: [30] });
  const overlap = made("comm_comp_overlap", { rank: [3], communication_ns: [45], compute_and_communication_ns: [20] });
  const parts = devicePartsOf(temporal, 0, overlap, null);
  assert.deepEqual(parts.map((part) => part.value), [40, 20, 25, 5, 10]);
  assert.equal(parts.reduce((sum, part) => sum + part.value, 0), 100);
  const sooner = devicePartsOf(temporal, 0, null, null);
  assert.deepEqual(sooner.map((part) => [part.label, part.value]), [["compute", 60], ["communication, copies and sets", 30], ["idle", 10]], "what is communication is not known yet");
});

const breakdown = made("step_breakdown", {
  rank: [0, 0, 1, 1], number: [1, 2, 1, 2], start_ns: [0, 10, 0, 10], dur_ns: [10, 20, 12, 20], kernel_ns: [4, 4, 12, 12], copy_ns: [1, 1, 0, 0],
  set_ns: [0, 0, 0, 0], communication_ns: [5, 15, 0, 8], runtime_ns: [0, 0, 0, 0], data_loader_ns: [0, 0, 0, 0], host_ns: [0, 0, 0, 0], other_ns: [0, 0, 0, 0],
});

test("steps are means over ranks, in parts that add up", () => {
  const steps = stepSums(breakdown, [0, 1, 2, 3]);
  assert.deepEqual(steps.map((step) => [step.number, step.total, step.parts[0]]), [[1, 11, 8], [2, 20, 8]]);
  for (const step of steps) assert.equal(step.parts.reduce((sum, part) => sum + part, 0), step.total);
  assert.equal(meanStep(steps)!.total, 15.5);
  assert.equal(meanStep([]), null);
});

test("ranks of different lengths: a step is the mean over the ranks that have it, and of one that lacks it nothing is known", () => {
  const cells = { rank: [0, 0, 0, 1], number: [1, 2, 3, 1], start_ns: [0, 10, 20, 0], dur_ns: [10, 10, 10, 30] };
  const parts = Object.fromEntries(["kernel_ns", "copy_ns", "set_ns", "communication_ns", "runtime_ns", "data_loader_ns", "host_ns", "other_ns"].map((name, i) => [name, i === 0 ? cells.dur_ns : [0, 0, 0, 0]]));
  const table = made("step_breakdown", { ...cells, ...parts });
  const sums = stepSums(table, rowsOfRank(table, ""));
  assert.deepEqual(sums.map((step) => [step.number, step.rows, step.total, step.parts[0]]), [[1, 2, 20, 20], [2, 1, 10, 10], [3, 1, 10, 10]]);
  assert.equal(meanStep(sums)!.total, 40 / 3);
  assert.deepEqual(stepSums(table, rowsOfRank(table, "1")).map((step) => step.number), [1]);
  const lengths = stepGrid(table, "dur_ns");
  assert.deepEqual([stepLengths(lengths), lengths.value(1, 2)], [[20, 10, 10], Number.NaN]);
  const temporal = made("temporal_breakdown", { rank: [0, 1], kernel_time_ns: [30, 90], idle_ns: [10, 0], compute_ns: [20, 90], non_compute_ns: [0, 0] });
  assert.deepEqual([0, 1].map((row) => devicePartsOf(temporal, row, null, null).reduce((sum, part) => sum + part.value, 0)), [30, 90]);
});

test("what stands out is a rank, a step, or one cell of both", () => {
  const grid = (values: number[][]) => ({
    ranks: values.map((_, i) => String(i)), numbers: values[0]!.map((_, i) => String(i)),
    value: (rank: number, step: number) => values[rank]![step]!, row: () => 0,
  });
  assert.equal(oddest(grid([[10, 10, 10], [10, 10, 10]])), null);
  assert.deepEqual(oddest(grid([[10, 10, 10], [10, 10, 10], [15, 15, 15]])), { rank: 2, step: -1, value: 15, typical: 10 });
  assert.deepEqual(oddest(grid([[10, 30, 10], [10, 30, 10], [10, 30, 10]])), { rank: -1, step: 1, value: 30, typical: 10 });
  assert.deepEqual(oddest(grid([[10, 10, 10], [10, 90, 10], [10, 10, 10]])), { rank: 1, step: 1, value: 90, typical: 10 });
  const many = grid(Array.from({ length: 100 }, (_, rank) => [10, rank === 70 ? 50 : 10]));
  assert.ok(mostDifferent(many, 5).includes(70));
  assert.equal(mostDifferent(many, 5).length, 5);
  assert.ok(!mostDifferent(many, 5).includes(60));
  assert.deepEqual(mostDifferent(many, 2, many.ranks[60]), [60, 70], "whose steps are shown is among them");
});

test("a step's window counts from the job's start", () => {
  assert.deepEqual(stepWindow(breakdown, "1", "2", 4n), { step: "2", params: { from: "6", to: "26" } });
  assert.equal(stepWindow(breakdown, "7", "", 0n), null);
  assert.equal(stepWindow(breakdown, "", "", 0n)!.step, "2");
  const cells = stepGrid(breakdown, "kernel_ns");
  assert.deepEqual([cells.ranks, cells.numbers, cells.value(1, 0)], [["0", "1"], ["1", "2"], 12]);
  assert.deepEqual([1, 2, 3, 9].map(rangesHave("1-2,9")), [true, true, false, true]);
});

test("the evidence of a finding leads to a view", () => {
  assert.deepEqual(evidenceOf("spotter analyze /x --table kernel_breakdown --ranks 3"), { table: "kernel_breakdown", view: "kernels", ranks: "3" });
  assert.equal(evidenceOf("spotter analyze x --table memory_bandwidth").view, "tables");
});

test("modules are a tree by path, with a slash in a name", () => {
  assert.deepEqual(namesInPath("a\\/b/c"), ["a/b", "c"]);
  const table = made("modules", {
    rank: [0, 0, 0, 1], path: ["m", "m/a\\/b", "m/a\\/b/c", "m"], calls: [1, 1, 2, 1], device_total_ns: [10, 8, 3, 10], device_self_ns: [2, 5, 3, 10],
    backward_device_ns: [20, 16, 6, null], host_total_ns: [1, 1, 1, 1], host_self_ns: [1, 1, 1, 1], backward_host_ns: [0, 0, 0, 0], operators: [1, 1, 1, 1],
  });
  const [root] = moduleTree(table, "0");
  assert.deepEqual([root!.name, root!.children[0]!.name, root!.children[0]!.children[0]!.name], ["m", "a/b", "c"]);
  assert.equal(moduleTree(table, "").at(0)!.forward.device, 20);
  assert.deepEqual(costliest([root!], "device", "both"), { module: root!.children[0], own: 24 - 9 });
  assert.deepEqual(rowsInSight([root!], () => false, "C").map((row) => row.module.name), ["m", "a/b", "c"]);
  assert.deepEqual(rowsInSight([root!], () => false, "").map((row) => row.module.name), ["m"]);
});

// Thread 1: train [0, 100) calls step [1, 99), in it linear [2, 10) calls mm [3, 9), which launches; backward [50, 90) waits for
// thread 2, whose MmBackward [60, 70) launches, too.
const spans = made("spans", {
  side: ["host", "host", "host", "host", "host", "host", "host", "host", "device", "device", "device", "device"],
  process: [1, 1, 1, 1, 1, 1, 1, 1, null, null, null, null], thread: [1, 1, 1, 1, 1, 1, 2, 2, null, null, null, null],
  device: [null, null, null, null, null, null, null, null, 0, 0, 0, 0], stream: [null, null, null, null, null, null, null, null, 7, 7, 7, 7],
  start_ns: [0, 1, 2, 50, 3, 4, 60, 61, 5, 200, 300, 400], dur_ns: [100, 98, 8, 40, 6, 1, 10, 1, 9, 30, 50, 60],
  name: ["train.py(3): main", "ProfilerStep#4", "torch/nn/linear.py(9): forward", "torch/_tensor.py(6): backward", "aten::mm", "launch", "MmBackward", "launch",
    "note", "gemm", "gemm", "lost"],
  kind: ["python", "step", "python", "python", "operator", "runtime", "operator", "runtime", "annotation", "compute", "compute", "compute"],
  depth: [0, 1, 2, 2, 3, 4, 0, 1, -1, 0, 0, 0], lane: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  event: [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21], link: [null, null, null, null, null, null, 14, null, null, 15, 17, 99],
});

test("callers are the spans around, launches, and who waits for the backward pass", () => {
  const tree = spanTree(spans);
  assert.deepEqual([...tree.parent], [-1, 0, 1, 1, 2, 4, 3, 6, -1, 5, 7, -1]);
  assert.equal(tree.unlaunched, 1);
  const paths = pathsOf(tree);
  const root = wholeTree(paths, "device", "all");
  assert.equal(root.value, 30 + 50 + 60);
  assert.deepEqual(root.children.map((child) => [child.name, child.value]), [["train.py(3): main", 80], ["lost", 60]]);
  assert.deepEqual(callersOf(paths, "device", "gemm")!.children.map((child) => [child.name, child.value]), [["launch", 80]]);
  assert.deepEqual(callersOf(paths, "device", "launch")!.children.map((child) => child.name), ["aten::mm", "MmBackward"]);
  assert.deepEqual(calleesOf(paths, "device", "aten::mm")!.children.map((child) => [child.name, child.value]), [["launch", 30]]);
  assert.equal(calleesOf(paths, "device", "nothing"), null);
  const names = new Map(namesOf(paths).map((each) => [paths.words[each.word], each]));
  assert.deepEqual([names.get("ProfilerStep")!.hostSelf, names.get("torch/_tensor.py(6): backward")!.hostSelf], [98 - 8 - 40, 40]);
  assert.equal(names.has("note"), false);
});

test("only what is in the chosen time counts, and what it launched", () => {
  const tree = spanTree(spans);
  const starts = spans.column("start_ns").values as Float64Array;
  const early = pathsOf(tree, (row) => Math.max(0, Math.min(starts[row]! + tree.durations[row]!, 20) - starts[row]!));
  assert.deepEqual(wholeTree(early, "device", "all").children.map((child) => [child.name, child.value]), [["train.py(3): main", 30], ["lost", 60]]);
  assert.equal(wholeTree(early, "host", "all").value, 20);
});

test("a call within one of its own name counts once", () => {
  const rows = made("spans", {
    side: ["host", "host", "host"], process: [1, 1, 1], thread: [1, 1, 1], device: [null, null, null], stream: [null, null, null],
    start_ns: [0, 1, 2], dur_ns: [10, 5, 1], name: ["f", "f", "g"], kind: ["operator", "operator", "operator"], depth: [0, 1, 2], lane: [0, 0, 0],
    event: [0, 1, 2], link: [null, null, null],
  });
  const [f] = namesOf(pathsOf(spanTree(rows)));
  assert.deepEqual([f!.calls, f!.host, f!.hostSelf], [2, 10, 9]);
});

test("a kernel's line is that around its launch, of the backward pass that of the forward operator", () => {
  const origins = kernelOrigins(spanTree(spans)).get("gemm")!;
  assert.deepEqual(origins.map((source) => [source.operator, source.inner?.path, source.inner?.line, source.own?.path, source.sum]),
    [["MmBackward", "torch/nn/linear.py", 9, "train.py", 50], ["aten::mm", "torch/nn/linear.py", 9, "train.py", 30]]);
  assert.deepEqual(linesOf(origins).map((line) => [line.frame.line, line.backward, line.runs, line.sum]), [[9, false, 2, 80]]);
  assert.deepEqual(["/usr/lib/python3.11/threading.py", "<string>", "/x/site-packages/a.py", "/home/torchy/train.py"].map(isLibrary), [true, true, true, false]);
});

test("an operator's lines are those around its calls", () => {
  const tree = spanTree(spans);
  assert.deepEqual(operatorOrigins(tree, "MmBackward").map((source) => [source.inner?.line, source.runs, source.sum]), [[9, 1, 10]]);
  assert.deepEqual(operatorOrigins(tree, "launch"), []);
  assert.deepEqual(operatorOrigins(tree, "nothing"), []);
});

test("modules that share a name are told apart by the way to them", () => {
  // Name, depth, start, end. What runs again knows less of what is around it, and is the same module.
  const calls: [string, number, number, number][] = [
    ["nn.Module: Net_0", 0, 0, 100], ["nn.Module: Head_0", 0, 200, 230],
    ["nn.Module: Body_0", 1, 1, 40], ["nn.Module: Head_0", 1, 50, 90], ["nn.Module: fc1_0", 1, 201, 229],
    ["nn.Module: fc1_0", 2, 2, 39], ["nn.Module: fc1_0", 2, 51, 89], ["aten::mm", 2, 202, 212],
    ["aten::mm", 3, 3, 13], ["aten::mm", 3, 52, 72], ["aten::relu", 1, 91, 99],
  ].sort((a, b) => (a[1] as number) - (b[1] as number) || (a[2] as number) - (b[2] as number)) as [string, number, number, number][];
  const all = <T>(value: T): T[] => calls.map(() => value);
  const tree = spanTree(made("spans", {
    side: all("host"), process: all(1), thread: all(1), device: all(null), stream: all(null),
    start_ns: calls.map((call) => call[2]), dur_ns: calls.map((call) => call[3] - call[2]), name: calls.map((call) => call[0]),
    kind: calls.map((call) => (call[0].startsWith("aten") ? "operator" : "python")), depth: calls.map((call) => call[1]), lane: all(0),
    event: calls.map((_, i) => i), link: all(null),
  }));
  assert.deepEqual(operatorOrigins(tree, "aten::mm").map((origin) => [origin.module, origin.runs]), [["Net_0/Head_0/fc1_0", 2], ["Net_0/Body_0/fc1_0", 1]]);
  assert.equal(operatorOrigins(tree, "aten::relu")[0]!.module, "Net_0");
});

test("pairs have a number each, also when there are many", () => {
  const pairs = new Pairs();
  for (let i = 0; i < 5000; ++i) assert.equal(pairs.id(i % 50 - 1, (i / 50) | 0), i);
  for (let i = 4999; i >= 0; i -= 7) assert.equal(pairs.id(i % 50 - 1, (i / 50) | 0), i);
  assert.equal(pairs.count, 5000);
});

test("kernels have their sums over ranks, their line, and how ranks differ", () => {
  const table = kernelTable({
    breakdown: made("kernel_breakdown", {
      rank: [0, 0, 1], kind: ["compute", null, "compute"], name: ["gemm", "others", "gemm"], count: [1, 5, 3], sum_ns: [10, 100, 50], min_ns: [10, 1, 2], max_ns: [10, 9, 30], mean_ns: [10, 20, 17],
    }),
    groups: null,
    distribution: made("kernel_duration_distribution", { kind: ["compute"], name: ["gemm"], ranks: [2], fastest_mean_ns: [10], slowest_mean_ns: [15], slowest_rank: [1] }),
    origins: kernelOrigins(spanTree(spans)),
  }, "");
  assert.deepEqual(["name", "sum_ns", "count", "mean_ns", "min_ns", "max_ns", "spread_ratio", "slowest_rank", "source_line", "share_ratio"].map((name) => table.exact(name, 0)),
    ["gemm", "60", "4", "15", "2", "30", "0.5", "1", "torch/nn/linear.py:9", "0.375"]);
  assert.equal(table.text("name", 1), "others");
});

test("tables that a sentence names are found in it", () => {
  assert.deepEqual(piecesOf("late starts take 2 ms more (--table job_critical_path)."), [{ text: "late starts take 2 ms more (" }, { table: "job_critical_path" }, { text: ")." }]);
  assert.deepEqual(piecesOf("--table a --table b"), [{ table: "a" }, { text: " " }, { table: "b" }]);
  assert.deepEqual(piecesOf("no --tables at all, nor --table <x>"), [{ text: "no --tables at all, nor --table <x>" }]);
});

test("devices of ranks that a finding names say which", () => {
  const findings = made("findings", { kind: ["opportunity", "fault", "fault", "opportunity"], mechanism: ["small_kernels", "slow_device", "slow_link", "copies"], ranks: ["", "3", "0-1,3", "2"] });
  const devices = made("device_summary", { rank: [0, 2, 3, 7], name: ["a", "b", "c", "d"] });
  const table = withFindings(devices, findings);
  assert.deepEqual([0, 1, 2, 3].map((row) => table.text("finding", row)), ["fault: slow link", "opportunity: copies", "fault: slow device", ""]);
  assert.equal(table.columns[0]!.name, "rank");
  assert.equal(findingsByRank(findings, "fault")(2), -1);
  const ofAll = made("findings", { kind: ["fault"], mechanism: ["x"], ranks: [""] });
  assert.equal(withFindings(devices, ofAll), devices, "what is of all ranks marks none");
  assert.equal(withFindings(devices, null), devices);
});

test("a view in which faults are seen says them, and a table without a view of its own is the one that is led to", () => {
  const findings = made("findings", {
    kind: ["fault", "opportunity", "fault", "fault", "fault"], ranks: ["3", "", "", "", ""], share: [0.5, 0.1, 0.1, 0.1, 0.1], finding: ["slow", "small", "throttled", "swapped", "odd"],
    evidence: ["kernel_breakdown", "operators", "device_summary", "summary", ""].map((table) => `spotter analyze job${table && ` --table ${table}`}`),
  });
  assert.deepEqual([...faultsByView(findings)], [
    ...["kernels", "distributed", "critical-path"].map((view) => [view, { said: "A fault is seen here: slow", params: {} }]),
    ["tables", { said: "A fault is seen here: throttled (table device_summary) swapped (table summary)", params: { table: "device_summary" } }],
  ]);
});

test("steps of two levels are seen as such, and judged each by its own", () => {
  const alternating = levelsOf([2, 17, 2, 18])!;
  assert.deepEqual([alternating.typical, alternating.count, alternating.alternate], [[2, 17.5], [2, 2], true]);
  const everyFourth = levelsOf([10, 11, 10, 30, 10, 11, 10, 30])!;
  assert.deepEqual([everyFourth.typical, everyFourth.count, everyFourth.alternate], [[10, 30], [6, 2], false]);
  for (const steps of [[], [5], [2, 17], [2, 2, 2, 17], [10, 11, 12, 13], [10, 20, 30, 40], [10, 10, 14, 14], [1, 5, 6, 9, 10]])
    assert.equal(levelsOf(steps), null, steps.join());
  assert.equal(levelsOf([...new Array<number>(20).fill(10), 30, 30]), null, "two of many are odd, and no level");
  const grid = (steps: number[]) => stepGrid(made("steps", { rank: steps.map(() => 0), number: steps.map((_, i) => i), dur_ns: steps }), "dur_ns");
  assert.equal(oddest(grid([200, 1700, 200, 1700, 200])), null);
  const odd = oddest(grid([200, 1700, 200, 1700, 260, 1700]))!;
  assert.deepEqual([odd.step, odd.typical], [4, 200]);
});

test("the steps' fault and the rank that is shown are of one fault, and a rank that is filtered out is not shown", () => {
  const findings = (...rows: [kind: string, ranks: string, table: string][]) => made("findings", {
    kind: rows.map(([kind]) => kind), ranks: rows.map(([, ranks]) => ranks), finding: rows.map((_, row) => `said ${row}`),
    evidence: rows.map(([, , table]) => `spotter analyze job --table ${table}`), share: rows.map(() => 0.3),
  });
  const all = ["0", "1", "2", "3"];
  assert.deepEqual(faultOf(findings(["opportunity", "1", "steps"], ["fault", "", "operators"], ["fault", "2-3", "stragglers"]), all), { said: "said 2", ranks: "2-3", rank: "2" });
  const two = findings(["fault", "3", "stragglers"], ["fault", "1", "stragglers"]);
  assert.deepEqual(faultOf(two, all), { said: "said 0", ranks: "3", rank: "3" });
  assert.deepEqual(faultOf(two, ["0", "1"]), { said: "said 0", ranks: "3", rank: undefined }, "not that of the other fault");
  assert.deepEqual(faultOf(findings(["fault", "", "step_breakdown"], ["fault", "1", "stragglers"]), all), { said: "said 0", ranks: "", rank: undefined });
  assert.equal(faultOf(findings(["fault", "", "operators"], ["caveat", "1", "steps"]), all), null);
});
