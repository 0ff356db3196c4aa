// The view of a distributed job: who is to blame, and which runs are one collective.
import assert from "node:assert/strict";
import { test } from "node:test";
import { blame, collectiveRuns, collectivesOf, notableRanks, rankSteps, shareOfStep, stepNumbers, type Run } from "../src/views/distributed/data.ts";
import { tableOfRows } from "./timeline_tables.ts";

const steps = tableOfRows(
  "comm_steps",
  ["rank", "number", "start_ns", "dur_ns", "compute_ns", "overlap_ns", "exposed_ns", "other_ns", "transfer_ns", "wait_ns"],
  [
    [0, 9, 0, 100, 40, 10, 40, 10, 20, 30],
    [0, 10, 100, 120, 40, 20, 50, 10, 20, 50],
    [1, 9, 0, 100, 90, 5, 0, 5, 5, 0],
    [1, 10, 100, 120, 110, 5, 0, 5, 5, 0],
  ],
);
test("what is not known of a rank is not 0 in the mean", () => {
  const [one] = rankSteps(steps, "10");
  const lost = { ...one!, overlap: NaN, exposed: NaN, transfer: NaN, wait: NaN };
  assert.deepEqual(shareOfStep([one!, lost], "wait"), { share: 50 / 120, of: 1 });
  assert.deepEqual(shareOfStep([lost], "exposed"), { share: NaN, of: 0 });
});

const stragglers = (caused: number, last: number) =>
  tableOfRows("stragglers", ["rank", "collectives", "last_count", "caused_wait_ns", "max_late_ns"], [[0, 10, 10 - last, 0, 3], [1, 10, last, caused, 40]]);

test("means over steps, or one step", () => {
  assert.deepEqual(rankSteps(steps, "").map((each) => [each.rank, each.steps, each.total, each.exposed, each.wait]), [["0", 2, 110, 45, 40], ["1", 2, 110, 0, 0]]);
  assert.deepEqual(rankSteps(steps, "10").map((each) => [each.rank, each.total]), [["0", 120], ["1", 120]]);
  assert.deepEqual(stepNumbers(steps), ["9", "10"]);
});

test("who is last most of the time and costs time is to blame", () => {
  const found = blame(stragglers(80, 9), steps)!;
  assert.deepEqual([found.rank, found.waited, found.share.toFixed(3), found.maxLate], ["1", 80, "0.364", 40]);
  assert.equal(blame(stragglers(1, 9), steps), null, "too little");
  assert.equal(blame(stragglers(80, 1), steps), null, "not often");
});

const run = (rank: string, name: string, start: number, end: number): Run => ({ rank, name, start, end, event: 0 });

test("runs of one name are matched by their place", () => {
  const found = collectivesOf([
    [run("0", "a", 0, 50), run("0", "b", 60, 80), run("0", "a", 90, 99)],
    [run("1", "a", 40, 50), run("1", "a", 91, 99), run("1", "b", 60, 80)],
  ], true);
  assert.deepEqual(found.map((each) => [each.name, each.first, each.skew, each.last.rank]), [["a", 0, 40, "1"], ["b", 60, 0, "0"], ["a", 90, 1, "1"]]);
});

test("groups of ranks are told apart by their ends; a run alone is no collective", () => {
  const ms = 1_000_000;
  const found = collectivesOf([[run("0", "a", 0, ms)], [run("1", "a", 500_000, ms)], [run("2", "a", 0, 9 * ms)], [run("3", "a", 8 * ms, 9 * ms)], [run("4", "a", 0, 50 * ms)]], false);
  assert.deepEqual(found.map((each) => [each.runs.map((one) => one.rank).join(), each.skew]), [["0,1", 500_000], ["2,3", 8 * ms]]);
});

test("collectives of a step are those launched in it; neither sends nor annotations on the stream", () => {
  const spans = tableOfRows("spans", ["side", "start_ns", "dur_ns", "name", "kind", "event", "link"], [
    ["host", 10, 2, "launch", "runtime", 1, null],
    ["host", 110, 2, "launch", "runtime", 2, null],
    ["host", 10, 2, "nccl:all_reduce", "communication", 3, null],
    ["device", 105, 9, "ncclDevKernel_AllReduce", "communication", 4, 1],
    ["device", 105, 9, "nccl:all_reduce", "communication", 5, 1],
    ["device", 120, 9, "ncclDevKernel_AllReduce", "communication", 6, 2],
    ["device", 50, 9, "ncclDevKernel_SendRecv", "communication", 7, 1],
    ["device", 50, 9, "gemm", "compute", 8, 1],
  ]);
  assert.deepEqual(collectiveRuns(spans, "0", 0n, { from: 0, to: 100 }).map((each) => each.event), [4]);
  assert.deepEqual(collectiveRuns(spans, "0", 0n, { from: 100, to: 200 }).map((each) => each.event), [6]);
});

test("of many ranks those that wait least and most are shown, and who is to blame", () => {
  const ranks = Array.from({ length: 1000 }, (_, i) => ({ rank: String(i), steps: 1, total: 9, compute: 1, overlap: 1, exposed: 1, other: 1, transfer: 1, wait: i === 500 ? 0 : 10 + i }));
  const shown = notableRanks(ranks, "700").map((each) => each.rank);
  assert.equal(shown.length, 33);
  assert.ok(shown.includes("500") && shown.includes("999") && shown.includes("700") && shown.includes("0"));
  assert.equal(notableRanks(ranks.slice(0, 48), "").length, 48);
});
