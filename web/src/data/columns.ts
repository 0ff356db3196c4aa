// The reader of x-spotter-columns; src/render/columns_binary.h says what it is.
import { Table, type Column, type Document, type Note, type Numbers } from "./table.ts";

export const COLUMNS_TYPE = "application/x-spotter-columns";

interface ColumnHeader {
  name: string;
  type: Column["type"];
  unit: Column["unit"];
  role: Column["role"];
  help: string;
  whole?: boolean;
  nulls?: boolean;
  coding: "plain" | "delta" | "after" | "dictionary" | "real" | "reals";
  of?: string;
  width?: number;
  base?: string;
  words?: string[];
  count?: number;
}

interface Header {
  tables: { name: string; rows: number; notes: Note[]; columns: ColumnHeader[] }[];
  notes: Note[];
  [member: string]: unknown;
}

// Throws an Error with a sentence where the bytes are cut or of another version.
export function readColumns(bytes: Uint8Array): Document {
  if (bytes.length < 8) throw new Error("the data are cut off");
  if (String.fromCharCode(...bytes.subarray(0, 4)) !== "SPT1")
    throw new Error("the data are of another version of the program than this page; reload it");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  if (bytes.length < 8 + length) throw new Error("the data are cut off");
  const { tables, notes, ...members } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length))) as Header;
  const reader = new PlaneReader(bytes, 8 + length);
  return {
    tables: tables.map((table) => {
      const columns = table.columns.map((column) => readColumn(reader, column, table.rows));
      table.columns.forEach((header, at) => {
        if (header.coding === "after") addLengths(columns[at]!, columns[table.columns.findIndex((c) => c.name === header.of)]!);
      });
      return new Table(table.name, table.rows, columns, table.notes);
    }),
    notes,
    members,
  };
}

