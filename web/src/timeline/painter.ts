// Paints lanes of spans into pixels. What is a pixel wide or more is a rectangle; of what is narrower each column of
// pixels shows how much of its time is covered (by its height) and by which kind most (by its colour), so the cost of
// a frame is bound by its pixels and not by the spans.
import { KIND_NAMES, type Paint } from "./kinds.ts";
import { type Lane, sumsOf } from "./lanes.ts";
import { addTimes } from "./prefix_sums.ts";
import { gallop, lowerBound } from "./search_sorted.ts";

// Pixels of which the rows [top, bottom) may be painted.
export interface Surface {
  pixels: Uint32Array;
  width: number;
  top: number;
  bottom: number;
}

// The time that columns of pixels show: column c, of `columns` from `left` on, is [from + c * scale, from + (c + 1) * scale).
export interface Columns {
  from: number;
  scale: number;
  left: number;
  columns: number;
}

// Rectangles that were painted, for what is drawn over them; x counts from the surface's left side.
export interface Rectangles {
  count: number;
  rows: Uint32Array; // number that the caller gave the lane
  spans: Uint32Array;
  begins: Float64Array;
  ends: Float64Array;
}

export function rectangles(capacity = 4096): Rectangles {
  return {
    count: 0,
    rows: new Uint32Array(capacity),
    spans: new Uint32Array(capacity),
    begins: new Float64Array(capacity),
    ends: new Float64Array(capacity),
  };
}

// The column that a time is in. By its bounds, as a quotient can be rounded over them.
function columnOf(columns: Columns, time: number): number {
  let column = Math.floor((time - columns.from) / columns.scale);
  if (time >= columns.from + (column + 1) * columns.scale) ++column;
  else if (time < columns.from + column * columns.scale) --column;
  return column;
}

function record(list: Rectangles, row: number, span: number, begin: number, end: number): void {
  if (list.count === list.rows.length) {
    const larger = rectangles(list.count * 2);
    larger.rows.set(list.rows);
    larger.spans.set(list.spans);
    larger.begins.set(list.begins);
    larger.ends.set(list.ends);
    Object.assign(list, larger, { count: list.count });
  }
  list.rows[list.count] = row;
  list.spans[list.count] = span;
  list.begins[list.count] = begin;
  list.ends[list.count++] = end;
}

const HATCH_PITCH = 6;

// Columns [begin, end) of the surface, with an edge if it is 3 pixels wide and a hatch if it is wider than its pitch.
export function fillRectangle(
  surface: Surface,
  begin: number,
  end: number,
  top: number,
  height: number,
  kind: number,
  paint: Paint,
): void {
  const { pixels, width } = surface;
  const wide = end - begin;
  const edge = wide >= 3 ? paint.edge[kind] : 0;
  const hatch = wide > HATCH_PITCH ? paint.hatch[kind] : 0;
  const last = top + height - 1;
  for (let y = Math.max(top, surface.top); y < Math.min(top + height, surface.bottom); ++y) {
    const line = y * width;
    const whole = edge !== 0 && (y === top || y === last);
    pixels.fill(whole ? edge : paint.fill[kind], line + begin, line + end);
    if (edge !== 0) pixels[line + begin] = pixels[line + end - 1] = edge;
    if (hatch === 0) continue;
    for (let x = begin + ((y * (HATCH_PITCH - 1) + begin * (HATCH_PITCH - 1)) % HATCH_PITCH); x < end; x += HATCH_PITCH)
      pixels[line + x] = hatch;
  }
}

function fillColumn(surface: Surface, x: number, top: number, bottom: number, colour: number): void {
  const { pixels, width } = surface;
  const first = Math.max(top, surface.top);
  let at = first * width + x;
  for (let y = first; y < Math.min(bottom, surface.bottom); ++y, at += width) pixels[at] = colour;
}

const times = new Float64Array(KIND_NAMES.length);

// Paints the column from `times`, which it clears; `kind` is that of the first span, for columns whose spans all last
// no time.
function paintCovered(
  surface: Surface,
  x: number,
  top: number,
  height: number,
  kinds: number[],
  kind: number,
  scale: number,
  paint: Paint,
): void {
  let most = 0;
  let total = 0;
  for (let k = 0; k < kinds.length; ++k) {
    const time = times[kinds[k]];
    times[kinds[k]] = 0;
    total += time;
    if (time <= most) continue;
    most = time;
    kind = kinds[k];
  }
  const covered = Math.max(1, Math.round(Math.min(1, total / scale) * height));
  fillColumn(surface, x, top + height - covered, top + height, paint.fill[kind]);
}

// The first span of which a part, or all if it lasts no time, is at `from` or later.
function firstVisible(lane: Lane, from: number): number {
  let first = lowerBound(lane.ends, from);
  while (first < lane.ends.length && lane.ends[first] === from && lane.starts[first] < from) ++first;
  return first;
}

export function paintLane(
  surface: Surface,
  columns: Columns,
  lane: Lane,
  top: number,
  height: number,
  paint: Paint,
  found?: Rectangles,
  row = 0,
): void {
  const { starts, ends, kinds } = lane;
  const { from, scale, left } = columns;
  const until = from + columns.columns * scale;
  const sums = sumsOf(lane);
  // What of the last narrow span is in the column after its first.
  let carried = -1;
  let carriedKind = 0;
  const flush = (): void => {
    if (carried >= 0 && carried < columns.columns)
      paintCovered(surface, left + carried, top, height, sums.kinds, carriedKind, scale, paint);
    else times.fill(0);
    carried = -1;
  };
  let i = firstVisible(lane, from);
  while (i < starts.length && starts[i] < until) {
    if (ends[i] - starts[i] >= scale) {
      if (carried >= 0) flush();
      const begin = starts[i] < from ? 0 : columnOf(columns, starts[i]);
      const end = ends[i] >= until ? columns.columns : columnOf(columns, ends[i]);
      const gap = ends[i] < until && end - begin > 3 ? 1 : 0;
      if (end > begin) {
        fillRectangle(surface, left + begin, left + end - gap, top, height, kinds[i], paint);
        if (found && end - begin >= 4) record(found, row, i, left + begin, left + end - gap);
      }
      ++i;
      continue;
    }
    const column = starts[i] < from ? 0 : columnOf(columns, starts[i]);
    if (carried >= 0 && carried !== column) flush();
    carried = -1;
    const edge = from + (column + 1) * scale;
    let next = gallop(starts, edge, i + 1);
    // Only the last one that begins in a column can be as long as one.
    if (next - 1 > i && ends[next - 1] - starts[next - 1] >= scale) --next;
    addTimes(lane, sums, i, next, times);
    if (starts[i] < from) times[kinds[i]] -= from - starts[i];
    const over = ends[next - 1] - edge;
    if (over > 0) times[kinds[next - 1]] -= over;
    paintCovered(surface, left + column, top, height, sums.kinds, kinds[i], scale, paint);
    if (over > 0) {
      carried = column + 1;
      carriedKind = kinds[next - 1];
      times[carriedKind] = over;
    }
    i = next;
  }
  if (carried >= 0) flush();
}

// The span at a time, or -1.
export function spanAt(lane: Lane, time: number, reach = 0): number {
  const i = firstVisible(lane, time - reach);
  return i < lane.starts.length && lane.starts[i] <= time + reach ? i : -1;
}
