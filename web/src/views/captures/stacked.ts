// Tables of several agents as one. An agent of another release may have other columns: what one does not tell is not known.
import { Table, type Column } from "../../data/table.ts";
import { exactColumn, numbersColumn, textsColumn } from "../../data/made_table.ts";

export interface Part {
  host: string; // as it is called here, in the place of what its agent says
  table: Table;
}

export function stacked(name: string, parts: readonly Part[], keeps: (table: Table, row: number) => boolean = () => true): Table | null {
  if (parts.length === 0) return null;
  const rows = parts.flatMap(({ host, table }) => Array.from({ length: table.rows }, (_, row) => ({ host, table, row })).filter((each) => keeps(table, each.row)));
  const looks = new Map<string, Column>();
  for (const { table } of parts) for (const column of table.columns) if (!looks.has(column.name)) looks.set(column.name, column);
  const columns = [...looks.values()].map((look): Column => {
    if (look.name === "host") return textsColumn("host", rows.map((each) => each.host), { ...look, role: "key" });
    if (look.type === "text") {
      return { ...textsColumn(look.name, rows.map(({ table, row }) => (table.has(look.name) ? table.text(look.name, row) : "")), look), whole: look.whole };
    }
    if (look.role === "time") return exactColumn(look.name, rows.map(({ table, row }) => (table.has(look.name) ? table.exact(look.name, row) : "")), look);
    return numbersColumn(look.name, rows.map(({ table, row }) => (table.has(look.name) ? table.absolute(look.name, row) : Number.NaN)), look);
  });
  return new Table(name, rows.length, columns, parts.flatMap(({ table }) => table.notes));
}
