// What a table gives to other programs, and which of its rows are shown in which order.
import assert from "node:assert/strict";
import { test } from "node:test";
import { numbersColumn, textsColumn } from "../src/data/made_table.ts";
import { Table, type Column } from "../src/data/table.ts";
import { asCsv, asJson, asTsv } from "../src/widgets/export.ts";
import { filteredRows, sortedRows } from "../src/widgets/order.ts";
import { tableOfRows } from "./timeline_tables.ts";

const look = { help: "" };
const all = (table: Table) => Uint32Array.from({ length: table.rows }, (_, row) => row);
const textsIn = (...texts: string[]) => new Table("t", texts.length, [textsColumn("text", texts, look)]);

// Nothing but cells, quotes and ends of lines, as RFC 4180 has them.
function cellsOfCsv(text: string): string[][] {
  const lines: string[][] = [[]];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/gy;
  for (let found = cell.exec(text); found !== null; found = cell.exec(text)) {
    lines.at(-1)!.push(found[1]?.replaceAll('""', '"') ?? found[2]!);
    if (found[3] === "\n") lines.push([]);
  }
  assert.deepEqual(lines.pop(), [], "each line has its end");
  return lines;
}

const beyondDoubles: Column = { ...numbersColumn("big", [0, 0], look), values: BigInt64Array.from([9223372036854775807n, -9223372036854775808n]) };
const position: Column = { ...numbersColumn("start_ns", [1, 2], { help: "", unit: "ns", role: "time" }), base: 1792066626000011000n };

test("whole numbers keep all their digits, and what is not known is empty or null", () => {
  const flag = numbersColumn("flag", [1, 0], { help: "", type: "flag" });
  const real = numbersColumn("real", [0.1, Number.NaN], { help: "", type: "real" });
  const endless: Column = { ...real, name: "endless", values: Float64Array.of(Infinity, -0.5), nulls: null };
  const table = new Table("t", 2, [beyondDoubles, position, flag, real, endless, textsColumn("text", ["", "a"], look)]);
  const first = ["9223372036854775807", "1792066626000011001", "true", "0.1", "", ""];
  const second = ["-9223372036854775808", "1792066626000011002", "false", "", "-0.5", "a"];
  const names = table.columns.map((column) => column.name);
  assert.equal(asTsv(table, table.columns, all(table)), [names, first, second].map((line) => `${line.join("\t")}\n`).join(""));
  assert.deepEqual(cellsOfCsv(asCsv(table, table.columns, all(table))), [names, first, second]);
  const json = asJson(table, table.columns, all(table));
  assert.ok(json.includes("[9223372036854775807,1792066626000011001,true,0.1,null,null],\n[-9223372036854775808,1792066626000011002,false,null,-0.5,\"a\"]]"));
  const { tables: [one], notes } = JSON.parse(json);
  assert.deepEqual([one.name, one.columns[1], notes], ["t", { name: "start_ns", type: "integer", unit: "ns", role: "time", help: "" }, []]);
});

test("quotes, commas, tabs and ends of lines stay in their cell", () => {
  const texts = ['say "a, b"', "a\tb", "a\nb", "a\r\nb", "\\", "é\u2028😀"];
  const table = textsIn(...texts);
  assert.deepEqual(cellsOfCsv(asCsv(table, table.columns, all(table))).slice(1), texts.map((text) => [text]));
  assert.equal(asTsv(table, table.columns, all(table)), 'text\nsay "a, b"\na b\na b\na b\n\\\né\u2028😀\n');
  assert.deepEqual(JSON.parse(asJson(table, table.columns, all(table))).tables[0].rows, texts.map((text) => [text]));
});

test("no text is a formula, of whatever sign it begins with; numbers below zero stay numbers", () => {
  for (const sign of ["=", "+", "-", "@", "\t", "\r", "\n"]) {
    const table = new Table("t", 1, [textsColumn("text", [`${sign}1+1`], look), numbersColumn("number", [-1], look)]);
    const [, [text, number]] = cellsOfCsv(asCsv(table, table.columns, [0])) as [string[], string[]];
    assert.deepEqual([text, number], [`'${sign}1+1`, "-1"]);
    assert.ok(asTsv(table, table.columns, [0]).split("\n")[1]!.startsWith("'"), sign);
    assert.deepEqual(JSON.parse(asJson(table, table.columns, [0])).tables[0].rows, [[`${sign}1+1`, -1]], "programs get what was recorded");
  }
  const quoted = textsIn('"=HYPERLINK(""x"")"');
  assert.equal(asTsv(quoted, quoted.columns, [0]), `text\n'"=HYPERLINK(""x"")"\n`, "what is pasted would lose its quotes");
  assert.deepEqual(cellsOfCsv(asCsv(quoted, quoted.columns, [0]))[1], ['"=HYPERLINK(""x"")"'], "in a file they are part of the text");
});

test("only the columns and rows that are shown are given, in their order", () => {
  const table = tableOfRows("t", ["a", "b"], [["x", 1], ["y", 2], ["z", 3]]);
  const columns = [table.column("b")];
  assert.equal(asTsv(table, columns, [2, 0]), "b\n3\n1\n");
  assert.equal(asCsv(table, columns, []), "b\n");
  assert.deepEqual(JSON.parse(asJson(table, columns, [])).tables[0].rows, []);
});

test("rows are in order by their values; equal ones stay as they are, and what is not known is last", () => {
  const table = tableOfRows("t", ["name", "ns"], [["b", 2], ["a", null], ["c", 10], ["a", 2], [null, 1]]);
  const order = (sort: string) => [...sortedRows(table, all(table), sort)];
  assert.deepEqual(order("ns"), [4, 0, 3, 2, 1]);
  assert.deepEqual(order("-ns"), [2, 0, 3, 4, 1]);
  assert.deepEqual(order("name"), [1, 3, 0, 2, 4]);
  assert.deepEqual(order("-name"), [2, 0, 1, 3, 4]);
  assert.deepEqual([order(""), order("none"), [...sortedRows(table, Uint32Array.of(2, 0), "ns")]], [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 2]]);
  const big = new Table("t", 2, [beyondDoubles]);
  assert.deepEqual([...sortedRows(big, all(big), "big")], [1, 0]);
});

test("each word of a filter is in some text, or in the column that it names", () => {
  const table = new Table("t", 4, [
    numbersColumn("rank", [0, 1, 10, 1], { help: "", role: "key" }), textsColumn("name", ["aten::mm", "Gemm 10", "gemm", ""], look),
    numbersColumn("calls", [1, 1, 1, 1], { help: "", unit: "count" }),
  ]);
  const rows = (filter: string) => [...filteredRows(table, filter)];
  assert.deepEqual(rows(""), [0, 1, 2, 3]);
  assert.deepEqual(rows("GEMM"), [1, 2]);
  assert.deepEqual(rows("10"), [1, 2], "a text that has it, and a rank that is it");
  assert.deepEqual(rows("rank:1"), [1, 3], "not also rank 10");
  assert.deepEqual(rows("  gemm   rank:10 "), [2]);
  assert.deepEqual(rows("name:aten::mm"), [0]);
  assert.deepEqual(rows("aten::mm"), [0], "what names no column is a word");
  assert.deepEqual(rows("calls:1"), [], "amounts are not searched");
});
