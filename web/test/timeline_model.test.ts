// What the timeline computes from its tables, without a page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listText, listOf, parseSelection, selectionText } from "../src/timeline/address.ts";
import { inRanges } from "../src/ranges.ts";
import { alignedAt } from "../src/timeline/align.ts";
import { columnRanges, countersOf, valueAt } from "../src/timeline/counters.ts";
import { pathLane, pathRows } from "../src/timeline/critical_path.ts";
import { eventIndex } from "../src/timeline/event_index.ts";
import { findingsOf } from "../src/timeline/findings.ts";
import { idleLane, IDLE_NAMES, longestGaps } from "../src/timeline/idle.ts";
import { actionOf } from "../src/timeline/keys.ts";
import { kindCode } from "../src/timeline/kinds.ts";
import { Labels } from "../src/timeline/labels.ts";
import { rankSpans, type RankSpans } from "../src/timeline/lanes.ts";
import { headingAbove, layoutOf, nameTop, scrolledTo, visible } from "../src/timeline/layout.ts";
import { marksText, parseMarks } from "../src/timeline/marks.ts";
import { Names } from "../src/timeline/names.ts";
import { addTimes, prefixSums } from "../src/timeline/prefix_sums.ts";
import { arrowsOf, arrowsWithin, kernelsBelow, neighbour } from "../src/timeline/relations.ts";
import { countFound, foundLane, matchingNames, nextHit, parseQuery } from "../src/timeline/search.ts";
import { standing, timeByName } from "../src/timeline/statistics.ts";
import { extentOf, meanOf, meanStrip, stripsOf } from "../src/timeline/strips.ts";
import { tickStep, tickText, ticks } from "../src/timeline/ticks.ts";
import { clipped, fitted, fromText, panned, toText, within, zoomed } from "../src/timeline/time_window.ts";
import { tableOfRows } from "./timeline_tables.ts";

const start = 1_792_066_626_000_011_820n;
const at = (ns: number): bigint => start + BigInt(ns);

const spanColumns = ["side", "thread", "device", "stream", "start_ns", "dur_ns", "name", "kind", "depth", "lane", "process", "event", "link"];

// A Python function with two operators; each launches a kernel, the second a collective on another stream.
const spanRows = [
  ["host", 7, null, null, at(0), 1000, "train.py(8): step", "python", 0, 0, 70, 0, null],
  ["host", 7, null, null, at(100), 200, "aten::mm", "operator", 1, 0, 70, 1, null],
  ["host", 7, null, null, at(400), 300, "aten::sum", "operator", 1, 0, 70, 2, null],
  ["host", 7, null, null, at(150), 20, "cudaLaunchKernel", "runtime", 2, 0, 70, 3, null],
  ["host", 7, null, null, at(450), 20, "cudaLaunchKernel", "runtime", 2, 0, 70, 4, null],
  ["host", 9, null, null, at(800), 100, "SumBackward0", "operator", 0, 0, 70, 5, 2],
  ["host", 7, null, null, at(900), 10, "other process", "operator", 0, 0, 71, 8, null],
  ["device", null, 0, 3, at(300), 100, "gemm", "compute", 0, 0, null, 6, 3],
  ["device", null, 0, 3, at(700), 50, "gemm", "compute", 0, 0, null, 9, null],
  ["device", null, 0, 9, at(500), 100, "ncclAllReduce", "communication", 0, 0, null, 7, 4],
] as (string | number | bigint | null)[][];

async function rank(name: string, names: Names, shift = 0): Promise<RankSpans> {
  const rows = spanRows.map((row) => row.map((cell, c) => (c === 4 ? (cell as bigint) + BigInt(shift) : cell)));
  return rankSpans(tableOfRows("spans", spanColumns, rows, { start_ns: start }), name, start, names);
}

const rowOf = (spans: RankSpans, event: number): number => eventIndex(spans).row(event);

test("spans come in lanes of stable names, relative to the job's start", async () => {
  const spans = await rank("0", new Names());
  assert.deepEqual(spans.tracks.map((track) => [track.name, track.lanes.length]), [
    ["0/t7", 3], ["0/t9", 1], ["0/t7/p71", 1], ["0/d0/s3", 1], ["0/d0/s9", 1],
  ]);
  assert.deepEqual([...spans.lanes[1]!.starts], [100, 400]);
  assert.deepEqual([...spans.lanes[1]!.ends], [300, 700]);
  assert.equal(spans.all.links[7], 3);
});

