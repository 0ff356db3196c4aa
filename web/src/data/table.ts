// A table as the page has it: columns in typed arrays, read only. Positions in time and other large whole numbers are
// doubles relative to a base, so that sums stay exact; `exact` gives every digit.

export type ColumnType = "integer" | "real" | "text" | "flag";
export type Unit =
  | "none" | "ns" | "bytes" | "ratio" | "count" | "bytes_per_s" | "celsius" | "watts" | "joules" | "hertz" | "per_s";
export type Role = "key" | "value" | "counter" | "time" | "detail";
export type Numbers = Float64Array | Int32Array | Int16Array | Int8Array | Uint32Array | Uint16Array | Uint8Array;

export interface Note {
  kind: string;
  severity: "info" | "repair" | "loss";
  count: number;
  position: number | null;
  scope: string;
  scopes: number;
  sentence: string;
}

export interface Column {
  name: string;
  type: ColumnType;
  unit: Unit;
  role: Role;
  help: string;
  whole: boolean; // a text that is never shortened
  values: Numbers | BigInt64Array; // relative to base; of texts places in words; BigInt64Array: beyond 2^53
  base: bigint;
  words: string[];
  nulls: Uint8Array | null; // a bit per row, the lowest first
}

const byName = new WeakMap<Table, Map<string, Column>>();

export class Table {
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly Column[];
  readonly notes: readonly Note[];
  address = ""; // of what a server answers, whose whole this is; it gives that in other forms, too

  constructor(name: string, rows: number, columns: readonly Column[], notes: readonly Note[] = []) {
    this.name = name;
    this.rows = rows;
    this.columns = columns;
    this.notes = notes;
    byName.set(this, new Map(columns.map((column) => [column.name, column])));
  }

  has(name: string): boolean {
    return byName.get(this)!.has(name);
  }

  // Throws where there is none: a mistake of the page's.
  column(name: string): Column {
    const column = byName.get(this)!.get(name);
    if (column === undefined) throw new Error(`the table ${this.name} has no column ${name}`);
    return column;
  }

  private find(column: Column | string): Column {
    return typeof column === "string" ? this.column(column) : column;
  }

  isNull(column: Column | string, row: number): boolean {
    const { nulls } = this.find(column);
    return nulls !== null && (nulls[row >> 3]! & (1 << (row & 7))) !== 0;
  }

  // Relative to the column's base; NaN where it is null. A text's place in words.
  number(column: Column | string, row: number): number {
    const found = this.find(column);
    return this.isNull(found, row) ? Number.NaN : Number(found.values[row]!);
  }

  // With its base: exact up to 2^53.
  absolute(column: Column | string, row: number): number {
    const found = this.find(column);
    return this.number(found, row) + Number(found.base);
  }

  text(column: Column | string, row: number): string {
    const found = this.find(column);
    return this.isNull(found, row) ? "" : found.words[Number(found.values[row]!)]!;
  }

  // As JSON prints it, without quotes: every digit. Empty where it is null, or a number that is none.
  exact(column: Column | string, row: number): string {
    const found = this.find(column);
    if (this.isNull(found, row)) return "";
    switch (found.type) {
      case "text":
        return this.text(found, row);
      case "flag":
        return found.values[row] ? "true" : "false";
      case "real": {
        const value = found.values[row] as number;
        return Number.isFinite(value) ? String(value) : "";
      }
      case "integer":
        return (found.base + BigInt(found.values[row]!)).toString();
    }
  }

  // The rows in which a column has this text.
  rowsWhere(name: string, text: string): number[] {
    const column = this.column(name);
    const rows: number[] = [];
    for (let row = 0; row < this.rows; ++row) if (this.exact(column, row) === text) rows.push(row);
    return rows;
  }
}

export interface Document {
  tables: Table[];
  notes: Note[];
  members: Record<string, unknown>;
}

// With what is noted of all of them: files that could not be read are no table's own.
export function tableOf(document: Document, name: string): Table {
  const table = document.tables.find((each) => each.name === name);
  if (table === undefined) throw new Error(`the answer has no table ${name}`);
  if (document.notes.length === 0) return table;
  return new Table(table.name, table.rows, table.columns, [...document.notes, ...table.notes]);
}
