// Arrows from causes to effects, as cubic curves.
import type { Colours } from "./colours.ts";
import { type PlacedRow, type Regions, type Scene, shiftOf, xOf } from "./scene.ts";

export function drawArrows(
  context: CanvasRenderingContext2D,
  scene: Scene,
  rows: readonly PlacedRow[],
  regions: Regions,
  colours: Colours,
): void {
  if (scene.arrows.length === 0) return;
  const placed = new Map(rows.map((each) => [each.row.lane, each]));
  context.save();
  context.beginPath();
  context.rect(scene.headings, regions.pinned, scene.width - scene.headings, scene.height - regions.pinned);
  context.clip();
  for (const arrow of scene.arrows) {
    const from = placed.get(arrow.fromLane);
    const to = placed.get(arrow.toLane);
    if (!from && !to) continue;
    const shift = shiftOf(scene, arrow.rank);
    // An end that is not on the screen is above or below it.
    const y = (of: PlacedRow | undefined, other: PlacedRow): number =>
      of ? of.y + of.row.height / 2 : other.y > scene.height / 2 ? regions.pinned - 40 : scene.height + 40;
    const [y1, y2] = [y(from, (from ?? to)!), y(to, (to ?? from)!)];
    context.strokeStyle = context.fillStyle = arrow.kind === "path" ? colours.path : colours.text;
    context.lineWidth = 1.5;
    curve(context, xOf(scene, arrow.fromTime + shift), y1, xOf(scene, arrow.toTime + shift), y2);
  }
  context.restore();
}

function curve(context: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  const bend = Math.max(20, Math.min(120, Math.abs(x2 - x1) / 2));
  context.beginPath();
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
  context.stroke();
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - 6, y2 - 3);
  context.lineTo(x2 - 6, y2 + 3);
  context.fill();
}
