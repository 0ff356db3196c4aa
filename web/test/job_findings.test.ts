// Of which jobs it is known what stands out, and how the others are read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { jobsNow, nextToRead, readJobs, worstFirst, worstOf } from "../src/data/job_findings.ts";
import type { Source } from "../src/data/source.ts";
import { pending, source } from "../src/data/use.ts";
import { tableOfRows } from "./timeline_tables.ts";

type Row = [id: string, state: string, changed: number, worst: string | null];
const list = (...rows: Row[]) => tableOfRows("jobs", ["id", "state", "changed_ns", "worst"], rows);

test("of two faults the one that costs more of its job is first", () => {
  const rows = [["a", "ready", 0, "fault", 0.1], ["b", "ready", 1, "opportunity", 0.9], ["c", "ready", 2, "fault", 0.4], ["d", "ready", 3, "fault", null]];
  const jobs = tableOfRows("jobs", ["id", "state", "changed_ns", "worst", "share"], rows);
  assert.deepEqual(worstFirst(jobs).map((row) => jobs.exact("id", row)), ["c", "a", "d", "b"]);
});

test("the worst are first, and what is not known is not well", () => {
  const jobs = list(["a", "ready", 1, "none"], ["b", "ready", 1, null], ["c", "failed", 1, null], ["d", "ready", 1, "fault"], ["e", "ready", 1, "opportunity"]);
  assert.deepEqual(worstFirst(jobs).map((row) => worstOf(jobs, row)), ["fault", "failed", "opportunity", "", "none"]);
});

test("the newest of those that nobody has looked at is next", () => {
  const jobs = list(["a", "ready", 1, null], ["b", "ready", 3, null], ["c", "new", 9, null], ["d", "failed", 9, null], ["e", "ready", 9, "none"]);
  assert.equal(nextToRead(jobs, new Set()), 1);
  assert.equal(nextToRead(jobs, new Set(["b 3"])), 0);
  assert.equal(nextToRead(jobs, new Set(["b 3", "a 1"])), -1);
});

const settled = async () => {
  for (let turn = 0; turn < 20; ++turn) await Promise.resolve();
};

test("jobs are read one after another, behind what the page waits for, and no more than are wanted", async () => {
  Object.assign(globalThis, { document: { hidden: false } });
  const worst = new Map<string, string>();
  const jobs = async () => list(...["a", "b", "c"].map((id, i): Row => [id, "ready", i, worst.get(id) ?? null]));
  source.value = { kind: "server", jobs } as unknown as Source;
  jobsNow.value = await jobs();
  const asked: string[] = [];
  let finish = () => {};
  const read = (id: string) => {
    asked.push(id);
    return new Promise<void>((resolve) => (finish = () => {
      worst.set(id, "none");
      resolve();
    }));
  };
  pending.value = 1;
  const stop = readJobs(2, read);
  await settled();
  assert.deepEqual(asked, []);
  pending.value = 0;
  await settled();
  assert.deepEqual(asked, ["c"]);
  finish();
  await settled();
  assert.deepEqual(asked, ["c", "b"]);
  assert.equal(worstOf(jobsNow.value, 2), "none");
  finish();
  await settled();
  assert.deepEqual(asked, ["c", "b"], "two were wanted");
  stop();
  const all = readJobs(3, read);
  await settled();
  all();
  assert.deepEqual(asked, ["c", "b", "a"]);
});
