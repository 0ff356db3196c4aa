// From samples of agents to charts, and to how hosts and ranks are now: what is not known stays so.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chartsOf, gpusOf, latest, newestNs, nowOf, ranksOf, RANGES, spanOf, timesOf, type Chart } from "../src/views/live/data.ts";
import { lonePlaces, pointTable } from "../src/data/points.ts";
import { rankTable } from "../src/views/live/tables.ts";
import { Table } from "../src/data/table.ts";
import { stacked } from "../src/views/captures/stacked.ts";
import { tableOfRows } from "./timeline_tables.ts";

const STEP = 5e9, BEGIN = 1795635470n;
const at = (seconds: number) => (BEGIN + BigInt(seconds)) * 1_000_000_000n;
const bases = { time_ns: at(0) };
const span = { fromNs: Number(at(0)), stepNs: STEP, steps: 4 };
const values = (charts: Chart[], panel: string, of = "", line = 0) => [...charts.find((chart) => chart.panel === panel && chart.of === of)!.lines[line]!.values];

test("steps begin at whole multiples, the last one is under way", () => {
  const found = spanOf(RANGES["10m"]!, Number(at(3)));
  assert.equal(found.fromNs % STEP, 0);
  const times = timesOf(found);
  assert.equal(times.length, 120);
  assert.ok(times[119]! <= Number(at(3)) && times[119]! > Number(at(3)) - STEP);
});

test("what is not told is a gap and never 0", () => {
  const cpu = tableOfRows("cpu", ["time_ns", "cpus", "idle_cores", "iowait_cores"], [
    [at(1), 4, null, null], [at(6), 4, 1.5, 0.5], [at(16), 4, 4, null],
  ], bases);
  const { charts, unknown } = chartsOf([cpu], span);
  assert.deepEqual(values(charts, "cpu"), [NaN, 0.5, NaN, 0]);
  assert.deepEqual(unknown, ["Memory in use", "Network", "Disks"]);
  const now = nowOf(charts, 0);
  assert.equal(now.cpu, 0);
  assert.ok(Number.isNaN(now.memory) && Number.isNaN(now.gpuBusy) && Number.isNaN(now.gpuLeast) && Number.isNaN(now.gpuMemory));
});

test("cards are added up, loopback is left out", () => {
  const network = tableOfRows("network", ["time_ns", "interface", "type", "rx_bytes_per_s", "tx_bytes_per_s"], [
    [at(1), "lo", "loopback", 1e6, 1e6], [at(1), "eth0", "ethernet", 10, null], [at(1), "eth1", "ethernet", 5, null],
  ], bases);
  const { charts } = chartsOf([network], span);
  assert.deepEqual(values(charts, "network"), [15, NaN, NaN, NaN]);
  assert.equal(charts.find((chart) => chart.panel === "network")!.lines.length, 1, "what was sent nobody knows");
});

test("what goes through a bond or a mapped disk is not added to its card or disk", () => {
  const received = (rows: (string | number | null)[][]) => values(chartsOf([tableOfRows("network", ["time_ns", "interface", "type", "driver", "rx_bytes_per_s"],
    rows.map((row) => [at(1), ...row]), bases)], span).charts, "network")[0];
  assert.equal(received([["lo", "loopback", null, 1e6], ["eth0", "ethernet", "mlx5_core", 10], ["eth1", "ethernet", "mlx5_core", 5], ["bond0", "ethernet", null, 15], ["bond0.7", "ethernet", null, 15]]), 15);
  assert.equal(received([["lo", "loopback", null, 1e6], ["eth0", "ethernet", null, 10]]), 10, "the only one of a container");
  assert.equal(received([["eth0", "ethernet", "virtio_net", 10]]), 10);
  const disk = tableOfRows("disk", ["time_ns", "device", "mapper_name", "read_bytes_per_s"], [
    [at(1), "nvme0n1", null, 7], [at(1), "sda", null, 1], [at(1), "dm-0", "vg-root", 7], [at(1), "md127", null, 7], [at(1), "mmcblk0", null, 2],
  ], bases);
  assert.deepEqual(values(chartsOf([disk], span).charts, "disk"), [10, NaN, NaN, NaN]);
});

test("each GPU has its charts, and says what it does not tell", () => {
  const gpu = tableOfRows("gpu", ["time_ns", "gpu", "name", "job", "rank", "utilization_ratio", "memory_used_bytes", "memory_total_bytes"], [
    [at(1), 10, "H100", "train", 3, 0.25, 1, 4], [at(1), 2, "H100", null, null, 0.75, null, 4],
  ], bases);
  const activity = tableOfRows("gpu_activity", ["time_ns", "gpu", "sm_active_ratio"], [[at(1), 2, 0.5]], bases);
  const { charts, unknown } = chartsOf([gpu, activity], span);
  assert.deepEqual(gpusOf([gpu]).map((each) => [each.of, each.title, each.job, each.rank]), [["2", "H100", "", ""], ["10", "H100", "train", "3"]]);
  assert.deepEqual(values(charts, "gpu", "10"), [0.25, NaN, NaN, NaN]);
  assert.ok(unknown.includes("power of GPU 2"));
  assert.deepEqual(charts.filter((chart) => chart.panel === "gpu").map((chart) => chart.lines.map((line) => line.label)), [["a kernel runs", "SMs active"], ["a kernel runs"]]);
  assert.deepEqual(values(charts, "gpu", "2", 1), [0.5, NaN, NaN, NaN]);
  const now = nowOf(charts, 2);
  assert.deepEqual([now.gpuBusy, now.gpuLeast, now.gpuMemory], [0.5, 0.25, 0.25], "the memory of one GPU is half known");
  assert.ok(Number.isNaN(nowOf(charts.map((chart) => ({ ...chart, lines: chart.lines.slice(1) })), 2).gpuBusy), "active SMs are not how busy it is");
});

