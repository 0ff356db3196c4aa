// Tables that are made here: of rows that were computed, or of another table's rows added up.
import { nullBits } from "./rows.ts";
import { Table, type Column, type ColumnType, type Role, type Unit } from "./table.ts";

export interface ColumnLook {
  help: string;
  unit?: Unit;
  role?: Role;
  type?: ColumnType;
}

// NaN is null.
export function numbersColumn(name: string, numbers: ArrayLike<number>, look: ColumnLook): Column {
  return {
    name, type: look.type ?? "integer", unit: look.unit ?? "none", role: look.role ?? "value", help: look.help, whole: false,
    values: Float64Array.from(numbers, (value) => (Number.isNaN(value) ? 0 : value)), base: 0n, words: [],
    nulls: nullBits(numbers.length, (row) => Number.isNaN(numbers[row]!)),
  };
}

// Of whole numbers with all their digits, as `exact` gives them: of Unix times doubles lose the last ones. An empty text is null.
export function exactColumn(name: string, texts: readonly string[], look: ColumnLook): Column {
  return { ...numbersColumn(name, texts.map((text) => (text === "" ? Number.NaN : 0)), look), values: BigInt64Array.from(texts, BigInt) };
}

// An empty text is null.
export function textsColumn(name: string, texts: readonly string[], look: ColumnLook): Column {
  const places = new Map<string, number>();
  const values = Uint32Array.from(texts, (text) => {
    if (!places.has(text)) places.set(text, places.size);
    return places.get(text)!;
  });
  return {
    name, type: "text", unit: "none", role: look.role ?? "value", help: look.help, whole: false,
    values, base: 0n, words: [...places.keys()], nulls: nullBits(texts.length, (row) => texts[row] === ""),
  };
}

export interface ColumnOf extends ColumnLook {
  name: string;
  type: ColumnType;
  base?: bigint; // of integers: what all cells count from
}

export type Cell = number | string | null;

// `rows` have their cells in the order of `columns`.
export function tableFrom(name: string, columns: readonly ColumnOf[], rows: readonly (readonly Cell[])[]): Table {
  return new Table(name, rows.length, columns.map((column, c) => {
    const cells = rows.map((row) => row[c] ?? null);
    return column.type === "text"
      ? textsColumn(column.name, cells.map((cell) => String(cell ?? "")), column)
      : { ...numbersColumn(column.name, cells.map((cell) => (cell === null ? Number.NaN : Number(cell))), column), base: column.base ?? 0n };
  }));
}

export interface Groups {
  first: number[]; // a row of each group
  rows: number[][];
}

// Rows by equal texts of some columns, in the order in which they come first.
export function groupsOf(table: Table, keys: readonly string[], rows: readonly number[]): Groups {
  const columns = keys.map((key) => table.column(key));
  const places = new Map<string, number>();
  const groups: Groups = { first: [], rows: [] };
  for (const row of rows) {
    const key = columns.map((column) => (table.isNull(column, row) ? "" : String(column.values[row]))).join(",");
    let at = places.get(key);
    if (at === undefined) {
      places.set(key, (at = groups.first.length));
      groups.first.push(row);
      groups.rows.push([]);
    }
    groups.rows[at]!.push(row);
  }
  return groups;
}

// Of each group the sum of what is known; NaN where nothing is.
export function sums(table: Table, groups: Groups, name: string): Float64Array {
  const column = table.column(name);
  return Float64Array.from(groups.rows, (rows) => {
    let sum = Number.NaN;
    for (const row of rows) {
      const value = table.absolute(column, row);
      if (!Number.isNaN(value)) sum = (Number.isNaN(sum) ? 0 : sum) + value;
    }
    return sum;
  });
}

// The mean of what is known, weighted by another column.
export function means(table: Table, groups: Groups, name: string, weight: string): Float64Array {
  return Float64Array.from(groups.rows, (rows) => {
    let sum = 0, weights = 0;
    for (const row of rows) {
      const value = table.absolute(name, row), by = table.absolute(weight, row);
      if (Number.isNaN(value) || Number.isNaN(by)) continue;
      sum += value * by;
      weights += by;
    }
    return weights > 0 ? sum / weights : Number.NaN;
  });
}

export function extremes(table: Table, groups: Groups, name: string, pick: (...values: number[]) => number): Float64Array {
  return Float64Array.from(groups.rows, (rows) => rows.reduce((found, row) => {
    const value = table.absolute(name, row);
    return Number.isNaN(found) ? value : Number.isNaN(value) ? found : pick(found, value);
  }, Number.NaN));
}

export const textsOf = (table: Table, groups: Groups, name: string): string[] =>
  groups.first.map((row) => table.exact(name, row));

// Columns of one table with some of their numbers added up over the rows that have the other columns alike.
export function summed(table: Table, keys: readonly string[], added: readonly string[], rows: readonly number[]): Table {
  const groups = groupsOf(table, keys, rows);
  const columns = table.columns.flatMap((column): Column[] => {
    if (keys.includes(column.name)) return [copyOf(table, groups, column)];
    if (!added.includes(column.name)) return [];
    return [numbersColumn(column.name, sums(table, groups, column.name), column)];
  });
  return new Table(table.name, groups.first.length, columns, table.notes);
}

function copyOf(table: Table, groups: Groups, column: Column): Column {
  if (column.type === "text") return textsColumn(column.name, textsOf(table, groups, column.name), column);
  return numbersColumn(column.name, groups.first.map((row) => table.absolute(column, row)), column);
}
