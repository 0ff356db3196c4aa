// A table, or some of its rows, as text for other programs.
import type { Column, Table } from "../data/table.ts";

// Cells that a spreadsheet would take for a formula get an apostrophe.
const harmless = (text: string, column: Column) => (column.type === "text" && /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text);

export function asTsv(table: Table, columns: readonly Column[], rows: ArrayLike<number>): string {
  // A spreadsheet takes off the quotes that a pasted cell begins with, and what they held may be a formula.
  const line = (cells: string[]) => cells.map((cell) => cell.replace(/[\t\r\n]+/g, " ").replace(/^"/, `'"`)).join("\t");
  const lines = [line(columns.map((column) => column.name))];
  for (let i = 0; i < rows.length; ++i)
    lines.push(line(columns.map((column) => harmless(table.exact(column, rows[i]!), column))));
  return `${lines.join("\n")}\n`;
}

export function asCsv(table: Table, columns: readonly Column[], rows: ArrayLike<number>): string {
  const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [columns.map((column) => cell(column.name)).join(",")];
  for (let i = 0; i < rows.length; ++i)
    lines.push(columns.map((column) => cell(harmless(table.exact(column, rows[i]!), column))).join(","));
  return `${lines.join("\n")}\n`;
}

// As --format json has it: numbers with all their digits.
export function asJson(table: Table, columns: readonly Column[], rows: ArrayLike<number>): string {
  const value = (column: Column, row: number) => {
    const text = table.exact(column, row);
    if (column.type === "text") return table.isNull(column, row) ? "null" : JSON.stringify(text);
    return text === "" ? "null" : text;
  };
  const lines = Array.from({ length: rows.length }, (_, i) => `[${columns.map((column) => value(column, rows[i]!)).join(",")}]`);
  const heads = columns.map(({ name, type, unit, role, help }) => JSON.stringify({ name, type, unit, role, help }));
  return `{"tables":[\n{"name":${JSON.stringify(table.name)},"columns":[\n${heads.join(",\n")}],"rows":[\n${lines.join(",\n")}]}],\n"notes":${JSON.stringify(table.notes)}}\n`;
}
