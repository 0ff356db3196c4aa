// The view of critical paths: parts add up to the length, shares to the whole.
import assert from "node:assert/strict";
import { test } from "node:test";
import { jobShares, largestPart, longestRank, meanLengths, parseWhatIf, pathBars } from "../src/views/critical_path/data.ts";
import { tableOfRows } from "./timeline_tables.ts";

const parts = ["compute_ns", "communication_ns", "host_operators_ns", "host_gaps_ns", "data_loading_ns", "memory_ns", "kernel_gaps_ns", "launches_ns", "synchronization_ns", "unknown_ns"];
const paths = tableOfRows("critical_path", ["rank", "step", "length_ns", "what_if_ns", ...parts], [
  [0, 3, 100_000, null, 99_000, 990, 5, 5, 0, 0, 0, 0, 0, 0],
  [0, 4, 200_000, null, 150_000, 50_000, 0, 0, 0, 0, 0, 0, 0, 0],
  [1, 3, 400_000, 300_000, 300_000, 0, 0, 0, 0, 0, 0, 0, 0, 0],
]);

test("parts of a step add up to its length; what is next to nothing is one part", () => {
  const bars = pathBars(paths, "0");
  assert.deepEqual(bars.map((bar) => [bar.step, bar.length, bar.parts.reduce((sum, part) => sum + part.value, 0)]), [["3", 100_000, 100_000], ["4", 200_000, 200_000]]);
  assert.deepEqual(bars[0]!.parts.map((part) => [part.label, part.value]), [["compute", 99_000], ["communication", 990], ["all else", 10]]);
  assert.deepEqual(largestPart(bars), { label: "compute", ns: 249_000, share: 0.83 });
});

test("means, the longest rank, and what would be", () => {
  assert.equal(meanLengths(pathBars(paths, "0")).length, 150_000);
  assert.ok(Number.isNaN(meanLengths(pathBars(paths, "0")).whatIf));
  assert.deepEqual(meanLengths(pathBars(paths, "1")), { length: 400_000, whatIf: 300_000 });
  assert.equal(longestRank(paths), "1");
});

test("whom the job waits for", () => {
  const job = tableOfRows("job_critical_path", ["rank", "kind", "dur_ns"], [[0, "device", 10], [3, "device", 70], [3, "pause", 5], [null, "absent", 15]]);
  assert.deepEqual(jobShares(job).map((each) => [each.rank, each.ns, each.share, each.parts.map((part) => part.label).join()]),
    [["3", 75, 0.75, "device,host launches nothing"], ["none", 15, 0.15, "waiting for ranks without a recording"], ["0", 10, 0.1, "device"]]);
});

test("what-if as the command line spells it", () => {
  assert.deepEqual(parseWhatIf("a=b=0.5"), { name: "a=b", factor: "0.5" });
  assert.deepEqual(parseWhatIf("gemm=0"), { name: "gemm", factor: "0" });
  for (const wrong of ["", "gemm", "=2", "gemm=", "gemm=x", "gemm=-1"]) assert.equal(parseWhatIf(wrong), null, wrong);
});
