// Stacked bars, one a line: of ranks, steps, causes. Parts are told apart by colour, order and title; the numbers stand
// beside them.
import type { Unit } from "../data/table.ts";
import { human } from "../format.ts";
import { exactText } from "./exact.tsx";
import { Legend } from "./legend.tsx";

export interface BarPart {
  kind: string; // names its colour: compute, communication, memory, operator, ... (style.css)
  label: string;
  value: number;
}
export interface Bar {
  label: string;
  parts: BarPart[];
  link?: string;
  mark?: string; // why it stands out
  isChosen?: boolean;
}

// NaN where no part is known.
const sumOf = (parts: BarPart[]): number =>
  parts.length > 0 && parts.every((part) => Number.isNaN(part.value)) ? Number.NaN : parts.reduce((sum, part) => sum + (part.value || 0), 0);

const WIDTH = 1000, HEIGHT = 16;

export function Bars({ bars, unit, label, most }: { bars: Bar[]; unit: Unit; label: string; most?: number }) {
  const largest = most ?? Math.max(1e-12, ...bars.map((bar) => sumOf(bar.parts) || 0));
  const kinds = new Map(bars.flatMap((bar) => bar.parts.map((part) => [part.kind, part.label])));
  return (
    <div class="bars" role="group" aria-label={label}>
      <Legend kinds={kinds} />
      <table class="plain">
        <caption class="hidden">{label}</caption>
        <thead class="hidden"><tr><th scope="col">{label}</th><th scope="col">Parts</th><th scope="col">Sum</th></tr></thead>
        <tbody>
          {bars.map((bar) => (
            <tr key={bar.label} class={bar.mark || bar.isChosen ? "marked" : ""} aria-current={bar.isChosen ? "true" : undefined}>
              <th scope="row" title={bar.mark}>{bar.link ? <a href={bar.link}>{bar.label}</a> : bar.label}{bar.mark && " ⚑"}</th>
              <td class="wide"><BarPicture bar={bar} most={largest} unit={unit} /></td>
              <td class="number" title={exactText(sumOf(bar.parts))}>{human(sumOf(bar.parts), unit)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function BarPicture({ bar, most, unit }: { bar: Bar; most: number; unit: Unit }) {
  let x = 0;
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img"
      aria-label={bar.parts.map((part) => `${part.label} ${human(part.value, unit)}`).join(", ")}>
      {bar.parts.map((part) => {
        const width = ((part.value || 0) / most) * WIDTH;
        const at = x;
        x += width;
        return (
          <rect key={part.label} class={part.kind} x={at.toFixed(2)} y={0} width={Math.max(0, width).toFixed(2)} height={HEIGHT}>
            <title>{`${part.label}: ${human(part.value, unit)} (${exactText(part.value)})`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
