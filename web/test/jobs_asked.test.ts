// How often a server is asked for its jobs, and what is said where it does not answer.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { findHosts, hosts } from "../src/data/agents.ts";
import { NoAnswer, SourceError, type Source } from "../src/data/source.ts";
import { forget, forgetFailures, generation, jobs, pending, source, useDiff, useJob, useJobs, useTable } from "../src/data/use.ts";
import { isServerGone, watchJobs } from "../src/data/watch.ts";
import { tableOfRows } from "./timeline_tables.ts";

const LIST = tableOfRows("jobs", ["id", "folder", "files", "bytes", "changed_ns"], [["a", "a", 1, 2, 3]]);

function serve(answer: () => Promise<typeof LIST>): { asked: number } {
  const count = { asked: 0 };
  const jobs = () => {
    count.asked += 1;
    return answer();
  };
  const table = async () => LIST;
  source.value = { kind: "server", jobs, job: async () => ({ id: "a" }), table } as unknown as Source;
  return count;
}

const settled = async () => {
  for (let turn = 0; turn < 20; ++turn) await Promise.resolve();
};

test("all who need the jobs share one answer", async () => {
  const count = serve(async () => LIST);
  useJobs();
  useJob();
  for (const name of ["steps", "summary", "findings"]) useTable(name);
  await settled();
  useTable("operators"); // when the others are there
  assert.equal((await jobs()).exact("id", 0), "a");
  await settled();
  assert.equal(count.asked, 1);
  assert.equal(useTable("operators").state, "here");
  forget();
  useJobs();
  assert.equal(count.asked, 2);
});

test("a table that did not come is asked for anew, and only that", async () => {
  forget();
  serve(async () => LIST);
  const asked: string[] = [];
  let isBroken = true;
  const table = async (_: string, name: string) => {
    asked.push(name);
    if (name === "steps" && isBroken) throw new Error("the file is cut off");
    return LIST;
  };
  source.value = { ...source.value!, table } as unknown as Source;
  const show = async () => {
    for (const name of ["steps", "summary"]) useTable(name);
    await settled();
    return [useTable("steps"), useTable("summary").state];
  };
  const failed = { state: "failed", error: "the file is cut off" };
  assert.deepEqual(await show(), [failed, "here"]);
  assert.deepEqual(await show(), [failed, "here"], "not by itself");
  isBroken = false;
  forgetFailures();
  assert.deepEqual(await show(), [{ state: "here", value: LIST }, "here"]);
  assert.deepEqual(asked, ["steps", "summary", "steps"]);
  forget();
});

test("two looks without an answer are told, until there is one", async () => {
  Object.assign(globalThis, { document: { hidden: false } });
  mock.timers.enable({ apis: ["setInterval"] });
  let answer: () => Promise<typeof LIST> = async () => LIST;
  serve(() => answer());
  watchJobs();
  const look = async () => {
    mock.timers.tick(3000);
    await settled();
    return isServerGone.value;
  };
  assert.equal(await look(), false);
  answer = () => Promise.reject(new NoAnswer("nobody"));
  assert.deepEqual([await look(), await look(), await look()], [false, true, true]);
  answer = () => Promise.reject(new SourceError("it wants a token")); // somebody said that
  assert.equal(await look(), false);
  answer = () => new Promise(() => {});
  assert.deepEqual([await look(), await look(), await look()], [false, false, true], "the first one is still under way");
  mock.timers.reset();
});

test("a job that comes before the first look is seen by it", async () => {
  Object.assign(globalThis, { document: { hidden: false } });
  mock.timers.enable({ apis: ["setInterval"] });
  forget();
  const none = tableOfRows("jobs", ["id", "folder", "files", "bytes", "changed_ns"], []);
  let answer = none;
  serve(async () => answer);
  const shown = async () => {
    useJobs();
    await settled();
    const loaded = useJobs();
    return loaded.state === "here" ? loaded.value : null;
  };
  assert.equal((await shown())?.rows, 0);
  watchJobs();
  await settled();
  answer = LIST;
  mock.timers.tick(3000);
  await settled();
  assert.equal((await shown())?.rows, 1);
  mock.timers.reset();
});

test("a job that changes takes with it what is kept of it and no more, and the list stays in sight", async () => {
  mock.timers.enable({ apis: ["setInterval"] });
  forget();
  const list = (bytes: Record<string, number>) =>
    tableOfRows("jobs", ["id", "folder", "files", "bytes", "changed_ns"], Object.entries(bytes).map(([id, size]) => [id, id, 1, size, 3]));
  let answer = list({ a: 1, b: 1, bb: 1 });
  serve(async () => answer);
  source.value = { ...source.value!, diff: async () => LIST } as Source;
  const all: Record<string, () => { state: string }> = {
    jobs: useJobs, first: useJob, a: () => useTable("steps", { job: "a" }), b: () => useTable("steps", { job: "b" }), bb: () => useTable("steps", { job: "bb" }),
    fromB: () => useDiff("b", "a", "trace_diff"), toB: () => useDiff("a", "b", "trace_diff"), others: () => useDiff("bb", "a", "trace_diff"),
  };
  const loading = () => Object.keys(all).filter((name) => all[name]!().state === "loading");
  loading();
  watchJobs();
  const look = async (bytes: Record<string, number>) => {
    answer = list(bytes);
    mock.timers.tick(3000);
    await settled();
    const found = loading();
    await settled();
    assert.deepEqual(loading(), []);
    return found;
  };
  assert.deepEqual(await look({ a: 1, b: 1, bb: 1 }), []);
  const before = generation.value;
  assert.deepEqual(await look({ a: 1, b: 2, bb: 1 }), ["b", "fromB", "toB"]);
  assert.ok(generation.value > before, "who shows the list draws it again");
  const jobsNow = useJobs();
  assert.equal(jobsNow.state === "here" && jobsNow.value, answer);
  assert.equal(await jobs(), answer);
  assert.deepEqual(await look({ a: 2, b: 2, bb: 1 }), ["first", "a", "fromB", "toB", "others"]);
  assert.deepEqual(await look({ c: 1, a: 2, b: 2, bb: 1 }), ["first"], "without a name it is another job");
  mock.timers.reset();
});

test("agents that could not be asked for are asked for again while the server answers", async () => {
  mock.timers.enable({ apis: ["setInterval"] });
  serve(async () => LIST);
  const header = new TextEncoder().encode(JSON.stringify({ notes: [], tables: [{ name: "hosts", rows: 0, notes: [], columns: [] }] }));
  const none = Uint8Array.from([...new TextEncoder().encode("SPT1"), header.length, 0, 0, 0, ...header]);
  let status = 502;
  const fetched = mock.method(globalThis, "fetch", async () => new Response(none, { status }));
  await findHosts();
  assert.equal(hosts.value.state, "failed");
  watchJobs();
  const look = async () => {
    mock.timers.tick(3000);
    await settled();
    while (pending.value > 0) await new Promise(setImmediate);
    return [hosts.value.state, fetched.mock.callCount()];
  };
  assert.deepEqual(await look(), ["failed", 2]);
  status = 200;
  assert.deepEqual(await look(), ["here", 3]);
  assert.deepEqual(await look(), ["here", 3], "once they are known nobody asks");
  mock.restoreAll();
  mock.timers.reset();
});