test("sums of runs are those of the spans, with every entry and with every 16th", async () => {
  const count = 200;
  const lane = {
    starts: Float64Array.from({ length: count }, (_, i) => 10 * i),
    ends: Float64Array.from({ length: count }, (_, i) => 10 * i + (i % 7)),
    kinds: Uint8Array.from({ length: count }, (_, i) => (i * i) % 5),
  };
  for (const every of [1, 16]) {
    const sums = prefixSums(lane, every);
    for (const [begin, end] of [[0, 200], [3, 5], [15, 17], [16, 160], [7, 199]] as const) {
      const expected = new Float64Array(11);
      for (let i = begin; i < end; ++i) expected[lane.kinds[i]!]! += lane.ends[i]! - lane.starts[i]!;
      const times = new Float64Array(11);
      addTimes(lane, sums, begin, end, times);
      assert.deepEqual(times, expected);
    }
  }
});

test("stack, kernels below and arrows follow the links", async () => {
  const spans = await rank("0", new Names());
  const index = eventIndex(spans);
  const name = (row: number): number => spans.all.events[row]!;
  assert.deepEqual(kernelsBelow(spans, index, rowOf(spans, 0)).rows.map(name).sort(), [6, 7]);
  assert.deepEqual(kernelsBelow(spans, index, rowOf(spans, 2)).rows.map(name), [7]);
  assert.deepEqual(kernelsBelow(spans, index, rowOf(spans, 0), 1), { rows: [rowOf(spans, 6)], cut: true });
  assert.deepEqual(arrowsOf(spans, index, [], rowOf(spans, 2)), [{ from: rowOf(spans, 2), to: rowOf(spans, 5), kind: "backward" }]);
  assert.deepEqual(
    arrowsOf(spans, index, [rowOf(spans, 6), rowOf(spans, 7)], rowOf(spans, 7)).map((arrow) => [name(arrow.from), name(arrow.to), arrow.kind]),
    [[4, 7, "launch"], [6, 7, "path"]],
  );
  assert.equal(neighbour(spans, index, [], rowOf(spans, 6), false), rowOf(spans, 3));
  assert.equal(neighbour(spans, index, [], rowOf(spans, 3), true), rowOf(spans, 6));
  assert.equal(neighbour(spans, index, [], rowOf(spans, 0), true), rowOf(spans, 6));
  assert.equal(neighbour(spans, index, [], rowOf(spans, 0), false), -1);
  assert.equal(neighbour(spans, index, [rowOf(spans, 5), rowOf(spans, 0)], rowOf(spans, 0), false), rowOf(spans, 5));
  assert.equal(arrowsWithin(spans, index, 0, 1000)!.length, 3);
  assert.equal(arrowsWithin(spans, index, 0, 1000, 2), undefined);
});

test("a search counts, greys and goes around", async () => {
  const names = new Names();
  const ranks = [await rank("0", names), await rank("1", names, 5)];
  const gemm = matchingNames(parseQuery("GEMM")!, names.words);
  assert.deepEqual(countFound(ranks, gemm), { count: 4, time: 300 });
  assert.deepEqual([...foundLane(ranks[0]!.lanes[5]!, gemm).positions], [0, 1]);
  const launches = matchingNames(parseQuery("/^cuda.*l$/")!, names.words);
  const hits: string[] = [];
  let hit = nextHit(ranks, launches, undefined, true);
  for (let i = 0; i < 5; ++i, hit = nextHit(ranks, launches, hit, true)) hits.push(`${hit!.rank}@${hit!.start}`);
  assert.deepEqual(hits, ["0@150", "1@155", "0@450", "1@455", "0@150"]);
  assert.equal(nextHit(ranks, launches, { rank: "0", row: rowOf(ranks[0]!, 3), start: 150 }, false)!.start, 455);
  assert.ok(parseQuery("/(/")!.error);
  assert.equal(parseQuery("  "), undefined);
});

test("a window of time is summed by name, cut at its borders", async () => {
  const names = new Names();
  const spans = await rank("0", names);
  const table = timeByName(spans.lanes, 350, 720).map((sum) => [names.words[sum.name], sum.count, sum.time, sum.longest]);
  assert.deepEqual(table.slice(0, 3), [["train.py(8): step", 1, 370, 1000], ["aten::sum", 1, 300, 300], ["ncclAllReduce", 1, 100, 100]]);
  assert.deepEqual(table[3], ["gemm", 2, 70, 100]);
  assert.deepEqual(standing([spans], names.find("gemm"), 50, true), { count: 2, total: 150, median: 75, longest: 100, percentile: 50 });
  assert.equal(standing([spans], names.find("gemm"), 50, false).count, 0, "the host's are not the device's");
});

