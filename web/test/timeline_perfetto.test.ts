// What is sent to Perfetto.
import assert from "node:assert/strict";
import { test } from "node:test";
import { baseOfTrace, openInPerfetto, perfettoTitle } from "../src/perfetto.ts";

const bytes = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer as ArrayBuffer;

test("a title has only what Perfetto takes", () => {
  assert.equal(perfettoTitle('run 7/<img src="x" onerror=alert(1)>\u202e'), "run 7/_img src=_x_ onerror=alert_1_");
  assert.equal(perfettoTitle("a".repeat(500)).length, 200);
});

test("the base of a trace is found at either end", () => {
  const much = `"traceEvents": [${"0, ".repeat(100_000)}0]`;
  assert.equal(baseOfTrace(bytes(`{"baseTimeNanoseconds": 17, ${much}}`)), 17n);
  assert.equal(baseOfTrace(bytes(`{${much}, "baseTimeNanoseconds": -1790000000000000001}`)), -1790000000000000001n);
  assert.equal(baseOfTrace(bytes(`{${much}}`)), 0n);
});

// A page with another that may answer; what it is sent is in `sent`.
function stubbed(answer: (from: { tab: object; say(source: object, origin: string, data: unknown): void }) => void) {
  const sent: { data: unknown; origin: string }[] = [];
  const hearers = new Set<(event: unknown) => void>();
  const say = (source: object, origin: string, data: unknown): void => hearers.forEach((hear) => hear({ source, origin, data }));
  const tab = {
    closed: false,
    postMessage(data: unknown, origin: string) {
      sent.push({ data, origin });
      if (data === "PING") answer({ tab, say });
    },
  };
  Object.assign(globalThis, {
    window: { open: () => tab },
    addEventListener: (_: string, hear: (event: unknown) => void) => hearers.add(hear),
    removeEventListener: (_: string, hear: (event: unknown) => void) => hearers.delete(hear),
  });
  return { sent, tab, hearers };
}

const what = (trace: () => Promise<ArrayBuffer>) => ({ trace, title: "job", fileName: "job.json", from: 2_000_001_000n, to: 3_000_001_000n });

test("the trace goes to the page that answered, and nowhere else", async () => {
  let pings = 0;
  const { sent, hearers } = stubbed(({ tab, say }) => {
    ++pings;
    // Others may not answer for it.
    if (pings === 1) say({}, "https://ui.perfetto.dev", "PONG");
    else if (pings === 2) say(tab, "https://elsewhere.example", "PONG");
    else say(tab, "https://ui.perfetto.dev", "PONG");
  });
  await openInPerfetto(what(async () => bytes('{"baseTimeNanoseconds": 1000}')));
  assert.equal(pings, 3);
  assert.ok(sent.every(({ origin }) => origin === "https://ui.perfetto.dev"));
  const [trace, seen] = sent.slice(-2).map(({ data }) => (data as { perfetto: Record<string, unknown> }).perfetto);
  assert.equal(trace!.title, "job");
  assert.equal(trace!.localOnly, true);
  assert.deepEqual([seen!.timeStart, seen!.timeEnd], [2, 3]);
  assert.equal(hearers.size, 0);
});

test("a failed export and a closed tab are said", async () => {
  const failing = stubbed(({ tab, say }) => say(tab, "https://ui.perfetto.dev", "PONG"));
  await assert.rejects(openInPerfetto(what(() => Promise.reject(new Error("no such job")))), /no such job/);
  assert.ok(failing.sent.every(({ data }) => data === "PING"));
  const closed = stubbed(({ tab }) => Object.assign(tab, { closed: true }));
  await assert.rejects(openInPerfetto(what(async () => bytes("{}"))), /closed/);
  assert.ok(closed.sent.every(({ data }) => data === "PING"));
});
