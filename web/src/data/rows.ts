// Some of the rows of a table.
import { Table, type Column } from "./table.ts";

export const allRows = (table: Table): number[] => Array.from({ length: table.rows }, (_, row) => row);

export function rowsThat(table: Table, holds: (row: number) => boolean): number[] {
  const rows: number[] = [];
  for (let row = 0; row < table.rows; ++row) if (holds(row)) rows.push(row);
  return rows;
}

// Of a rank; of all with "". "none": of what has no rank.
export const rowsOfRank = (table: Table, rank: string): number[] =>
  rank === "" || !table.has("rank") ? allRows(table) : table.rowsWhere("rank", rank === "none" ? "" : rank);

export const ranksIn = (table: Table): string[] => [...new Set(allRows(table).map((row) => table.exact("rank", row) || "none"))];

// A column's sum over the rows of each key; what is not known adds nothing.
export function sumsBy(table: Table, name: string, keyOf: (row: number) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (let row = 0; row < table.rows; ++row) {
    const key = keyOf(row);
    sums.set(key, (sums.get(key) ?? 0) + (table.absolute(name, row) || 0));
  }
  return sums;
}

// The key with the most; "" where there is none.
export const largestOf = (sums: ReadonlyMap<string, number>): string => [...sums].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "";

// A table of these rows, in their order.
export function pickRows(table: Table, rows: ArrayLike<number>): Table {
  const pick = (column: Column): Column => {
    const values = column.values.slice(0, 0).constructor as new (length: number) => Column["values"];
    const picked = new values(rows.length);
    for (let i = 0; i < rows.length; ++i) picked[i] = column.values[rows[i]!]!;
    const nulls = column.nulls === null ? null : nullBits(rows.length, (i) => table.isNull(column, rows[i]!));
    return { ...column, values: picked, nulls };
  };
  return new Table(table.name, rows.length, table.columns.map(pick), table.notes);
}

// As Column has them; null where there are none.
export function nullBits(rows: number, isNull: (row: number) => boolean): Uint8Array | null {
  let bits: Uint8Array | null = null;
  for (let row = 0; row < rows; ++row) if (isNull(row)) (bits ??= new Uint8Array((rows + 7) >> 3))[row >> 3]! |= 1 << (row & 7);
  return bits;
}
