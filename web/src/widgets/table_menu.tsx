// Above a table: filter, which columns, copy, save.
import { copy } from "../failures.tsx";
import type { Column, Table } from "../data/table.ts";
import { useAnalyses, valueOf } from "../data/use.ts";
import { linkTo, view } from "../state.ts";
import { asCsv, asJson, asTsv } from "./export.ts";
import { save, saveAnswer } from "./save.ts";

interface Props {
  table: Table;
  from: string;
  columns: Column[];
  rows: Uint32Array;
  filter: string;
  setFilter: (filter: string) => void;
  setColumns: (names: string[]) => void;
}

export function TableMenu({ table, from, columns, rows, filter, setFilter, setColumns }: Props) {
  const count = rows.length === table.rows ? `${table.rows} rows` : `${rows.length} of ${table.rows} rows`;
  const toggle = (name: string, on: boolean) =>
    setColumns(table.columns.map((column) => column.name).filter((each) => (each === name ? on : columns.some((c) => c.name === each))));
  return (
    <figcaption class="tools">
      <input type="search" placeholder="Filter rows" aria-label={`Filter the table ${table.name}; name:word looks in one column`}
        value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
      <span class="muted" role="status">{count}</span>
      <Definition of={from} />
      <details class="menu">
        <summary>Columns</summary>
        <div>
          {table.columns.map((column) => (
            <label key={column.name} title={column.help}>
              <input type="checkbox" checked={columns.includes(column)} onChange={(event) => toggle(column.name, event.currentTarget.checked)} />{" "}
              {column.name}
            </label>
          ))}
        </div>
      </details>
      <button type="button" title="As tab-separated values" onClick={() => copy(asTsv(table, columns, rows))}>Copy</button>
      <button type="button" onClick={() => save(`${table.name}.csv`, asCsv(table, columns, rows), "text/csv")}>CSV</button>
      <button type="button" onClick={() => save(`${table.name}.json`, asJson(table, columns, rows), "application/json")}>JSON</button>
      {table.address !== "" && (
        <button type="button" title="All rows and columns, for pyarrow, Polars and DuckDB"
          onClick={() => saveAnswer(`${table.name}.arrow`, table.address, "application/vnd.apache.arrow.stream")}>Arrow</button>
      )}
    </figcaption>
  );
}

// None of tables that no analysis makes; and where it is read there is no need of one.
function Definition({ of }: { of: string }) {
  const analysis = valueOf(useAnalyses())?.find((each) => each.name === of);
  if (analysis === undefined || view.value === "tables") return null;
  return <a href={linkTo("tables", { table: of, definition: "1" })} title={`${of}: ${analysis.summary}`}>Definition</a>;
}