test("gaps are told by what the device waits for", async () => {
  const names = new Names();
  const spans = await rank("0", names);
  const lane = idleLane(spans, eventIndex(spans), 0, names)!;
  assert.deepEqual(
    Array.from(lane.starts, (from, i) => [from, lane.ends[i], names.words[lane.names[i]!]]),
    [[400, 500, IDLE_NAMES[0]], [600, 700, IDLE_NAMES[1]]],
  );
  const { gaps: [longest], shorter } = longestGaps([{ rank: "0", lane }], 1);
  assert.deepEqual([longest!.start, shorter], [400, 1], "the other one is not said to be none");
  assert.deepEqual(longestGaps([{ rank: "0", lane }], 9, 101), { gaps: [], shorter: 2 });
});

test("the critical path is a lane, and names its spans", async () => {
  const names = new Names();
  const spans = await rank("1", names);
  const table = tableOfRows("critical_path_edges", ["rank", "step", "start_ns", "dur_ns", "bound_by", "name", "event", "to_event"], [
    [0, 3, at(0), 10, "compute", "elsewhere", 6, null],
    [1, 3, at(300), 100, "compute", "gemm", 6, null],
    [1, 3, at(100), 200, "host operators", "aten::mm", 1, null],
    [1, 3, at(400), 50, "kernel gaps", null, null, null],
  ], { start_ns: start });
  const path = pathLane(table, "1", start, names)!;
  assert.deepEqual([...path.starts], [100, 300, 400]);
  assert.deepEqual([...path.kinds], [kindCode("operator"), kindCode("compute"), kindCode("other")]);
  assert.equal(names.words[path.names[2]!], "kernel gaps");
  assert.deepEqual(pathRows(path, eventIndex(spans)), [rowOf(spans, 1), rowOf(spans, 6)]);
  assert.equal(pathLane(table, "2", start, names), undefined);
});

test("ranks are shifted so that a collective ends together", async () => {
  const names = new Names();
  const ranks = [];
  for (const [name, shift] of [["0", 0], ["1", 40]] as const) {
    const spans = await rank(name, names, shift);
    ranks.push({ spans, index: eventIndex(spans), steps: [{ number: 3, start: shift, end: 1000 + shift }] });
  }
  const alignment = alignedAt(ranks, "0", rowOf(ranks[0]!.spans, 7))!;
  assert.deepEqual([...alignment.shifts], [["0", 0], ["1", -40]]);
  assert.deepEqual(alignment.missing, []);
  ranks[1]!.steps = [];
  assert.deepEqual(alignedAt(ranks, "0", rowOf(ranks[0]!.spans, 7))!.missing, ["1"]);
  assert.equal(alignedAt(ranks, "0", rowOf(ranks[0]!.spans, 6)), undefined);
});

test("counters hold until the next value, and show their extremes", () => {
  const table = tableOfRows("queue_length_series", ["rank", "device", "stream", "time_ns", "queue_length", "event"], [
    [0, 0, 7, at(10), 1, 1], [0, 0, 7, at(20), 5, 2], [0, 0, 7, at(21), 0, 3], [0, 0, 8, at(0), 2, 3], [1, 0, 7, at(0), 9, 9],
  ], { time_ns: start });
  const counters = countersOf(table, "0", start);
  assert.deepEqual(counters.map((counter) => [counter.track, counter.largest]), [["0/d0/queue/7", 5], ["0/d0/queue/8", 2]]);
  const [queue] = counters;
  assert.deepEqual([5, 10, 19, 20, 99].map((time) => valueAt(queue!, time)), [NaN, 1, 1, 5, 0]);
  const { least, most } = columnRanges(queue!, 0, 10, 4);
  assert.deepEqual([...least], [NaN, 1, 0, 0]);
  assert.deepEqual([...most], [NaN, 1, 5, 0]);
});

test("strips have a bucket for each time, also where nothing ran", () => {
  const table = tableOfRows(
    "rank_strip",
    ["rank", "time_ns", "bucket_ns", "busy_ratio", "compute_ratio", "communication_ratio", "memory_ratio", "host_ratio"],
    [[0, at(0), 100, 0.5, 0.5, 0, 0, 0.25], [0, at(200), 100, 1, 1, 0, 0, 0], [null, at(100), 100, 0.1, 0, 0, 0, 0]],
    { time_ns: start },
  );
  const strips = stripsOf(table, start);
  assert.deepEqual([...strips.keys()], ["0", "none"]);
  const strip = strips.get("0")!;
  assert.deepEqual([...strip.busy], [0.5, 0, 1]);
  assert.equal(meanOf(strip.busy, strip, 50, 250), (0.5 * 50 + 50) / 200);
  assert.deepEqual(extentOf(strips.values()), { from: 0, to: 300 });
  const mean = meanStrip([strip, undefined, { ...strip, from: 100 }, strip])!;
  assert.deepEqual([mean.from, mean.bucket, ...mean.values], [0, 100, 0.25, 0.125, 0.5, 0.25]);
});

