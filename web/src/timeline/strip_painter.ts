// Paints strips of ranks: one as stacked heights, all of a job as a heat map with lightness for busyness.
import { kindCode, type Paint, pixel, type Theme } from "./kinds.ts";
import type { Columns, Surface } from "./painter.ts";
import { meanOf, meanStrip, type Strip, STRIP_PARTS } from "./strips.ts";

const PART_KINDS = STRIP_PARTS.map((part) => kindCode(part === "host" ? "operator" : part));
const HOST_PART = STRIP_PARTS.indexOf("host");

// Device work by kind, as high as it is busy; below it a line where the host is in operators. Without device work the
// host has the height.
export function paintStrip(surface: Surface, columns: Columns, strip: Strip, top: number, height: number, paint: Paint): void {
  const line = strip.hasDevice ? 2 : height;
  const device = height - line - 1;
  const hostColour = paint.fill[PART_KINDS[HOST_PART]!]!;
  const shares = new Float64Array(HOST_PART);
  for (let c = 0; c < columns.columns; ++c) {
    const from = columns.from + c * columns.scale;
    const to = from + columns.scale;
    const x = columns.left + c;
    const host = meanOf(strip.parts[HOST_PART]!, strip, from, to);
    if (!strip.hasDevice) {
      column(surface, x, top + height - Math.round(host * height), top + height, hostColour);
      continue;
    }
    if (host >= 0.5) column(surface, x, top + height - line, top + height, hostColour);
    const busy = meanOf(strip.busy, strip, from, to);
    if (busy <= 0) continue;
    // Parts that run at once are more than the time that is busy; they share its height.
    let sum = 0;
    for (let p = 0; p < HOST_PART; ++p) sum += shares[p] = meanOf(strip.parts[p]!, strip, from, to);
    let bottom = top + device;
    let share = 0;
    for (let p = 0; p < HOST_PART; ++p) {
      share += sum > 0 ? (shares[p]! / sum) * busy : 0;
      const until = top + device - Math.round(share * device);
      column(surface, x, until, bottom, paint.fill[PART_KINDS[p]!]!);
      bottom = until;
    }
  }
}

function column(surface: Surface, x: number, top: number, bottom: number, colour: number): void {
  for (let y = Math.max(top, surface.top); y < Math.min(bottom, surface.bottom); ++y)
    surface.pixels[y * surface.width + x] = colour;
}

// One hue, by lightness; more is darker on white and lighter on black.
export function heatColours(theme: Theme): Uint32Array {
  const ends = theme === "light" ? [0xf2f5f8, 0x003f6b] : [0x1c2126, 0x9fd4ff];
  const colours = new Uint32Array(64);
  for (let i = 0; i < colours.length; ++i) {
    let rgb = 0;
    for (const shift of [16, 8, 0]) {
      const [a, b] = ends.map((end) => (end >> shift) & 0xff);
      rgb |= Math.round(a + ((b - a) * i) / (colours.length - 1)) << shift;
    }
    colours[i] = pixel(`#${rgb.toString(16).padStart(6, "0")}`);
  }
  return colours;
}

// All ranks, each a line of at least a pixel; where there are more ranks than lines a line is the mean of several.
export function paintHeatMap(
  surface: Surface,
  columns: Columns,
  strips: readonly (Strip | undefined)[],
  top: number,
  height: number,
  colours: Uint32Array,
): void {
  const lines = Math.min(height, strips.length);
  for (let line = 0; line < lines; ++line) {
    const mean = meanStrip(
      strips.slice(Math.floor((line * strips.length) / lines), Math.floor(((line + 1) * strips.length) / lines)),
    );
    const begin = top + Math.floor((line * height) / lines);
    const end = top + Math.floor(((line + 1) * height) / lines);
    const gap = end - begin > 3 ? 1 : 0;
    for (let c = 0; c < columns.columns; ++c) {
      const from = columns.from + c * columns.scale;
      const share = mean ? Math.min(1, meanOf(mean.values, mean, from, from + columns.scale)) : 0;
      column(surface, columns.left + c, begin, end - gap, colours[Math.round(share * (colours.length - 1))]!);
    }
  }
}
