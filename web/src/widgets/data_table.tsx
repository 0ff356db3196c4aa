// Any table as one that can be sorted, filtered, searched, copied and saved. Of long ones only the rows in sight are in
// the document.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Column, Table, Unit } from "../data/table.ts";
import { useStartNs } from "../data/use.ts";
import { cellText, isPosition, shortName, shortNames } from "../format.ts";
import { tellNotes } from "../notes.tsx";
import { param, setParam } from "../state.ts";
import { filteredRows, sortedRows } from "./order.ts";
import { TableMenu } from "./table_menu.tsx";

const ROW_PX = 24;
const WHOLE = 200; // rows of a table that is in the document as a whole
const IN_SIGHT = 45; // at most
const ON_PAPER = 50; // so many are in the document
const MOST_PX = 12_000_000; // browsers lose what is further down

export interface DataTableProps {
  table: Table;
  from?: string; // of a table that the page makes: the analysis whose definition is that of its numbers
  columns?: string[]; // those that are shown at first; else all but details
  // Keys of the address that hold its order, filter and columns; absent: they are its own, and nobody else's
  sortKey?: string;
  filterKey?: string;
  colsKey?: string;
  sort?: string; // at first
  link?: (row: number) => string | undefined; // where a row leads
  linkColumn?: string; // which cell does; absent: the first one
  cell?: (column: Column, row: number) => ComponentChildren | undefined; // in the place of the usual one
  onHover?: (row: number | null) => void; // of the row that the pointer or the focus is in
  chosen?: number; // a row that stands out
  label?: string;
}

export function DataTable(props: DataTableProps) {
  const { table } = props;
  tellNotes(table);
  const own = useSignal({ sort: "", filter: "", columns: "" });
  const sort = (props.sortKey ? param(props.sortKey) : own.value.sort) || props.sort || "";
  const filter = props.filterKey ? param(props.filterKey) : own.value.filter;
  const setSort = (value: string) =>
    props.sortKey ? setParam(props.sortKey, value) : (own.value = { ...own.value, sort: value });
  const setFilter = (value: string) =>
    props.filterKey ? setParam(props.filterKey, value) : (own.value = { ...own.value, filter: value });
  const setColumns = (value: string) =>
    props.colsKey ? setParam(props.colsKey, value) : (own.value = { ...own.value, columns: value });
  const asked = (props.colsKey ? param(props.colsKey) : own.value.columns).split(",").filter((name) => table.has(name));
  const chosen = asked.length > 0 ? asked : props.columns ?? usualColumns(table);
  const columns = table.columns.filter((column) => chosen.includes(column.name));
  const rows = useMemo(() => sortedRows(table, filteredRows(table, filter), sort), [table, filter, sort]);
  return (
    <figure class="table">
      <TableMenu table={table} from={props.from ?? table.name} columns={columns} rows={rows} filter={filter} setFilter={setFilter}
        setColumns={(names) => setColumns(names.join(","))} />
      <Rows {...props} columns={columns} rows={rows} filter={filter} sort={sort} setSort={setSort} />
    </figure>
  );
}

function usualColumns(table: Table): string[] {
  const says = (column: Column) => column.nulls === null || column.nulls.some((byte, i) =>
    byte !== (i * 8 + 8 <= table.rows ? 0xff : (1 << table.rows % 8) - 1));
  return table.columns.filter(says).map((column) => column.name);
}

type RowsProps = Omit<DataTableProps, "columns"> & { columns: Column[]; rows: Uint32Array; filter: string; sort: string; setSort: (sort: string) => void };

function Rows({ table, columns, rows, filter, sort, setSort, link, cell, label, onHover, chosen, linkColumn }: RowsProps) {
  const region = useRef<HTMLDivElement>(null);
  const first = useSignal(0);
  const isWhole = rows.length <= WHOLE;
  const height = Math.min(rows.length * ROW_PX, MOST_PX);
  const most = Math.max(0, rows.length - IN_SIGHT);
  const top = isWhole ? 0 : Math.min(first.value, most);
  const shown = isWhole ? rows : rows.subarray(top, top + ON_PAPER);
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = region.current!;
    const share = scrollTop / Math.max(1, scrollHeight - clientHeight);
    // Beyond what browsers can scroll the place says which part of the rows is meant.
    first.value = height < MOST_PX ? Math.max(0, Math.floor(scrollTop / ROW_PX) - 5) : Math.floor(share * most);
  };
  // A newer answer to the same question leaves readers where they are.
  useEffect(() => {
    first.value = 0;
    region.current?.scrollTo(0, 0);
  }, [table.name, table.address, filter, sort]);
  useEffect(onScroll, [rows.length]);
  const before = height < MOST_PX ? top * ROW_PX : (top / Math.max(1, rows.length)) * MOST_PX;
  const after = Math.max(0, height - before - shown.length * ROW_PX);
  return (
    <div class="scroll" ref={region} onScroll={isWhole ? undefined : onScroll} tabIndex={0} role="region" aria-label={label ?? `Table ${table.name}`}>
      <table data-table={table.name} aria-rowcount={rows.length + 1} aria-label={label ?? table.name}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => <Head key={column.name} column={column} text={titleAmong(columns, column)} sort={sort} setSort={setSort} />)}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr class="space" aria-hidden="true" style={{ height: `${before}px` }}><td colSpan={columns.length} /></tr>}
          {Array.from(shown, (row, i) => (
            <Row key={row} table={table} columns={columns} row={row} index={top + i + 2} link={link?.(row)} cell={cell} onHover={onHover} isChosen={row === chosen} linkColumn={linkColumn} />
          ))}
          {!isWhole && after > 0 && <tr class="space" aria-hidden="true" style={{ height: `${after}px` }}><td colSpan={columns.length} /></tr>}
        </tbody>
      </table>
      {rows.length > ON_PAPER && <p class="paper">Rows {top + 1} to {Math.min(top + ON_PAPER, rows.length)} of {rows.length}; the page saves all.</p>}
      {rows.length === 0 && <p class="empty">{table.rows === 0 ? "No rows." : "No row matches the filter."}</p>}
    </div>
  );
}

