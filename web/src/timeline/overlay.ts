// What is drawn over the pixels with the canvas's own calls: names of spans, the ruler, steps, marks, what is selected.
import { shiftsText } from "./align.ts";
import { coloursOf, type Colours } from "./colours.ts";
import { drawArrows } from "./arrows.ts";
import { labelColour } from "./kinds.ts";
import { Labels } from "./labels.ts";
import { NONE } from "./lanes.ts";
import type { Rectangles } from "./painter.ts";
import { isIdle } from "./scene_pixels.ts";
import {
  lanesWidth, MARKS_HEIGHT, overviewHeight, overviewXOf, type PlacedRow, type Regions, regionsOf, RULER_HEIGHT, type Scene,
  shiftOf, STEPS_HEIGHT, xOf,
} from "./scene.ts";
import { tickText, ticks } from "./ticks.ts";

const FONT = '12px system-ui, "DejaVu Sans", sans-serif';
const LEAST_LABEL = 40; // pixels
const LEAST_OUTLINE = 6;

export class Overlay {
  private labels?: Labels;

  // The context is scaled so that its units are pixels of CSS.
  draw(context: CanvasRenderingContext2D, scene: Scene, rows: readonly PlacedRow[], found: Rectangles, ratio: number): void {
    this.labels ??= new Labels((text) => context.measureText(text).width);
    const colours = coloursOf(scene.theme);
    const regions = regionsOf(scene);
    context.font = FONT;
    context.textBaseline = "middle";
    this.drawLabels(context, scene, rows, found, ratio, colours);
    drawSelected(context, scene, rows, colours);
    drawRange(context, scene, regions, colours);
    drawArrows(context, scene, rows, regions, colours);
    // What scrolls may reach above its place; the head is drawn over it.
    drawRuler(context, scene, regions, colours);
    this.drawSteps(context, scene, regions, colours);
    this.drawMarks(context, scene, regions, colours);
    drawOverview(context, scene, colours);
  }

  private drawLabels(
    context: CanvasRenderingContext2D,
    scene: Scene,
    rows: readonly PlacedRow[],
    found: Rectangles,
    ratio: number,
    colours: Colours,
  ): void {
    for (let i = 0; i < found.count; ++i) {
      const { row, y, clip } = rows[found.rows[i]!]!;
      const lane = row.lane!;
      const span = found.spans[i]!;
      const [begin, end] = [found.begins[i]! / ratio, found.ends[i]! / ratio];
      const middle = y + row.height / 2;
      if (middle - 6 < clip) continue;
      const path = scene.onPath.get(row.rank);
      if (path && end - begin >= LEAST_OUTLINE && lane.events[span] !== NONE && path[lane.first + span] === 1 && lane.track !== `${row.rank}/path`) {
        context.strokeStyle = colours.path;
        context.lineWidth = 2;
        context.strokeRect(begin + 1, y + 2, Math.max(1, end - begin - 2), row.height - 4);
      }
      if (end - begin < LEAST_LABEL) continue;
      const name = lane.names[span]!;
      const text = this.labels!.fit(scene.names.words[name]!, end - begin - 8);
      if (text === "") continue;
      const greyed = scene.found && scene.found.names[name] !== 1;
      context.fillStyle = greyed || isIdle(lane) ? colours.text : labelColour(lane.kinds[span]!);
      context.fillText(text, begin + 4, middle);
    }
  }

  private drawSteps(context: CanvasRenderingContext2D, scene: Scene, regions: Regions, colours: Colours): void {
    if (scene.steps.length === 0) return;
    clear(context, scene, regions.steps, STEPS_HEIGHT, colours);
    for (const step of scene.steps) {
      const begin = Math.max(xOf(scene, step.start), scene.headings);
      const end = Math.min(xOf(scene, step.end), scene.width);
      if (end <= begin) continue;
      context.fillStyle = colours.edge;
      context.fillRect(begin, regions.steps, 1, STEPS_HEIGHT);
      context.fillStyle = colours.muted;
      const text = this.labels!.fit(end - begin > 80 ? `step ${step.number}` : String(step.number), end - begin - 6);
      context.fillText(text, begin + 4, regions.steps + STEPS_HEIGHT / 2);
    }
  }

  private drawMarks(context: CanvasRenderingContext2D, scene: Scene, regions: Regions, colours: Colours): void {
    if (scene.marks.length + scene.findings.length === 0) return;
    clear(context, scene, regions.marks, MARKS_HEIGHT, colours);
    const middle = regions.marks + MARKS_HEIGHT / 2;
    for (const mark of scene.marks) {
      const begin = Math.max(xOf(scene, mark.from), scene.headings);
      const end = Math.min(Math.max(xOf(scene, mark.to), begin + 2), scene.width);
      if (end <= begin) continue;
      context.fillStyle = colours.mark;
      context.fillRect(begin, regions.marks + MARKS_HEIGHT - 3, end - begin, 3);
      context.fillText(this.labels!.fit(mark.text, Math.max(end - begin, 120)), begin + 2, middle - 1);
      context.globalAlpha = 0.12;
      context.fillRect(begin, regions.pinned, end - begin, scene.height - regions.pinned);
      context.globalAlpha = 1;
    }
    for (const [i, x] of findingPlaces(scene).entries()) {
      if (x < scene.headings || x > scene.width) continue;
      context.fillStyle = scene.findings[i]!.kind === "fault" ? colours.fault : colours.mark;
      context.beginPath();
      context.moveTo(x, regions.marks + 1);
      context.lineTo(x + 6, middle);
      context.lineTo(x, regions.marks + MARKS_HEIGHT - 1);
      context.lineTo(x - 6, middle);
      context.fill();
    }
  }
}

