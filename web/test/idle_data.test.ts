// The view of idle devices: gaps and why they are there, and their histogram.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gapsOf, histogram, idleRanks } from "../src/views/idle/data.ts";
import { tableOfRows } from "./timeline_tables.ts";

const spans = tableOfRows("spans", ["side", "start_ns", "dur_ns", "name", "kind", "event", "link", "device", "stream"], [
  ["host", 1_000_000n, 5, "launch", "runtime", 1, null],
  ["host", 1_000_200n, 5, "launch", "runtime", 2, null],
  ["host", 1_000_010n, 5, "launch", "runtime", 3, null],
  ["device", 1_000_100n, 50, "a", "compute", 10, 1],
  ["device", 1_000_120n, 80, "copy", "memory", 11, 1], // on another stream, to 1_000_200
  ["device", 1_000_100n, 100_000, "nccl:all_reduce", "communication", 12, 1], // an annotation
  ["device", 1_000_260n, 40, "b", "compute", 13, 2], // launched when all had ended
  ["device", 1_000_310n, 90, "c", "compute", 14, 3],
  ["device", 1_050_400n, 10, "d", "compute", 15, 3], // launched long before
  ["device", 1_090_410n, 10, "e", "compute", 16, 99],
].map((row): (string | number | bigint | null)[] => [...row, row[0] === "device" ? 0 : null, row[0] === "device" ? 7 : null]), { start_ns: 1_000_000n });

test("gaps are what no device works in, told by what ends them", () => {
  // the launch of "b" is at the very end of the work before: launched in time
  assert.deepEqual(gapsOf(spans, 1_000_000n).map((gap) => [gap.start, gap.end, gap.cause, gap.next]), [
    [200, 260, "kernel_wait", "b"],
    [300, 310, "kernel_wait", "c"],
    [400, 50_400, "other", "d"],
    [50_410, 90_410, "unknown", "e"],
  ]);
});

test("a launch after all work has ended is the host's fault", () => {
  const table = tableOfRows("spans", ["side", "start_ns", "dur_ns", "name", "kind", "event", "link", "device", "stream"], [
    ["host", 150, 5, "launch", "runtime", 1, null, null, null],
    ["device", 100, 40, "a", "compute", 2, null, 0, 7],
    ["device", 160, 40, "b", "compute", 3, 1, 0, 7],
  ]);
  assert.deepEqual(gapsOf(table, 0n), [{ start: 140, end: 160, cause: "host_wait", next: "b" }]);
});

test("what was launched before something of its stream that was in time was in time itself", () => {
  const rows = (stream: number): (string | number | null)[][] => [
    ["host", 110, 5, "launch", "runtime", 1, null, null, null],
    ["device", 100, 40, "a", "compute", 2, null, 0, 7],
    ["device", 90_000, 40, "b", "compute", 3, null, 0, 7],
    ["device", 90_040, 40, "c", "compute", 4, 1, 0, stream],
  ];
  const columns = ["side", "start_ns", "dur_ns", "name", "kind", "event", "link", "device", "stream"];
  assert.equal(gapsOf(tableOfRows("spans", columns, rows(7)), 0n)[0]!.cause, "other");
  assert.equal(gapsOf(tableOfRows("spans", columns, rows(8)), 0n)[0]!.cause, "unknown");
});

test("a histogram has every gap once, in steps of 1, 2 and 5", () => {
  const lengths = [1, 2, 4, 5, 9, 10, 19, 20, 850, 1_000, 4_999, 5_000];
  const gaps = lengths.map((length) => ({ start: 0, end: length, cause: length < 10 ? "kernel_wait" : "other", next: "" }));
  const buckets = histogram(gaps);
  assert.equal(buckets.reduce((sum, bucket) => sum + [...bucket.counts.values()].reduce((a, b) => a + b, 0), 0), lengths.length);
  assert.deepEqual(buckets.map((bucket) => [bucket.from, bucket.to, [...bucket.counts.values()].reduce((a, b) => a + b, 0)]), [
    [1, 2, 1], [2, 5, 2], [5, 10, 2], [10, 20, 2], [20, 50, 1], [50, 100, 0], [100, 200, 0], [200, 500, 0], [500, 1_000, 1],
    [1_000, 2_000, 1], [2_000, 5_000, 1], [5_000, 10_000, 1],
  ]);
  assert.deepEqual(histogram([]), []);
});

test("causes of a rank", () => {
  const table = tableOfRows("device_idle_breakdown", ["rank", "idle_ns", "host_wait_ns", "kernel_wait_ns", "other_ns", "unknown_ns"], [[0, 100, 75, 25, 0, 0], [1, 0, 0, 0, 0, 0]]);
  const [first, second] = idleRanks(table);
  assert.deepEqual([first!.largest, first!.share, first!.parts.map((part) => part.value)], ["host_wait", 0.75, [75, 25]]);
  assert.deepEqual([second!.largest, second!.share], ["", 0]);
});
