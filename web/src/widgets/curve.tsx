// Curves over time by uPlot; all of a page have one cursor. Hidden from screen readers: who shows one says beside it, or in a
// table, what it shows.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { human } from "../format.ts";
import type { Unit } from "../data/table.ts";
import { theme } from "../theme.tsx";

export interface CurveSeries {
  label: string;
  kind: string; // names its colour
  values: ArrayLike<number>; // NaN: not known
}

export function Curve({ label, x, series, unit, height = 160, stepped = false, onSelect }: {
  label: string;
  x: ArrayLike<number>; // ns since the job's first span, ascending
  series: CurveSeries[];
  unit: Unit;
  height?: number;
  stepped?: boolean;
  onSelect?: (fromNs: number, toNs: number) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const now = theme.value;
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const axis = { stroke: colour("muted"), grid: { stroke: colour("grid") }, ticks: { stroke: colour("grid") } };
    const paths = stepped ? uPlot.paths.stepped!({ align: 1 }) : undefined;
    const plot = new uPlot(
      {
        width: place.current!.clientWidth || 600,
        height,
        scales: { x: { time: false } },
        cursor: { sync: { key: "time" }, drag: { x: onSelect !== undefined, y: false, setScale: false } },
        series: [
          { label: "time", value: (_plot, value) => (value === null ? "" : human(value * 1e9, "ns")) },
          ...series.map((one) => ({
            label: one.label,
            stroke: colour(one.kind),
            width: 1.5,
            paths,
            points: { show: false },
            value: (_plot: uPlot, value: number | null) => (value === null ? "not known" : human(value, unit)),
          })),
        ],
        axes: [
          { ...axis, values: (_plot, ticks) => ticks.map((tick) => human(tick * 1e9, "ns")) },
          { ...axis, size: 80, values: (_plot, ticks) => ticks.map((tick) => human(tick, unit)) },
        ],
        hooks: {
          setSelect: [
            (self) => {
              if (self.select.width < 2 || onSelect === undefined) return;
              onSelect(self.posToVal(self.select.left, "x") * 1e9, self.posToVal(self.select.left + self.select.width, "x") * 1e9);
            },
          ],
        },
      },
      [Array.from(x, (ns) => ns / 1e9), ...series.map((one) => Array.from(one.values, (value) => (Number.isNaN(value) ? null : value)))],
      place.current!,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: place.current!.clientWidth, height }));
    watch.observe(place.current!);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [x, series, now, height]);
  return <div class="curve" ref={place} role="img" aria-label={label} />;
}
