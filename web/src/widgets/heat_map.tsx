// A matrix of numbers by lightness of one hue: rank × step, rank × collective.
import { human } from "../format.ts";
import type { Unit } from "../data/table.ts";

export interface HeatCell {
  value: number; // NaN: not known
  link?: string;
  isMarked?: boolean;
}

const LEVELS = 9, LEAST_SPAN = 0.1;

export function HeatMap({ label, rows, columns, cell, unit, rowLink, chosenRow = -1 }: {
  label: string; // of what, and what its axes are: "Length of each step, by rank and step"
  rows: string[];
  columns: string[];
  cell: (row: number, column: number) => HeatCell;
  unit: Unit;
  rowLink?: (row: number) => string | undefined;
  chosenRow?: number;
}) {
  const cells = rows.map((_, row) => columns.map((_, column) => cell(row, column)));
  let least = Infinity, most = -Infinity;
  for (const { value } of cells.flat()) {
    if (!Number.isFinite(value)) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  // Differences of a few percent are not made to look large.
  const span = Math.max(most - least, Math.abs(most) * LEAST_SPAN);
  const level = (value: number) => (span > 0 ? Math.round(((value - least) / span) * (LEVELS - 1)) : 0);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="heat">
        <caption>{label}: {least <= most ? `${human(least, unit)} (light) to ${human(most, unit)} (dark)` : "not known"}</caption>
        <thead><tr><td />{columns.map((column) => <th key={column} scope="col">{column}</th>)}</tr></thead>
        <tbody>
          {rows.map((name, row) => (
            <tr key={name}>
              <th scope="row" class={row === chosenRow ? "here" : ""}>
                {rowLink?.(row) ? <a href={rowLink(row)} aria-current={row === chosenRow ? "true" : undefined}>{name}</a> : name}
              </th>
              {columns.map((column, c) => {
                const { value, link, isMarked } = cells[row]![c]!;
                if (!Number.isFinite(value)) return <td key={column} title="not known" />;
                const text = human(value, unit);
                const what = `${name}, ${column}: ${text} (${value})`;
                return (
                  <td key={column} class={`level${level(value)}${isMarked ? " here" : ""}`} title={what}>
                    {link ? <a href={link} aria-label={what}>{columns.length <= 24 ? text : ""}</a> : columns.length <= 24 ? text : ""}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
