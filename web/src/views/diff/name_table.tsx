// The names of two jobs with a bar for each change: left and blue is faster, right and vermillion slower.
import type { Column, Table } from "../../data/table.ts";
import { human } from "../../format.ts";
import { DataTable } from "../../widgets/data_table.tsx";
import { arrow } from "./data.ts";

export function NameTable({ table }: { table: Table }) {
  let most = 0;
  for (let row = 0; row < table.rows; ++row) most = Math.max(most, Math.abs(table.absolute("change_ns", row)));
  const cell = (column: Column, row: number) =>
    column.name === "change_ns" ? <ChangeBar before={table.absolute("before_ns", row)} after={table.absolute("after_ns", row)} most={most} /> : undefined;
  return (
    <DataTable table={table} columns={["side", "name", "change", "before_ns", "after_ns", "change_ns", "change_ratio"]}
      sortKey="sort" filterKey="filter" cell={cell} label="What changed, by name" />
  );
}

function ChangeBar({ before, after, most }: { before: number; after: number; most: number }) {
  const change = after - before;
  const width = most > 0 ? (Math.abs(change) / most) * 50 : 0;
  return (
    <span class="change" title={String(change)}>
      <span class={change < 0 ? "bar-faster" : "bar-slower"} aria-hidden="true" style={change < 0 ? { right: "50%", width: `${width}%` } : { left: "50%", width: `${width}%` }} />
      <span class="text">{arrow({ before, after })} {human(Math.abs(change), "ns")}</span>
    </span>
  );
}
