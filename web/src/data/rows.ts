// Tables made of others: some of the rows of one, or rows that were computed here.
import { Table, type Column, type ColumnType, type Role, type Unit } from "./table.ts";

export function pickRows(table: Table, rows: ArrayLike<number>): Table {
  const pick = (column: Column): Column => {
    const values = column.values.slice(0, 0).constructor as new (length: number) => Column["values"];
    const picked = new values(rows.length);
    const nulls = column.nulls === null ? null : new Uint8Array(Math.ceil(rows.length / 8));
    for (let i = 0; i < rows.length; ++i) {
      picked[i] = column.values[rows[i]!]!;
      if (nulls !== null && table.isNull(column, rows[i]!)) nulls[i >> 3]! |= 1 << (i & 7);
    }
    return { ...column, values: picked, nulls };
  };
  return new Table(table.name, rows.length, table.columns.map(pick), table.notes);
}

export function rowsThat(table: Table, holds: (row: number) => boolean): number[] {
  const rows: number[] = [];
  for (let row = 0; row < table.rows; ++row) if (holds(row)) rows.push(row);
  return rows;
}

export interface ColumnOf {
  name: string;
  type: ColumnType;
  unit?: Unit;
  role?: Role;
  help: string;
  base?: bigint; // of integers: what all cells count from
  whole?: boolean;
}

export type Cell = number | string | null;

// `rows` have their cells in the order of `columns`.
export function tableFrom(name: string, columns: ColumnOf[], rows: readonly (readonly Cell[])[]): Table {
  return new Table(name, rows.length, columns.map((column, c) => columnFrom(column, rows.map((row) => row[c] ?? null))));
}

function columnFrom(column: ColumnOf, cells: Cell[]): Column {
  const places = new Map<string, number>();
  if (column.type === "text") for (const cell of cells) if (cell !== null && !places.has(String(cell))) places.set(String(cell), places.size);
  const nulls = new Uint8Array(Math.ceil(cells.length / 8));
  cells.forEach((cell, row) => {
    if (cell === null) nulls[row >> 3]! |= 1 << (row & 7);
  });
  return {
    name: column.name,
    type: column.type,
    unit: column.unit ?? "none",
    role: column.role ?? "value",
    help: column.help,
    whole: column.whole ?? false,
    values: Float64Array.from(cells, (cell) => (cell === null ? 0 : column.type === "text" ? places.get(String(cell))! : Number(cell))),
    base: column.base ?? 0n,
    words: [...places.keys()],
    nulls: cells.includes(null) ? nulls : null,
  };
}