test("rows are as they are opened, hidden and pinned", async () => {
  const names = new Names();
  const spans = await rank("0", names);
  const content = { tracks: spans.tracks, idle: new Map(), counters: [] };
  const groups = [{ rank: "0", title: "rank 0", content }, { rank: "1", title: "rank 1" }];
  const choice = (open: string[], hide: string[] = [], pin: string[] = []) => ({ open: new Set(open), hide: new Set(hide), pin });
  const headings = (of: ReturnType<typeof choice>) => layoutOf(groups, of).rest.headings.map((heading) => heading.name);
  assert.deepEqual(headings(choice([])), ["0", "1"]);
  assert.deepEqual(headings(choice(["0"])), ["0", "0/d0/s3", "0/d0/s9", "0/t7", "0/t9", "0/t7/p71", "1"]);
  assert.deepEqual(headings(choice(["0"], ["0/t7"], ["1"])), ["0", "0/d0/s3", "0/d0/s9", "0/t9", "0/t7/p71"]);
  const { pinned, rest } = layoutOf(groups, choice(["0"], [], ["0/d0/s9"]));
  assert.deepEqual(pinned.rows.map((row) => row.track), ["0/d0/s9"]);
  assert.equal(rest.rows.filter((row) => row.track === "0/t7").length, 3);
  assert.equal(layoutOf(groups, choice(["0", "-0/t7"])).rest.rows.filter((row) => row.track === "0/t7").length, 1);
  const [first, end] = visible(rest.rows, rest.rows[2]!.top, rest.rows[3]!.top + 1);
  assert.deepEqual([first, end], [2, 4]);
});

test("a rank's name stays above its lanes, and neither their names nor what is gone to are under it", async () => {
  const contents = { tracks: [{ name: "0/d0/s7", title: "stream 7", device: 0, lanes: [{}, {}, {}] }], idle: new Map(), counters: [] };
  const groups = ["0", "1"].map((rank) => ({ rank, title: `rank ${rank}`, content: { ...contents, tracks: contents.tracks.map((track) => ({ ...track, name: `${rank}/d0/s7` })) } }));
  const of = (pin: string[]) => layoutOf(groups as never, { open: new Set(["0", "1"]), hide: new Set(), pin }).rest.headings;
  const headings = of([]);
  assert.deepEqual(headings.map(({ name, top, height }) => [name, top, height]), [["0", 0, 24], ["0/d0/s7", 28, 54], ["1", 86, 24], ["1/d0/s7", 114, 54]]);
  assert.deepEqual([0, 1, 2, 3].map((first) => headingAbove(headings, first)?.name), [undefined, "0", undefined, "1"]);
  assert.equal(headingAbove(of(["1"]), 2), undefined, "it is pinned, and no other rank's is above");
  const stream = headings[1]!;
  assert.deepEqual([0, 28, 38, 58, 68].map((scrolled) => nameTop(stream, scrolled, 20)), [28, 20, 20, 0, -10], "as far as its lanes go");
  assert.equal(nameTop(stream, 38, -Infinity), -10);

  const row = { top: 500, height: 18 };
  assert.deepEqual([0, 400, 490, 900].map((scrolled) => scrolledTo(scrolled, 200, row, 20)), [318, 400, 480, 480]);
  assert.equal(scrolledTo(490, 200, { top: 480, height: Infinity }, 0), 480);
  assert.equal(scrolledTo(0, 200, { top: 480, height: Infinity }, 0), 480);
});

test("findings are at the steps that they name", () => {
  const table = tableOfRows("findings", ["finding", "remedy", "kind", "ranks", "steps", "subject"], [
    ["slow", "fix", "fault", "3", "4-5", null], ["old", null, "caveat", null, null, "aten::mm"],
  ]);
  const steps = [3, 4, 5].map((number) => ({ number, start: number * 100, end: number * 100 + 90 }));
  const [slow, old] = findingsOf(table, steps, { from: 0, to: 999 });
  assert.deepEqual([slow!.from, slow!.to, slow!.remedy], [400, 590, "fix"]);
  assert.deepEqual([old!.from, old!.to, old!.subject], [0, 999, "aten::mm"]);
});