test("the points of curves are a table with each value whole, and gaps where nothing is known", () => {
  const table = pointTable([Number(at(0)), Number(at(5))], [
    { of: "Processors busy", label: "busy", unit: "ratio", values: [0.1234567, NaN] },
    { of: "Memory in use, GPU 2", label: "of", unit: "bytes", values: Float64Array.of(NaN, 85_000_000_001) },
  ]);
  assert.deepEqual(table.columns.map((column) => [column.name, column.unit]), [["time", "none"], ["processors_busy_busy", "ratio"], ["memory_in_use_gpu_2_of", "bytes"]]);
  assert.deepEqual([0, 1].map((row) => table.exact("processors_busy_busy", row)), ["0.1234567", ""]);
  assert.deepEqual([0, 1].map((row) => table.exact("memory_in_use_gpu_2_of", row)), ["", "85000000001"]);
  assert.match(table.text("time", 1), /^\d{4}-\d\d?-\d\d? \d\d:\d\d:\d\d$/);
});

test("values without a neighbour are found, as no line leads to them", () => {
  assert.deepEqual(lonePlaces([1, null, 2, null, 3, 4, null, null, 0]), [0, 2, 8]);
  assert.deepEqual([lonePlaces([1]), lonePlaces([1, 2]), lonePlaces([null]), lonePlaces([])], [[0], [], [], []]);
});

test("what was known long ago is not known now", () => {
  assert.equal(latest(Float64Array.of(1, 2, NaN, NaN, NaN)), 2);
  assert.ok(Number.isNaN(latest(Float64Array.of(1, NaN, NaN, NaN, NaN))));
});

test("now is when the newest sample was taken, whatever the reader's clock says", () => {
  const cpu = tableOfRows("cpu", ["time_ns", "cpus"], [[at(1), 4], [at(6), 4]], bases);
  const memory = tableOfRows("memory", ["time_ns", "total_bytes"], [[at(7), 4], [at(2), 4]], bases);
  assert.equal(newestNs([cpu, memory, tableOfRows("other", ["a"], [[1]])]), Number(at(7)));
  assert.equal(newestNs([]), undefined);
});

test("ranks as they were at last, without those that are gone and what is of no job", () => {
  const job = tableOfRows("job", ["time_ns", "job", "rank", "user", "processes", "cpu_user_cores", "cpu_system_cores", "resident_bytes"], [
    [at(1), "train", 10, "ann", 1, 0.5, 0.5, 100], [at(6), "train", 10, "ann", 2, 1, 0.5, 200],
    [at(6), "train", 2, "ann", 1, null, null, 50], [at(1), "old", 0, "ann", 1, 1, 1, 1], [at(6), null, null, "ann", 9, 9, 9, 9],
  ], bases);
  const gpu = tableOfRows("gpu_job", ["time_ns", "gpu", "job", "rank", "user", "memory_bytes"], [
    [at(6), 10, "train", 10, "ann", 7], [at(6), 9, "train", 10, "ann", 8],
  ], bases);
  const step = tableOfRows("step", ["time_ns", "job", "rank", "user", "step_ns"], [
    [at(1), "train", 2, "ann", 5], [at(6), "train", 10, "ann", 4], [at(7), "train", 10, "ann", 3], [at(8), "train", 10, "ann", null],
  ], bases);
  const ranks = ranksOf([job, gpu, step], Number(at(35)));
  assert.deepEqual(ranks.map((rank) => [rank.job, rank.rank, rank.step, rank.processes, rank.cores, rank.resident, rank.gpus, rank.gpuMemory]), [
    ["train", "2", NaN, 1, NaN, 50, "", NaN], ["train", "10", 3, 2, 1.5, 200, "9,10", 15],
  ]);
});

test("a step's time is a mean, of which a fraction may be left", () => {
  const rank = { host: "a", job: "train", rank: "0", user: "ann", processes: 1, cores: 0.5, resident: 1, gpus: "", gpuMemory: NaN, step: 523412.3 };
  assert.equal(rankTable([rank]).exact("step_ns", 0), "523412.3");
});

test("tables of agents of two releases as one", () => {
  const one = tableOfRows("captures", ["host", "id", "processes"], [["gpu01.example", "a", 2]]);
  const two = tableOfRows("captures", ["host", "id", "written"], [["x", "b", 1], ["x", "c", null]]);
  const table = stacked("captures", [{ host: "gpu01", table: one }, { host: "gpu02", table: two }], (part, row) => part.text("id", row) !== "c")!;
  assert.deepEqual(["host", "id", "processes", "written"].map((name) => [table.exact(name, 0), table.exact(name, 1)]), [
    ["gpu01", "gpu02"], ["a", "b"], ["2", ""], ["", "1"],
  ]);
  const began = 1795635470123456789n;
  const timed = tableOfRows("captures", ["id", "began_ns"], [["a", began]], { began_ns: began });
  const times = new Table("captures", 1, timed.columns.map((column) => (column.name === "began_ns" ? { ...column, role: "time" } : column)));
  const both = stacked("captures", [{ host: "gpu01", table: times }, { host: "gpu02", table: one }])!;
  assert.deepEqual([0, 1].map((row) => both.exact("began_ns", row)), ["1795635470123456789", ""], "each digit of a time");
});
