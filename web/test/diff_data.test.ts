// The view of two jobs: signs, the aligned tree, one-sided names, distributions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { arrow, changeKind, changeText, changeTree, histogramOf, oneSided, stepTimes } from "../src/views/diff/data.ts";
import { pairOf } from "../src/views/diff/pair.ts";
import { tableOfRows } from "./timeline_tables.ts";

test("changes have a sign beside their colour", () => {
  const cases: [number, number, string, string][] = [
    [100, 160, "slower3", "▲"], [100, 120, "slower2", "▲"], [100, 103, "slower1", "▲"], [1000, 1001, "unchanged", "▲"],
    [100, 40, "faster3", "▼"], [100, 85, "faster2", "▼"], [100, 95, "faster1", "▼"], [0, 5, "added", "▲"], [5, 0, "removed", "▼"], [0, 0, "unchanged", "="],
  ];
  for (const [before, after, kind, sign] of cases) assert.deepEqual([changeKind({ before, after }), arrow({ before, after })], [kind, sign], `${before} ${after}`);
  assert.equal(changeText({ before: 100, after: 150 }), "100 ns before, 150 ns after: +50 ns, +50.0 %");
  assert.equal(changeText({ before: 0, after: 150 }), "0 ns before, 150 ns after: +150 ns, only after");
  assert.equal(changeText({ before: 100, after: 0 }), "100 ns before, 0 ns after: -100 ns, only before");
});

test("the tree has each path below the longest one that it begins with", () => {
  const tree = changeTree(tableOfRows("path_diff", ["path", "before_ns", "after_ns", "before_calls", "after_calls"], [
    ["step", 100, 120, 1, 1],
    ["step/a/b", 60, 0, 1, 0], // "a/b" is one name
    ["step/c", 0, 90, 0, 1],
    ["step/c/d", 0, 80, 0, 1],
    ["alone", 5, 5, 1, 1],
  ]));
  assert.deepEqual(tree.children.map((child) => [child.name, child.value, child.kind]), [["▲ step", 150, "slower2"], ["= alone", 5, "unchanged"]]);
  assert.deepEqual(tree.children[0]!.children.map((child) => [child.name, child.value, child.kind]), [["▼ a/b", 60, "removed"], ["▲ c", 90, "added"]]);
  assert.equal(tree.children[0]!.children[1]!.children[0]!.name, "▲ d");
  assert.equal(tree.value, 155, "both sides of what is below have room");
});

test("names on one side only are counted", () => {
  const table = tableOfRows("trace_diff", ["change"], [["added"], ["removed"], ["same"], ["added"], ["more"]]);
  assert.deepEqual(oneSided(table), { added: 2, removed: 1 });
});

test("step times", () => {
  const steps = (times: number[]) => tableOfRows("steps", ["dur_ns"], times.map((time) => [time]));
  assert.deepEqual(stepTimes(steps([30, 10, 20])), { times: [10, 20, 30], median: 20 });
  assert.equal(stepTimes(steps([10, 40, 20, 30])).median, 25);
  assert.ok(Number.isNaN(stepTimes(steps([])).median));
  assert.deepEqual(histogramOf([0, 1, 5, 9.9, 10], 0, 10, 5), [2, 0, 1, 0, 2]);
  assert.deepEqual(histogramOf([7, 7], 7, 7, 3), [2, 0, 0]);
});

test("the pair that is compared is most alike, the earlier one before", () => {
  const jobs = (...rows: [id: string, folder: string, host: string, changed: number][]) =>
    tableOfRows("jobs", ["id", "folder", "host", "ranks", "changed_ns"], rows.map(([id, folder, host, changed]) => [id, folder, host, "0-3", changed]));
  const pairIn = (table: ReturnType<typeof jobs>, base = "", job = "") => {
    const { before, after, why } = pairOf(table, base, job);
    return [table.exact("id", before), table.exact("id", after), why];
  };
  const other = "These two were chosen as the first, by when their files were written.";
  assert.deepEqual(pairIn(jobs(["a", "x", "h1", 9], ["b", "y", "h2", 1], ["c", "z", "h3", 5])), ["b", "c", other]);
  const all = jobs(["a", "x", "h1", 1], ["b", "y", "h2", 2], ["c", "z", "h2", 9], ["s2", "run#2", "h3", 8], ["s1", "run#1", "h4", 7], ["d", "v", "h2", 5]);
  assert.deepEqual(pairIn(all), ["s1", "s2", "These two were chosen as the first that are spans of the same recordings, by when their files were written."]);
  assert.match(pairIn(jobs(["a", "x", "h1", 1], ["c", "z", "h2", 9], ["b", "y", "h2", 2])).join(), /^b,c,.* of the same ranks on the same host/);
  // One is given: the nearest of those alike, for what is after the one before it.
  assert.deepEqual(pairIn(all, "", "c").slice(0, 2), ["d", "c"]);
  assert.deepEqual(pairIn(all, "b", "").slice(0, 2), ["b", "d"]);
  assert.deepEqual(pairIn(all, "", "b").slice(0, 2), ["d", "b"], "there is none before it");
  assert.match(pairIn(all, "", "a").join(), /^b,a,The other one was chosen as the first that was written after it\.$/);
  assert.deepEqual(pairIn(all, "c", "a"), ["c", "a", ""]);
});