test("windows of time zoom about a point, and stay in the job", () => {
  const job = { from: 0, to: 1000 };
  assert.deepEqual(zoomed({ from: 100, to: 300 }, 0.5, 150, job), { from: 125, to: 225 });
  assert.deepEqual(zoomed({ from: 100, to: 300 }, 100, 150, job), job);
  assert.deepEqual(panned({ from: 100, to: 300 }, 5000, job), { from: 800, to: 1000 });
  assert.deepEqual(within({ from: -5, to: -5 }, job), { from: 0, to: 10 });
  assert.deepEqual(fitted(400, 500, job), { from: 390, to: 510 });
  assert.deepEqual(toText({ from: 0.5, to: 9.5 }), { from: "0", to: "10" });
  assert.deepEqual(fromText("100", "300"), { from: 100, to: 300 });
  assert.deepEqual(clipped(fromText("100", "")!, job), { from: 100, to: 1000 });
  assert.deepEqual(clipped(fromText("x", "5000")!, job), job);
  assert.equal(fromText("300", "100"), undefined);
  assert.equal(fromText("", ""), undefined);
});

test("ticks are at 1, 2 or 5 and can be told apart", () => {
  assert.deepEqual([0.3, 1, 3, 6, 70, 2_100].map(tickStep), [1, 1, 5, 10, 100, 5000]);
  assert.deepEqual(ticks(95, 310, 300, 90).times, [100, 200, 300]);
  assert.equal(tickText(1_234_500_000, 100_000), "1.2345 s");
  assert.equal(tickText(20_000, 20_000), "20 µs");
  assert.equal(tickText(0, 1_000_000), "0 ms");
});

test("the address has selection, marks and lists", () => {
  assert.deepEqual(parseSelection("3:17", "100+20"), { rank: "3", event: 17, start: 100, duration: 20 });
  assert.deepEqual(parseSelection("3:17", "100 20")?.duration, 20); // a + that was not encoded
  assert.deepEqual(parseSelection("3:17", "?"), { rank: "3", event: 17 });
  assert.equal(parseSelection("3", ""), undefined);
  assert.deepEqual(selectionText("3", 17, 100, 20), { sel: "3:17", at: "100+20" });
  const marks = [{ from: -5, to: 10, text: "a;b: 50%" }, { from: 1, to: 2, text: "" }];
  assert.deepEqual(parseMarks(marksText(marks)), marks);
  assert.deepEqual(parseMarks("9-1:x;z;3-4"), [{ from: 3, to: 4, text: "" }]);
  assert.equal(listText([]), "-");
  assert.deepEqual(listOf("0,-0/t7"), ["0", "-0/t7"]);
  assert.deepEqual(listOf("-"), []);
  assert.deepEqual(listOf("none"), ["none"]); // a rank
  assert.deepEqual(inRanges("0,2-3", ["0", "1", "2", "3", "none"]), ["0", "2", "3"]);
});

test("keys go by their place, and not while Control is held", () => {
  const press = (code: string, held: Partial<{ shiftKey: boolean; ctrlKey: boolean }> = {}) =>
    actionOf({ code, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...held });
  assert.deepEqual(press("KeyW"), { do: "zoom", factor: 0.75 });
  assert.deepEqual(press("ArrowRight", { shiftKey: true }), { do: "pan", windows: 0.5 });
  assert.deepEqual(press("Digit3"), { do: "step", number: 3 });
  assert.deepEqual(press("BracketLeft"), { do: "cause" });
  assert.equal(press("KeyW", { ctrlKey: true }), undefined);
  assert.equal(press("KeyQ"), undefined);
});

test("a label that is shortened keeps the number at its end whole, or is none", () => {
  const labels = new Labels((text) => text.length);
  const fits = (name: string) => Array.from({ length: 15 }, (_, width) => labels.fit(name, width));
  assert.deepEqual(fits("ProfilerStep#3"),
    ["", "", "#3", "#3", "#3", "Pr…#3", "Pro…#3", "Prof…#3", "Profi…#3", "Profil…#3", "Profil…p#3", "Profile…p#3", "Profiler…p#3", "Profiler…ep#3", "ProfilerStep#3"]);
  assert.deepEqual(fits("ProfilerStep#1234").slice(4, 9), ["", "#1234", "#1234", "#1234", "Pr…#1234"]);
  assert.deepEqual(fits("123").slice(0, 5), ["", "", "", "123", "123"]);
  assert.deepEqual(fits("aten::mm").slice(1, 6), ["", "a…", "at…", "at…m", "ate…m"]);
});
