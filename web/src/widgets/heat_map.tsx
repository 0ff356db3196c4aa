// A matrix of numbers by lightness of one hue: rank × step, rank × collective.
import { human } from "../format.ts";
import type { Unit } from "../data/table.ts";

export interface HeatCell {
  value: number; // NaN: not known
  link?: string;
}

const LEVELS = 9;

export function HeatMap({ label, rows, columns, cell, unit }: {
  label: string; // of what, and what its axes are: "Length of each step, by rank and step"
  rows: string[];
  columns: string[];
  cell: (row: number, column: number) => HeatCell;
  unit: Unit;
}) {
  const values = rows.flatMap((_, row) => columns.map((_, column) => cell(row, column).value)).filter(Number.isFinite);
  const least = Math.min(...values), most = Math.max(...values);
  const level = (value: number) => (most > least ? Math.round(((value - least) / (most - least)) * (LEVELS - 1)) : 0);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="heat">
        <caption>{label}: {human(least, unit)} (light) to {human(most, unit)} (dark)</caption>
        <thead><tr><td />{columns.map((column) => <th key={column} scope="col">{column}</th>)}</tr></thead>
        <tbody>
          {rows.map((name, row) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {columns.map((column, c) => {
                const { value, link } = cell(row, c);
                if (!Number.isFinite(value)) return <td key={column} title="not known" />;
                const text = human(value, unit);
                const what = `${name}, ${column}: ${text} (${value})`;
                return (
                  <td key={column} class={`level${level(value)}`} title={what}>
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