// Where each finding is marked: side by side where several begin at one time.
export function findingPlaces(scene: Scene): number[] {
  const taken = new Map<number, number>();
  return scene.findings.map((finding) => {
    const before = taken.get(finding.from) ?? 0;
    taken.set(finding.from, before + 1);
    return xOf(scene, finding.from) + 8 + 15 * before;
  });
}

function clear(context: CanvasRenderingContext2D, scene: Scene, top: number, height: number, colours: Colours): void {
  context.fillStyle = colours.background;
  context.fillRect(scene.headings, top, lanesWidth(scene), height);
}

function drawRuler(context: CanvasRenderingContext2D, scene: Scene, regions: Regions, colours: Colours): void {
  clear(context, scene, regions.ruler - 4, RULER_HEIGHT + 4, colours);
  const { step, times } = ticks(scene.window.from, scene.window.to, lanesWidth(scene));
  const shifted = [...scene.shifts].filter(([, shift]) => shift !== 0);
  context.fillStyle = colours.muted;
  for (const time of times) {
    const x = xOf(scene, time);
    context.fillRect(x, regions.ruler + RULER_HEIGHT - 5, 1, 5);
    context.fillText(tickText(time, step), x + 3, regions.ruler + RULER_HEIGHT / 2);
  }
  if (shifted.length > 0) {
    const text = `shifted: ${shiftsText(scene.shifts)}`;
    const wide = Math.min(context.measureText(text).width, lanesWidth(scene) * 0.6);
    context.fillStyle = colours.background;
    context.fillRect(scene.width - wide - 12, regions.ruler, wide + 12, RULER_HEIGHT - 5);
    context.fillStyle = colours.fault;
    context.fillText(text, scene.width - wide - 6, regions.ruler + RULER_HEIGHT / 2 - 2, wide);
  }
  context.fillStyle = colours.edge;
  context.fillRect(scene.headings, regions.ruler + RULER_HEIGHT - 1, lanesWidth(scene), 1);
}

// The job's strip has the window as a frame; what is outside of it is dimmed.
function drawOverview(context: CanvasRenderingContext2D, scene: Scene, colours: Colours): void {
  const height = overviewHeight(scene.overview.length);
  const begin = overviewXOf(scene, scene.window.from);
  const end = Math.max(overviewXOf(scene, scene.window.to), begin + 2);
  context.fillStyle = colours.background;
  context.globalAlpha = 0.55;
  context.fillRect(scene.headings, 0, Math.max(0, begin - scene.headings), height);
  context.fillRect(end, 0, Math.max(0, scene.width - end), height);
  context.globalAlpha = 1;
  context.strokeStyle = colours.text;
  context.lineWidth = 2;
  context.strokeRect(begin + 1, 1, Math.max(1, end - begin - 2), height - 2);
}

function drawRange(context: CanvasRenderingContext2D, scene: Scene, regions: Regions, colours: Colours): void {
  if (!scene.range) return;
  const begin = Math.max(xOf(scene, scene.range.from), scene.headings);
  const end = Math.min(xOf(scene, scene.range.to), scene.width);
  if (end < begin) return;
  context.fillStyle = colours.line;
  context.globalAlpha = 0.16;
  context.fillRect(begin, regions.pinned, end - begin, scene.height - regions.pinned);
  context.globalAlpha = 1;
  context.fillRect(begin, regions.pinned, 1, scene.height - regions.pinned);
  context.fillRect(end - 1, regions.pinned, 1, scene.height - regions.pinned);
}

function drawSelected(context: CanvasRenderingContext2D, scene: Scene, rows: readonly PlacedRow[], colours: Colours): void {
  const { selected } = scene;
  if (!selected) return;
  const placed = rows.find(({ row }) => row.lane === selected.lane);
  if (!placed || placed.y + placed.row.height < placed.clip) return;
  const { all, rank } = selected.spans;
  const shift = shiftOf(scene, rank);
  const begin = Math.max(xOf(scene, all.starts[selected.row]! + shift), scene.headings - 2);
  const end = Math.min(Math.max(xOf(scene, all.ends[selected.row]! + shift), begin + 3), scene.width + 2);
  if (end < scene.headings || begin > scene.width) return;
  context.lineWidth = 4;
  context.strokeStyle = colours.selectionEdge;
  context.strokeRect(begin, placed.y + 1, end - begin, placed.row.height - 2);
  context.lineWidth = 2;
  context.strokeStyle = colours.selection;
  context.strokeRect(begin, placed.y + 1, end - begin, placed.row.height - 2);
}

