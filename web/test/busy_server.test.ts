// A server that answers as many questions as it may is asked again, and what was there stays in sight.
import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import type { Host } from "../src/data/agents.ts";
import { ask, request } from "../src/data/server_source.ts";
import { Busy } from "../src/data/source.ts";
import { samplesOf } from "../src/views/live/samples.ts";

function nothing(): Uint8Array<ArrayBuffer> {
  const header = new TextEncoder().encode(JSON.stringify({ notes: [], tables: [] }));
  return Uint8Array.from([...new TextEncoder().encode("SPT1"), header.length, 0, 0, 0, ...header]);
}

// Answers that it is busy so many times, then what it is asked for.
function serve(busy: number): { asked: number; paths: string[] } {
  const count = { asked: 0, paths: [] as string[] };
  mock.method(globalThis, "fetch", async (path: string) => (count.paths.push(path), ++count.asked > busy
    ? new Response(nothing())
    : new Response(JSON.stringify({ error: { message: "ask again later" } }), { status: 409 })));
  return count;
}

async function patiently<T>(answer: Promise<T>): Promise<T> {
  let isDone = false;
  const settled = answer.finally(() => (isDone = true));
  settled.catch(() => {});
  while (!isDone) {
    mock.timers.tick(1000);
    await new Promise(setImmediate);
  }
  return settled;
}

beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

test("a question is asked again, a request that does something is not", async () => {
  const once = serve(1);
  assert.deepEqual((await patiently(ask("v1/metrics"))).tables, []);
  assert.equal(once.asked, 2);
  const always = serve(Infinity);
  await assert.rejects(patiently(ask("v1/metrics")), Busy);
  assert.equal(always.asked, 4);
  const told = serve(Infinity);
  await assert.rejects(patiently(request("v1/captures", { method: "POST" })), { message: "ask again later" });
  assert.equal(told.asked, 1);
});

test("samples stay while the agent is busy, and are no error", async () => {
  const host = { name: "a", prefix: "", hasHistory: true } as Host;
  const { signal } = new AbortController();
  const before = { tables: [], now: [], captures: [], atNs: 7, problem: "" };
  serve(Infinity);
  assert.equal(await patiently(samplesOf(host, null, signal, before)), before);
  assert.match((await patiently(samplesOf(host, null, signal))).problem, /it is asked again in a moment/);
  serve(0);
  assert.equal((await patiently(samplesOf(host, null, signal))).problem, "");
});

test("how a host is now is not told by long steps, which are means", async () => {
  const { signal } = new AbortController();
  const times = async (hasHistory: boolean, range: { ns: number; stepNs: number } | null) => {
    const { paths } = serve(0);
    await samplesOf({ name: "a", prefix: "", hasHistory } as Host, range, signal);
    return paths.filter((path) => path.includes("metrics?")).map((path) => /since_ms=.*(?=&rates)/.exec(path)?.[0] ?? "newest");
  };
  assert.deepEqual(await times(true, { ns: 7 * 86400e9, stepNs: 3600e9 }), ["since_ms=604800000&step_ms=3600000", "since_ms=30000&step_ms=5000"]);
  assert.deepEqual(await times(true, { ns: 600e9, stepNs: 5e9 }), ["since_ms=600000&step_ms=5000"]);
  assert.deepEqual(await times(true, null), ["since_ms=30000&step_ms=5000"]);
  assert.deepEqual(await times(false, { ns: 7 * 86400e9, stepNs: 3600e9 }), ["newest"]);
});
