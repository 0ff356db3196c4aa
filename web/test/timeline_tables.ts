// Tables made from rows, for tests of what reads them.
import { Table, type Column } from "../src/data/table.ts";

type Cell = string | number | bigint | null;

function column(name: string, cells: Cell[], base: bigint): Column {
  const text = cells.some((cell) => typeof cell === "string");
  const words = text ? [...new Set(cells.filter((cell) => typeof cell === "string"))] : [];
  const nulls = new Uint8Array(Math.ceil(cells.length / 8));
  cells.forEach((cell, row) => {
    if (cell === null) nulls[row >> 3]! |= 1 << (row & 7);
  });
  const value = (cell: Cell): number =>
    cell === null ? 0 : typeof cell === "string" ? words.indexOf(cell) : typeof cell === "bigint" ? Number(cell - base) : cell - Number(base);
  return {
    name,
    type: text ? "text" : cells.some((cell) => typeof cell === "number" && !Number.isInteger(cell)) ? "real" : "integer",
    unit: "none",
    role: "value",
    help: "",
    whole: false,
    values: Float64Array.from(cells, value),
    base: text ? 0n : base,
    words,
    nulls: cells.includes(null) ? nulls : null,
  };
}

// `bases` of columns of times.
export function tableOfRows(name: string, columns: string[], rows: Cell[][], bases: Record<string, bigint> = {}): Table {
  return new Table(
    name,
    rows.length,
    columns.map((each, c) => column(each, rows.map((row) => row[c]!), bases[each] ?? 0n)),
  );
}
