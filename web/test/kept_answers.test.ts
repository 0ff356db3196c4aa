// How much of what was loaded is kept: spans of few ranks, but of all that are shown together; what is read goes last.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Source } from "../src/data/source.ts";
import { forget, source, useJobs, useSpans, useTable } from "../src/data/use.ts";
import { tableOfRows } from "./timeline_tables.ts";

const LIST = tableOfRows("jobs", ["id"], [["a"]]);
const settled = () => new Promise(setImmediate);

function serve(): string[] {
  forget();
  const asked: string[] = [];
  const answer = (name: string) => (asked.push(name), Promise.resolve(LIST));
  source.value = {
    kind: "server", jobs: () => answer("jobs"), table: (_: string, name: string) => answer(name), spans: (_: string, rank: string) => answer(`spans ${rank}`),
  } as unknown as Source;
  return asked;
}

test("who goes from rank to rank keeps the spans of the last ones", async () => {
  const asked = serve();
  useTable("steps");
  const read = async (rank: number) => {
    useSpans(String(rank));
    await settled();
  };
  for (let rank = 0; rank < 8; ++rank) await read(rank);
  await read(0); // and is the last one then
  await read(8);
  asked.length = 0;
  await read(0);
  assert.deepEqual(asked, []);
  await read(1);
  assert.deepEqual(asked, ["spans 1"]);
  useTable("steps");
  await settled();
  assert.deepEqual(asked, ["spans 1"], "other tables do not make room for spans");
});

test("of ranks that are shown together all spans are kept, also of very many", async () => {
  const asked = serve();
  const draw = async () => {
    const states = Array.from({ length: 256 }, (_, rank) => useSpans(String(rank), 256).state);
    await settled();
    return states;
  };
  await draw();
  assert.deepEqual([...new Set(await draw())], ["here"]);
  assert.equal(asked.filter((name) => name.startsWith("spans")).length, 256);
});

test("what is read again and again stays", async () => {
  const asked = serve();
  for (let i = 0; i < 300; ++i) {
    useJobs();
    useTable(`table ${i}`);
    await settled();
  }
  assert.equal(asked.filter((name) => name === "jobs").length, 1);
});
