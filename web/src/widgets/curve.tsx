// Curves over time by uPlot; all of a page have one cursor. Hidden from screen readers: who shows one says beside it, or in a
// table, what it shows.
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { lonePlaces } from "../data/points.ts";
import { clockDate, clockTick, clockTime, human } from "../format.ts";
import type { Unit } from "../data/table.ts";
import { theme } from "../theme.tsx";

export interface CurveSeries {
  label: string;
  kind: string; // names its colour
  values: ArrayLike<number>; // NaN: not known
}

// A moment, or with `toNs` a time, that is marked in the picture.
export interface CurveMark {
  ns: number;
  toNs?: number;
  label: string;
  kind: string;
}

const SMALL_PX = 120; // of curves that leave no room around their labels
const HALF_DAY_S = 43200; // longer curves tell a moment with its day
const POWERS_OF_TWO = Array.from({ length: 50 }, (_, power) => 2 ** power); // bytes are told in KiB, MiB, ...

export function Curve({ label, x, series, unit, height = 160, stepped = false, fromZero = false, most, clock = false, marks = [], onSelect }: {
  label: string;
  x: ArrayLike<number>; // ns since the job's first span, ascending; with `clock` Unix time
  series: CurveSeries[];
  unit: Unit;
  height?: number;
  stepped?: boolean;
  fromZero?: boolean;
  most?: number; // with fromZero: where the scale ends; absent: at the greatest value
  clock?: boolean;
  marks?: CurveMark[];
  onSelect?: (fromNs: number, toNs: number) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const shownMarks = useRef(marks);
  const select = useRef(onSelect);
  shownMarks.current = marks;
  select.current = onSelect;
  const now = theme.value;
  // A curve that goes on is not made anew, so that the cursor stays where it is.
  const shape = JSON.stringify([series.map((one) => [one.label, one.kind]), unit, stepped, fromZero, most, clock, height, now]);
  const points = useMemo((): uPlot.AlignedData => [
    Array.from(x, (ns) => ns / 1e9),
    ...series.map((one) => Array.from(one.values, (value) => (Number.isNaN(value) ? null : value))),
  ], [x, series]);
  useEffect(() => {
    const box = place.current;
    if (box === null) return; // the view was left before it was drawn
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const timeText = (seconds: number, text: (unixNs: number) => string) => (clock ? text(seconds * 1e9) : human(seconds * 1e9, "ns"));
    const isLong = ({ scales: { x } }: uPlot) => x!.max! - x!.min! > HALF_DAY_S;
    const ticks = unit === "bytes" ? { incrs: POWERS_OF_TWO } : {};
    const axis = { stroke: colour("muted"), grid: { stroke: colour("grid") }, ticks: { stroke: colour("grid") } };
    const paths = stepped ? uPlot.paths.stepped!({ align: 1 }) : undefined;
    const plot = new uPlot(
      {
        width: box.clientWidth || 600,
        height,
        scales: { x: { time: clock }, ...(fromZero ? { y: { range: (_plot, _least, greatest) => [0, (most ?? (greatest || 1)) * 1.08] as [number, number] } } : {}) },
        cursor: { sync: { key: "time" }, points: { size: 6 }, drag: { x: onSelect !== undefined, y: false, setScale: false } },
        series: [
          { label: "time", value: (plot, value) => (value === null ? "" : timeText(value, isLong(plot) ? clockDate : clockTime)) },
          ...series.map((one) => ({
            label: one.label,
            stroke: colour(one.kind),
            width: 1.5,
            paths,
            points: { show: false, size: 4, fill: colour(one.kind), filter: (plot: uPlot, place: number) => lonePlaces(plot.data[place]!) },
            value: (_plot: uPlot, value: number | null, _place: number, index: number | null) => (index === null ? "" : value === null ? "not known" : human(value, unit)),
          })),
        ],
        axes: [
          { ...axis, ...(height < SMALL_PX ? { size: 26 } : {}), values: (_plot, ticks) => ticks.map((tick) => timeText(tick, clockTick)) },
          { ...axis, ...ticks, size: 80, values: (_plot, ticks) => ticks.map((tick) => human(tick, unit)) },
        ],
        hooks: {
          setSelect: [
            (self) => {
              if (self.select.width < 2 || select.current === undefined) return;
              select.current(self.posToVal(self.select.left, "x") * 1e9, self.posToVal(self.select.left + self.select.width, "x") * 1e9);
            },
          ],
          draw: [(self) => shownMarks.current.forEach((mark, i) => drawMark(self, mark, i, colour))],
        },
      },
      points,
      box,
    );
    drawn.current = plot;
    const watch = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }));
    watch.observe(box);
    return () => {
      watch.disconnect();
      plot.destroy();
      drawn.current = null;
    };
  }, [shape]);
  useEffect(() => {
    if (drawn.current !== null && drawn.current.data !== points) drawn.current.setData(points);
  }, [points]);
  const seen = marks.map((mark) => `${mark.ns} ${mark.toNs} ${mark.label}`).join("\n");
  useEffect(() => drawn.current?.redraw(false), [seen]);
  return <div class="curve" ref={place} role="img" aria-label={label} />;
}

function drawMark(plot: uPlot, mark: CurveMark, place: number, colour: (name: string) => string): void {
  const { ctx, bbox } = plot;
  const at = (ns: number) => plot.valToPos(ns / 1e9, "x", true);
  const left = at(mark.ns), right = mark.toNs === undefined ? left : at(mark.toNs);
  if (right < bbox.left || left > bbox.left + bbox.width) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = ctx.strokeStyle = colour(mark.kind);
  if (mark.toNs !== undefined) {
    ctx.globalAlpha = 0.2;
    ctx.fillRect(left, bbox.top, Math.max(1, right - left), bbox.height);
    ctx.globalAlpha = 1;
  }
  const ratio = uPlot.pxRatio;
  ctx.lineWidth = ratio;
  ctx.setLineDash([4 * ratio, 3 * ratio]);
  for (const x of mark.toNs === undefined ? [left] : [left, right]) {
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.fillStyle = colour("text");
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  const isNearEnd = left + ctx.measureText(mark.label).width + 8 * ratio > bbox.left + bbox.width;
  ctx.textAlign = isNearEnd ? "right" : "left";
  ctx.textBaseline = "top";
  ctx.fillText(mark.label, left + (isNearEnd ? -4 : 4) * ratio, bbox.top + (2 + place * 14) * ratio);
  ctx.restore();
}