export const title = (column: Column): string => column.name.replace(/_(ns|bytes|ratio)$/, "").replaceAll("_", " ").replace(/\bdur\b/, "duration");
export const isNumeric = (column: Column): boolean =>
  column.type !== "text" && column.type !== "flag" && !(column.role === "key" && column.unit === "none");

const MEASURES: Partial<Record<Unit, string>> = { ns: "time", bytes: "size", ratio: "%", count: "number" };

// With its measure, where others would have the same.
export function titleAmong(columns: readonly Column[], column: Column): string {
  const measure = MEASURES[column.unit];
  const isShared = columns.some((other) => other !== column && title(other) === title(column));
  return isShared && measure !== undefined ? `${title(column)}, ${measure}` : title(column);
}

function Head({ column, text, sort, setSort }: { column: Column; text: string; sort: string; setSort: (sort: string) => void }) {
  const direction = sort === column.name ? "ascending" : sort === `-${column.name}` ? "descending" : "none";
  // Numbers first by the largest; the third click is as it was.
  const [one, two] = isNumeric(column) ? [`-${column.name}`, column.name] : [column.name, `-${column.name}`];
  const next = sort === one ? two : sort === two ? "" : one;
  return (
    <th scope="col" aria-sort={direction} class={isNumeric(column) ? "number" : ""}>
      <button type="button" title={`${column.name}: ${column.help}`} onClick={() => setSort(next)}>
        {text}{direction === "none" ? "" : direction === "ascending" ? " ▲" : " ▼"}
      </button>
    </th>
  );
}

type RowProps = { table: Table; columns: Column[]; row: number; index: number; link: string | undefined; cell: DataTableProps["cell"]; onHover: DataTableProps["onHover"]; isChosen: boolean; linkColumn: string | undefined };

function Row({ table, columns, row, index, link, cell, onHover, isChosen, linkColumn }: RowProps) {
  const enter = onHover && (() => onHover(row));
  const leave = onHover && (() => onHover(null));
  return (
    <tr aria-rowindex={index} class={isChosen ? "picked" : undefined} onMouseEnter={enter} onMouseLeave={leave} onFocusCapture={enter} onBlurCapture={leave}>
      {columns.map((column, i) => {
        const own = cell?.(column, row);
        const inner = own ?? <Cell table={table} column={column} row={row} />;
        const exact = own === undefined ? table.exact(column, row) : undefined;
        return (
          <td key={column.name} class={isNumeric(column) ? "number" : ""} data-column={column.name}
            title={exact === undefined ? undefined : exact === "" ? "not known" : exact}>
            {(linkColumn === undefined ? i === 0 : column.name === linkColumn) && link !== undefined ? <a href={link}>{inner}</a> : inner}
          </td>
        );
      })}
    </tr>
  );
}

// Of columns of very many texts each is shortened alone.
const MOST_TOLD_APART = 2000, MOST_LETTERS = 80;
const shortWords = new WeakMap<Column, Map<string, string>>();

function shortWord(column: Column, text: string): string {
  if (column.words.length > MOST_TOLD_APART) return shortName(text, MOST_LETTERS);
  let words = shortWords.get(column);
  if (words === undefined) shortWords.set(column, (words = shortNames(column.words, MOST_LETTERS)));
  return words.get(text) ?? "";
}

export function Cell({ table, column, row }: { table: Table; column: Column; row: number }) {
  const start = useStartNs();
  const text = cellText(table, column, row, isPosition(column) ? start : 0n);
  if (column.type === "text" && !column.whole) return <>{shortWord(column, table.text(column, row))}</>;
  if (column.unit === "ratio" && text !== "") {
    const share = Math.max(0, Math.min(1, table.number(column, row)));
    return <><span class="share" aria-hidden="true" style={{ width: `${(share * 100).toFixed(0)}%` }} />{text}</>;
  }
  if (isPosition(column) && text.startsWith("-")) return <span title="before the job's first span, from which positions count">{text}</span>;
  return <>{text}</>;
}
