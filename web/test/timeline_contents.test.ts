// What the timeline has of a rank where tables do not come: a sentence for each, and the rest is shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job, Source } from "../src/data/source.ts";
import type { Table } from "../src/data/table.ts";
import { pending } from "../src/data/use.ts";
import { Contents } from "../src/timeline/contents.ts";
import { tableOfRows } from "./timeline_tables.ts";

const start = 1_000n;
const SPANS = tableOfRows("spans", ["side", "thread", "device", "stream", "start_ns", "dur_ns", "name", "kind", "depth", "lane", "process", "event", "link"], [
  ["host", 7, null, null, 1_000n, 100, "aten::mm", "operator", 0, 0, 1, 0, null],
  ["device", null, 0, 7, 1_050n, 100, "gemm", "compute", 0, 0, null, 1, 0],
], { start_ns: start });
const PATH = tableOfRows("critical_path_edges", ["rank", "step", "start_ns", "dur_ns", "bound_by", "name", "event", "to_event"],
  [[0, 1, 1_050n, 100, "compute", "gemm", 1, null]], { start_ns: start });

const COUNTED = ["rank", "time_ns", "busy_ratio", "sm_efficiency_ratio", "queue_length", "allocated_bytes", "reserved_bytes", "bytes_per_s"];

// What does not come has a sentence in `broken`; all else but spans and the path has no rows.
async function shown(broken: Record<string, string>) {
  const asked: string[] = [];
  const answer = async (name: string, rows: Table): Promise<Table> => {
    asked.push(name);
    if (broken[name] !== undefined) throw new Error(broken[name]);
    return rows;
  };
  const source = {
    spans: () => answer("spans", SPANS),
    table: (_: string, name: string) => answer(name, name === "critical_path_edges" ? PATH : tableOfRows(name, COUNTED, [])),
  } as unknown as Source;
  const contents = new Contents(source, { id: "a", startNs: start } as Job);
  contents.need("0");
  contents.need("0");
  while (pending.value > 0) await new Promise(setImmediate);
  // Once more, when all comes.
  const again = async () => {
    for (const name of Object.keys(broken)) delete broken[name];
    asked.length = 0;
    contents.again();
    while (pending.value > 0) await new Promise(setImmediate);
    return { asked, content: contents.ranks.value.get("0"), failures: [...contents.failures.value] };
  };
  return { asked: [...asked], content: contents.ranks.value.get("0"), failures: [...contents.failures.value], again };
}

test("a rank whose spans do not come is a sentence, and nothing else is asked for", async () => {
  const { asked, content, failures } = await shown({ spans: "the file is cut off" });
  assert.deepEqual([asked, content, failures], [["spans"], undefined, [["0", "the file is cut off"]]]);
});

test("a table beside the spans that does not come is named, and the others are shown", async () => {
  const { content, failures } = await shown({ critical_path_edges: "too large" });
  assert.deepEqual([failures, content!.missing, content!.path], [[], ["critical_path_edges: too large"], undefined]);
  assert.deepEqual(content!.tracks.map((track) => track.name), ["0/t7", "0/d0/s7"]);
  const again = await shown({});
  assert.deepEqual([again.content!.missing, [...again.content!.onPath]], [[], [0, 1]]);
  assert.equal(again.asked.length, new Set(again.asked).size, "each once");
});

test("what did not come is asked for again, and only that", async () => {
  const tables = await shown({ critical_path_edges: "too large" });
  const mended = await tables.again();
  assert.deepEqual([mended.asked, mended.content!.missing, [...mended.content!.onPath]], [["critical_path_edges"], [], [0, 1]]);
  assert.equal(mended.content!.spans, tables.content!.spans);
  const spans = await (await shown({ spans: "the file is cut off" })).again();
  assert.deepEqual([spans.failures, spans.content!.missing], [[], []]);
  assert.deepEqual((await (await shown({})).again()).asked, []);
});