class PlaneReader {
  private readonly bytes: Uint8Array;
  private at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  take(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) throw new Error("the data are cut off");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

function readColumn(reader: PlaneReader, header: ColumnHeader, rows: number): Column {
  const column: Column = {
    name: header.name,
    type: header.type,
    unit: header.unit,
    role: header.role,
    help: header.help,
    whole: header.whole === true,
    values: new Uint8Array(0),
    base: BigInt(header.base ?? 0),
    words: header.words ?? [],
    nulls: header.nulls ? reader.take(Math.ceil(rows / 8)) : null,
  };
  const width = header.width ?? 8;
  switch (header.coding) {
    case "plain":
    case "after":
      column.values = signed(reader.take(width * rows), rows, width);
      break;
    case "delta": {
      const sums = summed(reader.take(width * rows), rows, width, column.base);
      column.values = sums.values;
      column.base = sums.base;
      break;
    }
    case "dictionary":
      column.values = unsigned(reader.take(width * rows), rows, width);
      break;
    case "real":
      column.values = doubles(reader.take(8 * rows), rows);
      break;
    case "reals": {
      const count = header.count ?? 0;
      const distinct = reader.take(8 * count);
      const numbers = new DataView(distinct.buffer, distinct.byteOffset);
      const places = unsigned(reader.take(width * rows), rows, width);
      const values = new Float64Array(rows);
      for (let row = 0; row < rows; ++row) values[row] = numbers.getFloat64(8 * places[row]!, true);
      column.values = values;
      break;
    }
    default:
      throw new Error("the data are of another version of the program than this page; reload it");
  }
  return column;
}

// Of numbers that are relative to the end of the row before: relative to base.
function addLengths(starts: Column, lengths: Column): void {
  const gaps = starts.values;
  const rows = gaps.length;
  if (!(gaps instanceof BigInt64Array) && !(lengths.values instanceof BigInt64Array)) {
    const values = new Float64Array(rows);
    const base = Number(lengths.base);
    let end = 0;
    let most = 0;
    for (let row = 0; row < rows; ++row) {
      const start = end + gaps[row]!;
      values[row] = start;
      end = start + base + lengths.values[row]!;
      most = Math.max(most, Math.abs(start), Math.abs(end));
    }
    if (most <= Number.MAX_SAFE_INTEGER) {
      starts.values = values;
      return;
    }
  }
  const values = new BigInt64Array(rows);
  let end = starts.base;
  for (let row = 0; row < rows; ++row) {
    values[row] = BigInt.asIntN(64, end + BigInt(gaps[row]!));
    end = values[row]! + lengths.base + BigInt(lengths.values[row]!);
  }
  starts.values = values;
  starts.base = 0n;
}

function unsigned(planes: Uint8Array, rows: number, width: number): Uint8Array | Uint16Array | Uint32Array {
  if (width === 1) return planes;
  const values = width === 0 ? new Uint8Array(rows) : width === 2 ? new Uint16Array(rows) : new Uint32Array(rows);
  for (let byte = 0; byte < width; ++byte) {
    const plane = planes.subarray(byte * rows, (byte + 1) * rows);
    for (let row = 0; row < rows; ++row) values[row]! |= plane[row]! << (8 * byte);
  }
  return values;
}

// Up to 6 bytes are exact as doubles; of more it depends on the numbers.
function signed(planes: Uint8Array, rows: number, width: number): Numbers | BigInt64Array {
  if (width <= 4) {
    const values = width === 0 ? new Int8Array(rows) : width === 1 ? new Int8Array(rows) : width === 2 ? new Int16Array(rows) : new Int32Array(rows);
    for (let byte = 0; byte < width; ++byte) {
      const plane = planes.subarray(byte * rows, (byte + 1) * rows);
      if (byte === width - 1)
        for (let row = 0; row < rows; ++row) values[row]! |= ((plane[row]! << 24) >> 24) << (8 * byte);
      else for (let row = 0; row < rows; ++row) values[row]! |= plane[row]! << (8 * byte);
    }
    return values;
  }
  if (width > 6) {
    const whole = bigNumbers(planes, rows, width);
    return isSafe(whole) ? Float64Array.from(whole, Number) : whole;
  }
  const values = new Float64Array(rows);
  let scale = 1;
  for (let byte = 0; byte < width; ++byte, scale *= 256) {
    const plane = planes.subarray(byte * rows, (byte + 1) * rows);
    if (byte === width - 1) for (let row = 0; row < rows; ++row) values[row]! += ((plane[row]! << 24) >> 24) * scale;
    else for (let row = 0; row < rows; ++row) values[row]! += plane[row]! * scale;
  }
  return values;
}

function bigNumbers(planes: Uint8Array, rows: number, width: number): BigInt64Array {
  const values = new BigInt64Array(rows);
  for (let row = 0; row < rows; ++row) {
    let value = 0n;
    for (let byte = width - 1; byte >= 0; --byte) value = (value << 8n) | BigInt(planes[byte * rows + row]!);
    values[row] = BigInt.asIntN(8 * width, value);
  }
  return values;
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const isSafe = (values: BigInt64Array) => values.every((value) => value <= SAFE && value >= -SAFE);

// Sums of differences, relative to base. The first difference is counted from base, and so small; but sums may leave
// what doubles hold exactly, or wrap around: then they are whole numbers of 64 bits, relative to nothing.
function summed(planes: Uint8Array, rows: number, width: number, base: bigint): { values: Numbers | BigInt64Array; base: bigint } {
  const differences = signed(planes, rows, width);
  if (!(differences instanceof BigInt64Array)) {
    const values = new Float64Array(rows);
    let sum = 0;
    let most = 0;
    for (let row = 0; row < rows; ++row) {
      values[row] = sum += differences[row]!;
      if (sum > most) most = sum;
      else if (-sum > most) most = -sum;
    }
    if (most <= Number.MAX_SAFE_INTEGER) return { values, base };
  }
  const values = new BigInt64Array(rows);
  let sum = base;
  for (let row = 0; row < rows; ++row) values[row] = sum = BigInt.asIntN(64, sum + BigInt(differences[row]!));
  return { values, base: 0n };
}

function doubles(planes: Uint8Array, rows: number): Float64Array {
  const bytes = new Uint8Array(8 * rows);
  for (let byte = 0; byte < 8; ++byte)
    for (let row = 0; row < rows; ++row) bytes[8 * row + byte] = planes[byte * rows + row]!;
  return new Float64Array(bytes.buffer);
}
