// Columns of numbers of decoded tables, row by row, and the rows of a rank.
import type { Table } from "./table.ts";

// Numbers of a column as doubles, less `origin`; null is NaN.
export function timesOf(table: Table, name: string, origin: bigint): (row: number) => number {
  const column = table.column(name);
  const { values } = column;
  if (values instanceof BigInt64Array)
    return (row) => (table.isNull(column, row) ? NaN : Number(values[row] + column.base - origin));
  const offset = Number(column.base - origin);
  if (!column.nulls) return (row) => values[row] + offset;
  return (row) => (table.isNull(column, row) ? NaN : values[row]! + offset);
}

export function integersOf(table: Table, name: string): (row: number) => number | null {
  const column = table.column(name);
  const number = timesOf(table, name, 0n);
  if (!column.nulls) return number;
  return (row) => (table.isNull(column, row) ? null : number(row));
}

// The rows of a table by runs of equal values of some columns: the first of each run and the one after its last.
export function* runsOf(table: Table, names: readonly string[]): Generator<[number, number]> {
  const columns = names.filter((name) => table.has(name)).map((name) => table.column(name));
  const same = (a: number, b: number): boolean =>
    columns.every((column) => Object.is(table.number(column, a), table.number(column, b)));
  for (let begin = 0; begin < table.rows; ) {
    let end = begin + 1;
    while (end < table.rows && same(begin, end)) ++end;
    yield [begin, end];
    begin = end;
  }
}

export const rankOf = (table: Table, row: number): string => table.exact("rank", row) || "none";
