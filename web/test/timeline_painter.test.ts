// The painter, and what a search leaves for it, against one that looks at every span for every column of pixels.
import assert from "node:assert/strict";
import { test } from "node:test";
import { KIND_NAMES, kindPaint, type Paint } from "../src/timeline/kinds.ts";
import { emptySpans, type Lane, laneOf } from "../src/timeline/lanes.ts";
import { countFound, foundLane, matchingNames, nextHit, parseQuery, type Hit } from "../src/timeline/search.ts";
import { type Columns, paintLane, rectangles, spanAt, type Surface } from "../src/timeline/painter.ts";

function randomness(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const WORDS = ["gemm", "aten::mm", "sm90 GEMM kernel", "ncclAllReduce", "aten::add", ""];
// As a user writes them, and what they mean.
const QUERIES: [string, (name: string) => boolean][] = [
  ["gemm", (name) => ["gemm", "sm90 GEMM kernel"].includes(name)],
  ["/^aten::a|nccl/", (name) => ["aten::add", "ncclAllReduce"].includes(name)],
  ["/GEMM/", (name) => name === "sm90 GEMM kernel"],
  ["NCCL", (name) => name === "ncclAllReduce"],
  ["m", (name) => name.includes("m")],
  ["no such", () => false],
];

const whole = (random: () => number, below: number): number => Math.floor(random() * below);

// Runs of short and of long spans, some that last no time, some that touch.
function randomLane(random: () => number, count: number, every: number): Lane {
  const spans = emptySpans(count);
  let time = whole(random, 50);
  let longest = 4;
  for (let i = 0; i < count; ++i) {
    if (random() < 0.05) longest = [1, 4, 30, 400][whole(random, 4)]!;
    time += random() < 0.4 ? 0 : whole(random, longest);
    spans.starts[i] = time;
    time += random() < 0.1 ? 0 : whole(random, longest);
    spans.ends[i] = time;
    spans.kinds[i] = whole(random, KIND_NAMES.length);
    spans.names[i] = whole(random, WORDS.length);
  }
  return laneOf(spans, 0, count, "0/t1", 0, every);
}

// What the painter's own description says, column by column and pixel by pixel.
function paintSlowly(surface: Surface, columns: Columns, lane: Lane, top: number, height: number, paint: Paint, takes = (_name: string): boolean => true): void {
  const { from, scale, left } = columns;
  const until = from + columns.columns * scale;
  const set = (x: number, y: number, colour: number): void => {
    if (y >= surface.top && y < surface.bottom) surface.pixels[y * surface.width + x] = colour;
  };
  const spans = Array.from(lane.starts, (start, i) => ({ start, end: lane.ends[i]!, kind: lane.kinds[i]!, name: WORDS[lane.names[i]!]! })).filter((span) => takes(span.name));
  const narrow = spans.filter((span) => span.end - span.start < scale);
  for (let c = 0; c < columns.columns; ++c) {
    const begin = from + c * scale;
    const times = new Array<number>(KIND_NAMES.length).fill(0);
    let first = -1;
    for (const span of narrow) {
      const inside = Math.min(span.end, begin + scale) - Math.max(span.start, begin);
      const here = span.start === span.end ? span.start >= begin && span.start < begin + scale : inside > 0;
      if (!here) continue;
      if (first < 0) first = span.kind;
      times[span.kind]! += inside;
    }
    if (first < 0) continue;
    const total = times.reduce((a, b) => a + b, 0);
    const kind = total > 0 ? times.indexOf(Math.max(...times)) : first;
    const covered = Math.max(1, Math.round(Math.min(1, total / scale) * height));
    for (let y = top + height - covered; y < top + height; ++y) set(left + c, y, paint.fill[kind]!);
  }
  for (const span of spans) {
    if (span.end - span.start < scale || span.end <= from || span.start >= until) continue;
    const begin = Math.max(0, Math.floor((span.start - from) / scale));
    const end = Math.min(columns.columns, Math.floor((span.end - from) / scale));
    const drawn = span.end < until && end - begin > 3 ? end - 1 : end;
    for (let x = begin; x < drawn; ++x) {
      for (let y = top; y < top + height; ++y) {
        const border = y === top || y === top + height - 1 || x === begin || x === drawn - 1;
        const edged = paint.edge[span.kind] !== 0 && drawn - begin >= 3;
        const hatched = paint.hatch[span.kind] !== 0 && drawn - begin > 6 && (left + x + y) % 6 === 0;
        set(left + x, y, hatched ? paint.hatch[span.kind]! : edged && border ? paint.edge[span.kind]! : paint.fill[span.kind]!);
      }
    }
  }
}

const surfaceOf = (width: number, height: number, top: number, bottom: number): Surface => ({
  pixels: new Uint32Array(width * height).fill(0xff112233),
  width,
  top,
  bottom,
});

for (const theme of ["light", "dark"] as const) {
  test(`random lanes are painted as the slow painter does, ${theme}`, () => {
    const random = randomness(theme === "light" ? 7 : 8);
    const paint = kindPaint(theme);
    let painted = 0;
    for (let round = 0; round < 400; ++round) {
      const lane = randomLane(random, 1 + whole(random, 300), round % 2 === 0 ? 1 : 16);
      const columns = { from: whole(random, lane.ends.at(-1)! + 50) - 50 + whole(random, 8) / 8, scale: 2 ** (whole(random, 9) - 3), left: 5, columns: 90 };
      const fast = surfaceOf(100, 30, whole(random, 12), 20 + whole(random, 10));
      const slow = surfaceOf(100, 30, fast.top, fast.bottom);
      const found = rectangles(2);
      paintLane(fast, columns, lane, 6, 17, paint, found);
      paintSlowly(slow, columns, lane, 6, 17, paint);
      assert.deepEqual(fast.pixels, slow.pixels, `round ${round}`);
      painted += fast.pixels.some((colour) => colour !== 0xff112233) ? 1 : 0;
      for (let i = 0; i < found.count; ++i) {
        assert.ok(lane.ends[found.spans[i]!]! - lane.starts[found.spans[i]!]! >= columns.scale);
        assert.ok(found.ends[i]! > found.begins[i]! && found.ends[i]! <= 95);
      }
    }
    assert.ok(painted > 300, `${painted} of 400 rounds painted anything`);
  });
}

test("what a search finds in random lanes keeps its colours, as the slow painter paints it over the rest", () => {
  const random = randomness(9);
  const grey = { ...kindPaint("light"), fill: kindPaint("light").fill.map(() => 0xff999999) };
  let painted = 0;
  for (let round = 0; round < 300; ++round) {
    const lane = randomLane(random, 1 + whole(random, 300), round % 2 === 0 ? 1 : 16);
    const [text, takes] = QUERIES[round % QUERIES.length]!;
    const found = foundLane(lane, matchingNames(parseQuery(text)!, WORDS));
    const columns = { from: whole(random, lane.ends.at(-1)! + 50) - 50 + whole(random, 8) / 8, scale: 2 ** (whole(random, 9) - 3), left: 5, columns: 90 };
    const [rest, fast, slow] = [surfaceOf(100, 30, 0, 30), surfaceOf(100, 30, 0, 30), surfaceOf(100, 30, 0, 30)] as const;
    for (const surface of [rest, fast]) paintLane(surface, columns, lane, 6, 17, grey);
    paintLane(fast, columns, found, 6, 17, kindPaint("light"));
    paintSlowly(slow, columns, lane, 6, 17, grey);
    paintSlowly(slow, columns, lane, 6, 17, kindPaint("light"), takes);
    assert.deepEqual(fast.pixels, slow.pixels, `round ${round}, ${text}`);
    assert.deepEqual([...found.positions], [...lane.names.keys()].filter((i) => takes(WORDS[lane.names[i]!]!)));
    painted += fast.pixels.some((colour, at) => colour !== rest.pixels[at]) ? 1 : 0;
  }
  assert.ok(painted > 100, `${painted} of 300 rounds found anything in sight`);
});

test("a search counts all that it finds, and goes through them in order of time, rank and place", () => {
  const random = randomness(10);
  for (const [text, takes] of QUERIES) {
    const ranks = ["0", "1", "10"].map((rank) => ({ rank, all: randomLane(random, 60, 1), tracks: [], lanes: [] }));
    const names = matchingNames(parseQuery(text)!, WORDS);
    const hits = ranks.flatMap(({ rank, all }) => Array.from(all.starts, (start, row): Hit => ({ rank, row, start })).filter(({ row }) => takes(WORDS[all.names[row]!]!)))
      .sort((a, b) => a.start - b.start); // a stable one
    const times = ranks.flatMap(({ all }) => Array.from(all.ends, (end, row) => (takes(WORDS[all.names[row]!]!) ? end - all.starts[row]! : 0)));
    assert.deepEqual(countFound(ranks, names), { count: hits.length, time: times.reduce((a, b) => a + b, 0) });
    for (const order of [hits, hits.toReversed()]) {
      const gone: Hit[] = [];
      for (let i = 0; i < hits.length; ++i) gone.push(nextHit(ranks, names, gone.at(-1), order === hits)!);
      assert.deepEqual(gone, order);
      assert.deepEqual(nextHit(ranks, names, gone.at(-1), order === hits), order[0], "around at the end");
    }
  }
});

test("a column is as high as what it covers, at every zoom", () => {
  const spans = emptySpans(100_000);
  for (let i = 0; i < 100_000; ++i) {
    spans.starts[i] = 4 * i;
    spans.ends[i] = 4 * i + 1;
  }
  const lane = laneOf(spans, 0, 100_000, "0/t1", 0);
  for (const scale of [40, 400, 4000]) {
    const surface = surfaceOf(100, 16, 0, 16);
    paintLane(surface, { from: 0, scale, left: 0, columns: 100 }, lane, 0, 16, kindPaint("dark"));
    for (let x = 0; x < 100; ++x) {
      let high = 0;
      for (let y = 0; y < 16; ++y) high += surface.pixels[y * 100 + x] === 0xff112233 ? 0 : 1;
      assert.equal(high, 4);
    }
  }
});

test("the span at a time, or within reach of it", () => {
  const spans = emptySpans(3);
  spans.starts.set([10, 20, 20]);
  spans.ends.set([15, 20, 30]);
  const lane = laneOf(spans, 0, 3, "0/t1", 0);
  assert.equal(spanAt(lane, 12), 0);
  assert.equal(spanAt(lane, 17), -1);
  assert.equal(spanAt(lane, 17, 3), 0);
  assert.equal(spanAt(lane, 25), 2);
});
