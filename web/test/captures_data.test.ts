// What a capture is asked for, its place in an address, and what the steps in its files say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { captureText, capturesOf, commandOf, hostsFor, ranksIn, requestOf, slowestOf, stepsOf, USUAL } from "../src/views/captures/data.ts";
import { mayRead, mayTrace, type Host } from "../src/data/agents.ts";
import { tableOfRows } from "./timeline_tables.ts";

test("a capture in an address, whatever its host is called", () => {
  const ids = [{ host: "gpu01", id: "20261125T193852-1" }, { host: "[::1]:1779", id: "a;b=c" }];
  assert.deepEqual(capturesOf(captureText(ids)), ids);
  assert.deepEqual(capturesOf(";=;x;a=;=b;a=b=c"), []);
  assert.deepEqual(capturesOf("a%=%zz"), [{ host: "a%", id: "%zz" }]);
});

test("ranks as the command line spells them", () => {
  assert.deepEqual(ranksIn("0,3-5, 7"), [0, 3, 4, 5, 7]);
  assert.deepEqual(ranksIn(""), []);
  for (const wrong of ["a", "3-", "5-3", "-1", "0-999999999"]) assert.equal(ranksIn(wrong), null, wrong);
});

test("what is asked of agents", () => {
  assert.deepEqual(requestOf(USUAL, 1, 0), { warmup_ms: 5000, duration_ms: 500 });
  assert.deepEqual(requestOf({ ...USUAL, job: "7", ranks: "1", stacks: true, output: "/tmp/x" }, 3, 1000.4), {
    warmup_ms: 5000, duration_ms: 500, ranks: [1], job: "7", stacks: true, output: "/tmp/x", start_time_ms: 16_000,
  });
  assert.deepEqual(requestOf({ ...USUAL, by: "iterations", iterations: 2, roundup: 10 }, 3, 0), { warmup_ms: 5000, iterations: 2, roundup: 10 });
  assert.throws(() => requestOf({ ...USUAL, ranks: "x" }, 1, 0), /"x" names no ranks/);
});

test("the same as a command, with words that a shell leaves as they are", () => {
  assert.equal(commandOf({ ...USUAL, job: "it's", ranks: "0, 2", shapes: true }, "gpu01,gpu02"),
    "spotter trace --job 'it'\\''s' --rank 0,2 --duration 500ms --shapes --host gpu01,gpu02 --analyze");
});

test("who may begin captures, and who may have their files", () => {
  const may = (host: Partial<Host>) => [mayTrace(host as Host), mayRead(host as Host)];
  assert.deepEqual(may({ state: "up", role: "trace", isForViewer: false }), [true, true]);
  assert.deepEqual(may({ state: "up", role: "view", isForViewer: false }), [false, false]);
  assert.deepEqual(may({ state: "up", role: "view", isForViewer: true }), [false, true]);
  assert.deepEqual(may({ state: "down", role: "view", isForViewer: true }), [false, false]);
});

test("those hosts are asked that have processes of the job", () => {
  const hosts = ["a", "b", "c"].map((name) => ({ name }) as Host);
  const processes = [
    { host: "a", table: tableOfRows("processes", ["pid", "job"], [[1, "x"]]) },
    { host: "b", table: tableOfRows("processes", ["pid", "job"], [[1, "y"]]) },
    { host: "c", table: tableOfRows("processes", ["pid", "job"], []) },
  ];
  assert.deepEqual(hostsFor(USUAL, processes, hosts).map((host) => host.name), ["a", "b"]);
  assert.deepEqual(hostsFor({ ...USUAL, job: "y" }, processes, hosts).map((host) => host.name), ["b"]);
});

const file = (rank: number | null, steps: number[], busy: (number | null)[]) => ({
  path: `vm:/t/${rank}.json`, contents_rank: null, name_rank: rank, receipt_rank: null,
  tables: [{ rows: [[100]] }, { rows: steps.map((dur, i) => [i, dur, busy[i]]) }],
});
const results = (files: unknown[]) => stepsOf(JSON.stringify({
  analyses: [{ name: "summary", columns: [["events", "integer", "count"]] }, { name: "steps", columns: [["number", "integer", "none"], ["dur_ns", "integer", "ns"], ["device_busy_ns", "integer", "ns"]] }],
  files,
}));

test("steps of each rank, and which one is slow", () => {
  const files = results([file(0, [10, 20], [5, 10]), file(1, [30, 30], [null, null]), file(null, [], [])]);
  assert.deepEqual(files.map((each) => [each.rank, each.steps, each.meanStepNs, each.longestStepNs, each.busy, each.events]), [
    ["0", 2, 15, 20, 0.5, 100], ["1", 2, 30, 30, NaN, 100], ["", 0, NaN, NaN, NaN, 100],
  ]);
  assert.equal(slowestOf(files), "The steps of rank 1 take 100 % more time than those of the others.");
  assert.equal(slowestOf(files.slice(0, 1)), "");
  assert.match(slowestOf(results([file(0, [100], [1]), file(1, [101], [1])])), /about the same/);
});
