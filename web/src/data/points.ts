// The points that a curve of Unix time is drawn from, as a table.
import { clockDate } from "../format.ts";
import { numbersColumn, textsColumn } from "./made_table.ts";
import { Table, type Unit } from "./table.ts";

export interface PointLine {
  of: string; // what it is of: a chart's title
  label: string;
  unit: Unit;
  values: ArrayLike<number>; // NaN: not known
}

// Places of values beside which nothing is known: no line leads to them.
export const lonePlaces = (values: ArrayLike<number | null | undefined>): number[] =>
  Array.from(values, (value, i) => (value != null && values[i - 1] == null && values[i + 1] == null ? i : -1)).filter((i) => i >= 0);

const columnName = (line: PointLine): string => `${line.of} ${line.label}`.trim().toLowerCase().replace(/\W+/g, "_");

export const pointTable = (x: ArrayLike<number>, lines: readonly PointLine[]): Table =>
  new Table("points", x.length, [
    textsColumn("time", Array.from(x, (ns) => clockDate(ns)), { help: "Where the reader is.", role: "key" }),
    ...lines.map((line) => numbersColumn(columnName(line), line.values, { help: `${line.of}: ${line.label}`, unit: line.unit, type: "real" })),
  ]);
