// Which rows of a table are shown, and in which order.
import { isPosition, printable } from "../format.ts";
import type { Column, Table } from "../data/table.ts";

// "-sum_ns": by that column, the largest first.
export function sortedRows(table: Table, rows: Uint32Array, sort: string): Uint32Array {
  const name = sort.replace(/^-/, "");
  if (name === "" || !table.has(name)) return rows;
  const column = table.column(name);
  const keys = sortKeys(table, column);
  const direction = sort.startsWith("-") ? -1 : 1;
  // What is not known is last in either direction; equal ones stay as they are.
  return rows.slice().sort((a, b) => {
    const isNullA = table.isNull(column, a), isNullB = table.isNull(column, b);
    if (isNullA || isNullB) return Number(isNullA) - Number(isNullB) || a - b;
    return keys[a]! < keys[b]! ? -direction : keys[a]! > keys[b]! ? direction : a - b;
  });
}

// Of texts their places in the alphabet, so that no text is compared twice.
function sortKeys(table: Table, column: Column): ArrayLike<number | bigint> {
  if (column.type !== "text") return column.values;
  const order = column.words.map((_, place) => place).sort((a, b) => compareTexts(column.words[a]!, column.words[b]!));
  const places = new Uint32Array(column.words.length);
  order.forEach((word, place) => (places[word] = place));
  return Uint32Array.from({ length: table.rows }, (_, row) => places[Number(column.values[row]!)] ?? 0);
}

const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

// Rows in which each of the words is in some text or identifier; "name:word" looks in that column alone.
export function filteredRows(table: Table, filter: string): Uint32Array {
  const all = Uint32Array.from({ length: table.rows }, (_, row) => row);
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== "");
  let rows = all;
  for (const word of words) {
    const [, name, rest] = /^([a-z_]+):(.*)$/.exec(word) ?? [];
    const columns = name !== undefined && table.has(name) ? [table.column(name)] : table.columns;
    const wanted = name !== undefined && table.has(name) ? rest! : word;
    const tests = columns.map((column) => matcher(table, column, wanted)).filter((test) => test !== null);
    rows = rows.filter((row) => tests.some((test) => test(row)));
  }
  return rows;
}

function matcher(table: Table, column: Column, word: string): ((row: number) => boolean) | null {
  if (column.type === "text") {
    const has = column.words.map((text) => printable(text).toLowerCase().includes(word));
    return (row) => has[Number(column.values[row]!)]! && !table.isNull(column, row);
  }
  if (column.unit !== "none" || isPosition(column)) return null;
  return (row) => table.exact(column, row) === word;
}
