// The part of a picture that is painted pixel by pixel: background with the steps' bands, lanes, strips and counters.
import { coloursOf } from "./colours.ts";
import { columnRanges, type Counter } from "./counters.ts";
import { kindPaint, type Paint, pixel, plainPaint } from "./kinds.ts";
import type { Lane } from "./lanes.ts";
import { type Columns, paintLane, type Rectangles, type Surface } from "./painter.ts";
import { overviewHeight, type PlacedRow, placedRows, type Scene, shiftOf } from "./scene.ts";
import { heatColours, paintHeatMap, paintStrip } from "./strip_painter.ts";

const PADDINGS = { lane: 1, counter: 2, strip: 2 };

interface Paints {
  kinds: Paint;
  idle: Paint;
  greyed: Paint;
}

export const isIdle = (lane: Lane): boolean => lane.track.endsWith("/idle");

export class ScenePainter {
  private overviewKey: unknown[] = [];
  private overviewPixels = new Uint32Array(0);

  // `ratio`: device pixels for one of CSS. Gives the rows in the order that `found` counts them.
  paint(scene: Scene, pixels: Uint32Array, width: number, height: number, ratio: number, found: Rectangles): PlacedRow[] {
    const left = Math.round(scene.headings * ratio);
    const columns: Columns = {
      from: scene.window.from,
      scale: (scene.window.to - scene.window.from) / Math.max(1, width - left),
      left,
      columns: Math.max(1, width - left),
    };
    found.count = 0;
    paintBackground(scene, pixels, width, height, columns);
    const colours = coloursOf(scene.theme);
    const paints = { kinds: kindPaint(scene.theme), idle: plainPaint(colours.idle), greyed: plainPaint(colours.greyed) };
    const rows = placedRows(scene);
    rows.forEach((placed, number) => {
      const surface = { pixels, width, top: Math.round(placed.clip * ratio), bottom: height };
      paintRow(scene, paints, surface, columns, placed, number, ratio, found);
    });
    this.paintOverview(scene, { pixels, width, top: 0, bottom: height }, columns, ratio);
    return rows;
  }

  // The whole job does not change while the window moves.
  private paintOverview(scene: Scene, surface: Surface, columns: Columns, ratio: number): void {
    const height = Math.round(overviewHeight(scene.overview.length) * ratio);
    const key = [scene.overview, scene.theme, scene.whole.from, scene.whole.to, surface.width, columns.left, height];
    const size = surface.width * height;
    if (key.some((part, i) => part !== this.overviewKey[i]) || this.overviewPixels.length !== size) {
      this.overviewKey = key;
      this.overviewPixels = new Uint32Array(size).fill(pixel(coloursOf(scene.theme).background));
      const whole = { ...columns, from: scene.whole.from, scale: (scene.whole.to - scene.whole.from) / columns.columns };
      const own = { pixels: this.overviewPixels, width: surface.width, top: 0, bottom: height };
      paintHeatMap(own, whole, scene.overview, 0, height, heatColours(scene.theme));
    }
    surface.pixels.set(this.overviewPixels.subarray(0, surface.pixels.length));
  }
}

// One line, the same on all rows: every second step is darker, and each begins with a line.
function paintBackground(scene: Scene, pixels: Uint32Array, width: number, height: number, columns: Columns): void {
  const colours = coloursOf(scene.theme);
  const line = new Uint32Array(width).fill(pixel(colours.background));
  const x = (time: number): number =>
    Math.min(width, Math.max(columns.left, columns.left + Math.round((time - columns.from) / columns.scale)));
  scene.steps.forEach((step, i) => {
    if (i % 2 === 1) line.fill(pixel(colours.band), x(step.start), x(step.end));
    const begin = x(step.start);
    if (begin > columns.left && begin < width) line[begin] = pixel(colours.grid);
  });
  for (let y = 0; y < height; ++y) pixels.set(line, y * width);
}

function paintRow(
  scene: Scene,
  paints: Paints,
  surface: Surface,
  columns: Columns,
  { row, y }: PlacedRow,
  number: number,
  ratio: number,
  found: Rectangles,
): void {
  const shifted = { ...columns, from: columns.from - shiftOf(scene, row.rank) };
  const padding = row.lane ? PADDINGS.lane : row.counter ? PADDINGS.counter : PADDINGS.strip;
  const top = Math.round((y + padding) * ratio);
  const height = Math.max(1, Math.round((row.height - 2 * padding) * ratio));
  if (row.lane) {
    const paint = isIdle(row.lane) ? paints.idle : scene.found ? paints.greyed : paints.kinds;
    paintLane(surface, shifted, row.lane, top, height, paint, found, number);
    if (scene.found) paintLane(surface, shifted, scene.found.lane(row.lane), top, height, paints.kinds);
  } else if (row.counter) {
    paintCounter(scene, surface, shifted, row.counter, top, height);
  } else if (row.strip) {
    paintStrip(surface, shifted, row.strip, top, height, paints.kinds);
  }
}

// A stepped area: to the least value of a column filled, from there to its most a line.
function paintCounter(scene: Scene, surface: Surface, columns: Columns, counter: Counter, top: number, height: number): void {
  const colours = coloursOf(scene.theme);
  const [area, line] = [pixel(colours.area), pixel(colours.line)];
  const { least, most } = columnRanges(counter, columns.from, columns.scale, columns.columns);
  const bottom = top + height;
  const yOf = (value: number): number =>
    bottom - 1 - Math.round((Math.max(0, value) / (counter.largest || 1)) * (height - 1));
  for (let c = 0; c < columns.columns; ++c) {
    if (Number.isNaN(most[c])) continue;
    const [low, high] = [yOf(least[c]!), yOf(most[c]!)];
    for (let y = Math.max(high, surface.top); y < Math.min(bottom, surface.bottom); ++y)
      surface.pixels[y * surface.width + columns.left + c] = y <= low ? line : area;
  }
}

